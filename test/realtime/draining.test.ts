/**
 * Shutdown with more sockets than one batch holds (realtime.md: 1001 server going away; "in batches so that clients do
 * not return in one wave"): every socket is closed with 1001, sockets that do not read delay nobody, and the process
 * exits well before its deadline.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { makeBot } from "../support/bots.ts";
import { startProgram } from "../support/process.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, messageIds, resume } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";
import type { Socket } from "../support/socket.ts";

const goingAway = { code: 1001, reason: "server going away: reconnect and resume" };

/** More than one batch. */
const people = Math.ceil(limits.drain_sockets_per_batch / limits.sockets_per_user_max) + 1;

t.test("[S3] a stop closes every socket with 1001, in batches, and the process exits with 0", async (t) => {
  const dataDir = temporaryFolder(t);
  const { program, owner } = await startProgram(t, dataDir);
  const sockets: Socket[] = [];
  for (let index = 0; index < people; index++) {
    const { bot } = await makeBot(owner, `crowd-${index}`);
    const all = Array.from({ length: limits.sockets_per_user_max }, () => connect(bot));
    sockets.push(...(await Promise.all(all)));
  }
  t.ok(sockets.length > limits.drain_sockets_per_batch, `${sockets.length} sockets`);
  const { socket: reader, queue } = await follow(owner, { event_types: ["message"] });
  // One socket that has not authenticated, and one that does not read.
  const stalled = await RawSocket.of(owner);
  stalled.pause();
  const id = await owner.say("general", "before the stop", "told");
  await reader.event((event) => event.message?.id === id);
  // Requested before the stop, so a response is due.
  const pending = reader.ask({ type: "call", method: "GET", path: "/users/me" });
  t.equal((await pending).result, "success");

  const exited = program.end("SIGTERM");
  const closed = await Promise.all([...sockets, reader].map((socket) => socket.closed));
  const found = closed.filter(({ code, reason }) => code !== goingAway.code || reason !== goingAway.reason);
  t.strictSame(found, [], "each receives its event");
  const { code, signal } = await exited;
  t.strictSame(
    { code, signal },
    { code: 0, signal: null },
    "before the forced end of a stop, which counts as a failure",
  );
  stalled.resume();
  t.strictSame(await stalled.closed, goingAway, "also those that were not reading");

  const again = await startProgram(t, dataDir);
  const missed = await again.owner.say("general", "after the stop", "missed");
  const { socket } = await resume(again.owner, queue, reader.events.at(-1)?.id);
  await socket.event((event) => event.message?.id === missed);
  t.strictSame(messageIds(socket.events), [missed]);
  socket.terminate();
});
