/**
 * Two requests in one turn that mark the same messages as read: each message is announced exactly once (E2; behaviour
 * 5.1, 8).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { editCommand } from "../support/message-changes.ts";
import { startTestServer } from "../support/server.ts";

// On a slow machine a turn would end early, and the two requests would not share one.
const server = await startTestServer(t, { clock: { ...systemClock, monotonic: () => 0 } });
const { owner } = server;
const types = ["message", "update_message_flags"];

for (const [what, isMuteFirst, leaves] of [
  ["muting, then leaving", true, true],
  ["muting, then marking", true, false],
  ["marking, then muting", false, false],
  ["leaving, then muting", false, true],
] as const) {
  t.test(`[E2] messages that two requests of one turn mark as read are announced once: ${what}`, async (t) => {
    const reader = await server.user(what.replaceAll(/\W/g, ""));
    const channel = await owner.createChannel(what, [reader]);
    const ids = await server.flood({ channelId: channel, topic: "t", count: limits.read_rows_inline_max + 5 });
    const follower = await reader.follow({ event_types: types });
    const by = reader.userId;
    const mute = command({ actor: "user", id: by }, "muted-users.add", { userId: owner.userId }, by);
    const mark = command({ actor: "user", id: by }, "read-state.mark-channel", { channelId: channel }, by);
    const leave = command({ actor: "realm" }, "subscriptions.remove", { channelNames: [what], principals: null }, by);
    const other = leaves ? leave : mark;
    const { dispatcher } = server.realm;
    await Promise.all((isMuteFirst ? [mute, other] : [other, mute]).map((request) => dispatcher.ask(request)));
    await follower.until(({ type, messages }) => type === "update_message_flags" && messages.includes(ids.at(-1)));
    await follower.settled();
    const received = follower.ofType("update_message_flags").flatMap(({ messages }) => messages);
    t.strictSame(received, ids);
    const state = await reader.register({ event_types: types, fetch_event_types: types });
    t.strictSame((state["unread_msgs"] as { readonly streams: unknown }).streams, []);
  });
}

t.test("[E2] a message marked as unread, then read by a mark is announced even if its reader leaves", async (t) => {
  const reader = await server.user("hurrying");
  const channel = await owner.createChannel("hurried", [reader]);
  const ids = await server.flood({ channelId: channel, topic: "t", count: limits.read_rows_inline_max + 5 });
  // The first mark is announced in a later turn: as long as that is pending, it would be announced as well.
  const before = await reader.follow({ event_types: types });
  await reader.post("/mark_stream_as_read", { stream_id: channel });
  await before.until(({ type, messages }) => type === "update_message_flags" && messages.includes(ids.at(-1)));
  await reader.post("/messages/flags", { op: "remove", flag: "read", messages: ids });
  const follower = await reader.follow({ event_types: types });
  const by = reader.userId;
  const mark = command({ actor: "user", id: by }, "read-state.mark-channel", { channelId: channel }, by);
  const params = { channelNames: ["hurried"], principals: null };
  const leave = command({ actor: "realm" }, "subscriptions.remove", params, by);
  const { dispatcher } = server.realm;
  await Promise.all([mark, leave].map((request) => dispatcher.ask(request)));
  await follower.until(({ type, messages }) => type === "update_message_flags" && messages.includes(ids.at(-1)));
  await follower.settled();
  const found = follower.ofType("update_message_flags").flatMap(({ messages }) => messages);
  t.strictSame(found, ids);
});

t.test("[E2] a message that became read by leaving is announced, even if it moves in the same turn", async (t) => {
  const reader = await server.user("mover");
  const [from, to] = [await owner.createChannel("from", [reader]), await owner.createChannel("to", [reader])];
  const ids = await server.flood({ channelId: from, topic: "t", count: 5 });
  const follower = await reader.follow({ event_types: types });
  const by = reader.userId;
  const leave = command({ actor: "realm" }, "subscriptions.remove", { channelNames: ["from"], principals: null }, by);
  const move = editCommand(ids[0] ?? 0, { channelId: to, propagateMode: "change_all" }, owner.userId);
  const { dispatcher } = server.realm;
  await Promise.all([leave, move].map((request) => dispatcher.ask(request)));
  await dispatcher.idle();
  await follower.settled();
  const found = follower.ofType("update_message_flags").flatMap(({ messages }) => messages);
  t.strictSame(found, ids);
  const state = await reader.register({ event_types: types, fetch_event_types: types });
  t.strictSame((state["unread_msgs"] as { readonly streams: unknown }).streams, []);
});
