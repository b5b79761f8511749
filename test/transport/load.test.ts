/**
 * Selection of the transport: TRANSPORT, the log line about it, and the fallback where uWebSockets.js has no binary.
 */
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { readConfig } from "../../src/app/config.ts";
import { loadTransport, NoNativeTransport } from "../../src/edge/transport/load.ts";
import { loadNative } from "../../src/edge/transport/native.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

/** The error of the library where it has no binary. */
const missing = "Error: Cannot find module './bin/uws_linux_x64_147.node'";
const noBinary = () => Promise.reject(new Error(`This version supports only some.\n\n${missing}\nRequire stack:\n- x`));
const hasNative = await loadNative().then(
  () => true,
  () => false,
);

t.test("TRANSPORT=auto is uWebSockets.js where its binary loads, and Node elsewhere, with the reason", async (t) => {
  const loaded = await loadTransport("auto");
  t.match(loaded, { transport: { kind: hasNative ? "native" : "node" }, isFallback: !hasNative });
  const fallback = await loadTransport("auto", noBinary);
  t.match(fallback, { transport: { kind: "node" }, isFallback: true });
  t.match(fallback.why, `Node ${process.versions.node}`);
  t.match(fallback.why, "Cannot find module './bin/uws_linux_x64_147.node'");
  t.notMatch(fallback.why, /\n/, "one line");
});

t.test("TRANSPORT=node never loads the binary, TRANSPORT=native always requires it", async (t) => {
  t.match(await loadTransport("node", noBinary), { transport: { kind: "node" }, isFallback: false });
  await t.rejects(loadTransport("native", noBinary), NoNativeTransport);
});

/** The server's log lines about its transport. */
async function logged(
  t: Test,
  environment: Readonly<Record<string, string>>,
): Promise<{ level: number; msg: string }[]> {
  const file = join(temporaryFolder(t), "log");
  const stream = createWriteStream(file);
  const { running, stop } = await startTestServer(t, { environment, log: pino({ level: "info" }, stream) });
  const { transport } = running;
  await stop();
  await new Promise<void>((resolve) => stream.end(resolve));
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const said = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  return said.filter(({ msg }) => msg.startsWith(`transport ${transport}: `));
}

t.test("the server says in one log line which transport it uses and why", async (t) => {
  t.match(await logged(t, { TRANSPORT: "node" }), [{ level: 30, msg: "transport node: TRANSPORT=node" }]);
  const lines = await logged(t, { TRANSPORT: "auto" });
  t.match(lines, [{ level: hasNative ? 30 : 40, msg: `transport ${hasNative ? "native" : "node"}: ` }]);
  t.equal(lines.length, 1);
});

t.test("TRANSPORT is auto, native or node", async (t) => {
  t.equal(readConfig({}).transport, "auto");
  for (const choice of ["auto", "native", "node"]) t.equal(readConfig({ TRANSPORT: choice }).transport, choice);
  t.throws(() => readConfig({ TRANSPORT: "uws" }), {
    name: "BadConfig",
    message: /TRANSPORT="uws".*auto, native, node/,
  });
});
