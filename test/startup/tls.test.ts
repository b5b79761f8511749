/**
 * TLS by configuration: the same server over https and wss, with a real certificate made by openssl (skipped without
 * it).
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { json, text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import t from "tap";
import { WebSocket } from "ws";
import { certificateObstacle, newCertificate } from "../support/certificate.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

t.test(
  "[start-up] with TLS_KEY_FILE and TLS_CERT_FILE the server speaks only https and wss",
  { skip: certificateObstacle() ?? false },
  async (t) => {
    const { keyFile, certFile } = newCertificate(temporaryFolder(t));
    const { url, owner } = await startTestServer(t, {
      environment: { TLS_KEY_FILE: keyFile, TLS_CERT_FILE: certFile },
    });
    t.match(url, /^https:/, "and zuliprc says so");
    const ca = readFileSync(certFile);
    const [response] = await once(get(`${url}/api/v1/server_settings`, { ca, agent: false }), "response");
    t.equal(response.statusCode, 200);
    const settings = (await json(response)) as { realm_url: string };
    t.equal(settings.realm_url, url, "links that it creates start with https");

    const socket = new WebSocket(`${url.replace("https", "wss")}/api/v1/events/ws`, {
      ca,
      headers: { Authorization: owner.authorization },
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "call", method: "GET", path: "/users/me", ref: "me" }));
    const [frame] = await once(socket, "message");
    t.match(JSON.parse(String(frame)), { ref: "me", result: "success", user_id: 2 });
    socket.terminate();

    const plain = connect(Number(new URL(url).port), "127.0.0.1");
    plain.end("GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
    t.notMatch(await text(plain), "HTTP/1.1 200", "plain HTTP is not answered");
  },
);

const name = "chat.example.org";

/** A connection that sends the name, and what the server shows there. */
async function meet(url: string, servername: string) {
  const socket = connectTls({
    host: "127.0.0.1",
    port: Number(new URL(url).port),
    servername,
    rejectUnauthorized: false,
  });
  await once(socket, "secureConnect");
  return {
    fingerprint: socket.getPeerCertificate().fingerprint256,
    async health(): Promise<string> {
      socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      const [bytes] = await once(socket, "data");
      return String(bytes).split("\r\n")[0] ?? "";
    },
    end: () => socket.destroy(),
  };
}

t.test(
  "[operations, Certificates] a renewed certificate is used for new connections, and open ones go on",
  { skip: certificateObstacle() ?? false },
  async (t) => {
    const folder = temporaryFolder(t);
    const { keyFile, certFile } = newCertificate(folder, name, "*.example.net");
    const server = await startTestServer(t, { environment: { TLS_KEY_FILE: keyFile, TLS_CERT_FILE: certFile } });
    const { url, owner, running } = server;
    const listen = async () => {
      const headers = { Authorization: owner.authorization };
      const options = { servername: name, rejectUnauthorized: false, headers };
      const socket = new WebSocket(`${url.replace("https", "wss")}/api/v1/events/ws`, options);
      await once(socket, "open");
      return socket;
    };
    const ask = async (socket: WebSocket) => {
      socket.send(JSON.stringify({ type: "call", method: "GET", path: "/users/me", ref: "me" }));
      return JSON.parse(String((await once(socket, "message"))[0]));
    };
    const open = await meet(url, name);
    const openSocket = await listen();
    t.equal(await open.health(), "HTTP/1.1 200 OK");

    const former: string[] = [open.fingerprint];
    for (const round of ["first", "second"]) {
      newCertificate(folder, name, "*.example.net");
      t.match(running.renewCertificate(), { names: Array }, `the ${round} renewal`);
      for (const sent of [name, "a.example.net"]) {
        const renewed = await meet(url, sent);
        t.notOk(former.includes(renewed.fingerprint), `${sent} gets the new certificate`);
        t.equal(await renewed.health(), "HTTP/1.1 200 OK");
        renewed.end();
        if (sent !== name) former.push(renewed.fingerprint);
      }
      const socket = await listen();
      t.match(await ask(socket), { ref: "me", result: "success" });
      t.match(await ask(openSocket), { ref: "me", result: "success" }, "an open WebSocket goes on");
      t.equal(await open.health(), "HTTP/1.1 200 OK", "an open connection goes on");
      socket.terminate();
    }

    writeFileSync(certFile, "no certificate");
    t.match(running.renewCertificate(), { fault: /^[^\n]+$/ });
    const unchanged = await meet(url, name);
    t.ok(former.includes(unchanged.fingerprint), "files that cannot be used change nothing");
    unchanged.end();
    open.end();
    openSocket.terminate();
    await server.stop();
  },
);
