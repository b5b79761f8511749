/**
 * The order of a message's history when several changes have the same time: edits, moves and renames within one
 * millisecond (spec 2.9; M7).
 */
import t from "tap";
import { expects, outcome } from "../support/client.ts";
import { MessageMirror, snapshotOf } from "../support/message-mirror.ts";
import { move, moved, read } from "../support/message-moves.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

// Its clock does not advance.
const { server } = await startClockedServer(t);
const { owner } = server;
const anna = await server.user("anna");

/** The change of each entry: the former content, or the channel or topic that the message moved to. */
function steps(message: { edit_history: Record<string, unknown>[] }): unknown[] {
  return message.edit_history.map((entry) => entry["prev_content"] ?? entry["stream"] ?? entry["topic"]);
}

t.test("[spec 2.9] edit_history is newest first, however fast the changes follow each other", async (t) => {
  const from = await owner.createChannel("from", [owner, anna]);
  const to = await owner.createChannel("to", [owner, anna]);
  const id = await owner.say(from, "a", "one");
  const other = await owner.say(from, "a", "stays behind");
  const before = await read(anna, id);
  const follower = await anna.follow();
  const edit = (content: string) => owner.patch(`/messages/${id}`, { content });
  await edit("two");
  await expects(t, move(owner, id, { stream_id: to }), moved);
  await edit("three");
  await expects(t, move(owner, id, { topic: "b", propagate_mode: "change_all" }), moved);
  await edit("four");
  await edit("five");
  await expects(t, move(owner, id, { topic: "c" }), moved);
  const message = await read(anna, id);
  t.equal(new Set(message.edit_history.map((entry: { timestamp: number }) => entry.timestamp)).size, 1, "one time");
  t.strictSame(steps(message), ["c", "four", "three", "b", "two", to, "one"]);
  const { body } = await anna.get(`/messages/${id}/history`);
  const found = body.message_history.map((entry: Record<string, unknown>) => [entry["content"], entry["topic"]]);
  t.strictSame(found, [
    ["one", "a"],
    ["two", "a"],
    ["two", "a"],
    ["three", "a"],
    ["three", "b"],
    ["four", "b"],
    ["five", "b"],
    ["five", "c"],
  ]);
  await follower.settled();
  const mirror = new MessageMirror([before]);
  mirror.apply(follower.events);
  t.strictSame(mirror.snapshot(), snapshotOf([message]), "state before + events");
  t.equal((await read(anna, other)).edit_history, undefined);
});

t.test("[spec 2.9] an edit while the topic is being moved is ordered before the move, like its event", async (t) => {
  const from = await owner.createChannel("busy", [owner, anna]);
  const ids = await Promise.all(Array.from({ length: 450 }, (_, n) => owner.say(from, "long", `number ${n}`)));
  const newest = Math.max(...ids);
  const before = await read(anna, newest);
  const follower = await anna.follow();
  const [answer] = await Promise.all([
    move(owner, Math.min(...ids), { topic: "short", propagate_mode: "change_later", stream_id: 1 }),
    owner.patch(`/messages/${newest}`, { content: "meanwhile" }),
  ]);
  t.strictSame(outcome(answer), moved);
  const message = await read(owner, newest);
  await owner.patch(`/messages/${newest}`, { content: "afterwards" });
  t.equal(message.edit_history.length, 2);
  const mirror = new MessageMirror([before]);
  await follower.settled();
  mirror.apply(follower.events);
  const fresh = await read(anna, newest);
  t.strictSame(mirror.snapshot(), snapshotOf([fresh]), "state before + events");
});
