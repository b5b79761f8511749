/**
 * Apprise, unmodified. Its Zulip plug-in always connects to the domain of the bot's email on port 443. A proxy set in
 * the environment redirects that host to the test server, and `verify=no` (a parameter of every plug-in) accepts its
 * certificate.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { TLSSocket } from "node:tls";
import t from "tap";
import { makeBot } from "../support/bots.ts";
import { certificateObstacle, newCertificate } from "../support/certificate.ts";
import { pythonObstacle, runPython } from "../support/python.ts";
import { messageIds } from "../support/realtime.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";

const skip = pythonObstacle("apprise") ?? certificateObstacle() ?? false;

/** Terminates TLS and forwards every connection to one port, whatever the host. @returns its URL */
async function proxyTo(t: Teardown, port: number): Promise<string> {
  const { keyFile, certFile } = newCertificate(temporaryFolder(t));
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  const proxy = createServer();
  proxy.on("connect", (_request, socket) => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const secure = new TLSSocket(socket, { isServer: true, key, cert });
    const behind = connect(port, "127.0.0.1");
    secure.pipe(behind).pipe(secure);
    secure.on("error", () => behind.destroy());
    behind.on("error", () => secure.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.teardown(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

t.test("Apprise sends to a channel and to a user", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const friend = await server.person("Friend");
  await owner.createChannel("alarms", [owner, friend]);
  const { bot } = await makeBot(owner, "herald");
  const queue = await friend.openQueue(["message"]);
  const target = `zulip://${bot.account?.email}/${bot.account?.key}`;
  const addresses = [`${target}/alarms?verify=no`, `${target}/${friend.account?.email}?verify=no`];
  const notify = ["-c", "from apprise.cli import main; main()", "--title", "disk", "--body", "is *full*", ...addresses];
  const { code, stderr } = await runPython(t, notify, { HTTPS_PROXY: await proxyTo(t, server.running.port) }).exited;
  t.equal(code, 0, stderr);
  const events = await friend.readNow(queue);
  t.equal(messageIds(events).length, 2);
  const received = events
    .map(({ message }) => [message.type, message.sender_id, message.subject, message.content])
    .sort();
  t.strictSame(received, [
    ["private", bot.userId, "", "is *full*"],
    ["stream", bot.userId, "disk", "is *full*"],
  ]);
});
