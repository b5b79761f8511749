/**
 * Kills the process under sockets that follow queues, and restarts it on the same folder (E1, E2, M1): both encodings
 * resume where they were, with every acknowledged message once and increasing ids.
 */
import { pack } from "msgpackr";
import t from "tap";
import type { Event } from "../support/client.ts";
import { startProgram } from "../support/process.ts";
import { connect, follow, increases, messageIds, resume } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("[E1, E2] sockets resume after kill -9 and after a stop without a gap or a duplicate", async (t) => {
  const dataDir = temporaryFolder(t);
  const ids: number[] = [];
  const seen: Event[] = [];
  let server = await startProgram(t, dataDir);
  const say = async (content: string) => ids.push(await server.owner.say("general", "killed", content));
  const { socket: first, queue } = await follow(server.owner, { event_types: ["message", "typing"] });
  let socket = first;
  for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
    await say("seen");
    await socket.event((event) => event.message?.id === ids.at(-1));
    // A volatile event takes an id that no restart may reuse.
    await server.owner.post("/typing", { op: "start", to: [server.owner.userId] });
    seen.push(...socket.events);
    await say("not read any more");
    await server.program.end(signal);
    t.equal((await socket.closed).code, signal === "SIGTERM" ? 1001 : 1006);
    server = await startProgram(t, dataDir);
    await say("before the server is back");
    const { socket: again, reply } = await resume(server.owner, queue, seen.at(-1).id);
    t.match(reply, { result: "success", queue_id: queue.queue_id });
    socket = again;
    await say("live");
    await socket.event((event) => event.message?.id === ids.at(-1));
  }
  seen.push(...socket.events);
  t.strictSame(messageIds(seen), ids);
  t.ok(increases(seen));

  const packed = await connect(server.owner, "msgpack");
  t.equal(packed.ws.protocol, "msgpack");
  const frame = { type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id };
  packed.ws.send(pack(frame));
  await packed.event((event) => event.message?.id === ids.at(-1));
  t.strictSame(messageIds(packed.events), ids, "from the first position, in MessagePack");
  packed.terminate();
  socket.terminate();
});
