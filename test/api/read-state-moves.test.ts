/**
 * Read state moves with messages to another channel, for parts of topics and whole topics (architecture, Read state).
 */
import t from "tap";
import { type Client, expects } from "../support/client.ts";
import { move, moved } from "../support/message-moves.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { owner, ada, bob, cyd } = await startServerWithUsers(t, ["ada", "bob", "cyd"]);
let channels = 0;

/** Two channels with these subscribers. */
async function places(from: readonly Client[], to: readonly Client[], more = {}): Promise<[number, number]> {
  channels += 2;
  const former = await owner.createChannel(`from ${channels}`, [owner, ...from]);
  return [former, await owner.createChannel(`to ${channels}`, [owner, ...to], more)];
}

const join = (who: Client, more = {}) =>
  who.post("/users/me/subscriptions", { subscriptions: [{ name: `to ${channels}` }], ...more });
const flag = (who: Client, op: string, name: string, messages: readonly number[]) =>
  who.post("/messages/flags", { op, flag: name, messages });
const flagsOf = async (who: Client, id: number): Promise<string[]> =>
  (await who.get(`/messages/${id}`)).body.message?.flags ?? [];
/** Ids that the state of a fresh client lists as unread. */
// biome-ignore lint/suspicious/noExplicitAny: the state is compared in parts
const stateOf = async (who: Client): Promise<any> => {
  const types = ["message", "update_message_flags"];
  return (await who.register({ event_types: types, fetch_event_types: types }))["unread_msgs"];
};
const unreadIn = async (who: Client, channelId: number): Promise<number[]> =>
  (await stateOf(who)).streams.flatMap((group: { stream_id: number; unread_message_ids: number[] }) =>
    group.stream_id === channelId ? group.unread_message_ids : [],
  );

for (const [how, mode] of [
  ["in part", "change_later"],
  ["as a whole", "change_all"],
] as const) {
  t.test(`a topic moved to another channel ${how} keeps read messages read and unread ones unread`, async (t) => {
    const [from, to] = await places([ada, bob], [ada, bob]);
    const ids: number[] = [];
    for (const content of ["a", "b", "c", "d"]) ids.push(await ada.say(from, "soup", content));
    const [first = 0, second = 0, third = 0, fourth = 0] = ids;
    // Read by a watermark, read by an exception above it, and unread.
    await flag(bob, "add", "read", [first, second]);
    await flag(bob, "add", "read", [fourth]);
    await flag(bob, "remove", "read", [first]);
    const follower = await bob.follow({ event_types: ["message", "update_message_flags"] });
    const named = mode === "change_all" ? third : second;
    await expects(t, move(owner, named, { stream_id: to, propagate_mode: mode }), moved);
    await follower.settled();
    t.strictSame(await unreadIn(bob, to), mode === "change_all" ? [first, third] : [third]);
    t.strictSame(await unreadIn(bob, from), mode === "change_all" ? [] : [first]);
    t.strictSame(await flagsOf(bob, second), ["read"], "read by a watermark");
    t.strictSame(await flagsOf(bob, fourth), ["read"], "read by an exception");
    t.strictSame(follower.ofType("update_message_flags"), [], "no event, because nothing changed");
  });
}

for (const mode of ["change_later", "change_all"] as const) {
  t.test(`one's own messages keep their read state for their sender, ${mode}`, async (t) => {
    const [from, to] = await places([ada, bob], [ada, bob]);
    const send = async (content: string, read_by_sender: boolean): Promise<number> =>
      (await ada.post("/messages", { type: "channel", to: from, topic: "soup", content, read_by_sender })).body.id;
    const kept = [await send("read, stays", true), await send("waits, stays", false)];
    const gone = [await send("read", true), await send("waits", false), await send("waits, is read by hand", false)];
    gone.push(await send("read, is unread by hand", true));
    const [read = 0, waits = 0, byHand = 0, unreadByHand = 0] = gone;
    await flag(ada, "add", "read", [byHand]);
    await flag(ada, "remove", "read", [unreadByHand]);
    const follower = await ada.follow({ event_types: ["message", "update_message_flags"] });
    await expects(t, move(owner, read, { stream_id: to, propagate_mode: mode }), moved);
    await follower.settled();
    const isWhole = mode === "change_all";
    t.strictSame(await unreadIn(ada, to), isWhole ? [kept[1], waits, unreadByHand] : [waits, unreadByHand]);
    t.strictSame(await unreadIn(ada, from), isWhole ? [] : [kept[1]]);
    const flags = await Promise.all([...kept, ...gone].map((id) => flagsOf(ada, id)));
    t.strictSame(flags, [["read"], [], ["read"], [], ["read"], []]);
    t.strictSame(follower.ofType("update_message_flags"), [], "no event, because nothing changed");
    t.strictSame(await unreadIn(bob, to), isWhole ? [...kept, ...gone] : gone, "for others they are ordinary messages");
  });
}

t.test("a move leaves nothing unread for subscribers of the new channel only", async (t) => {
  const [from, to] = await places([ada], [cyd]);
  const ids = [await ada.say(from, "soup", "a"), await ada.say(from, "soup", "b @**cyd 0** @**all**")];
  await expects(t, move(owner, ids[0] ?? 0, { stream_id: to, propagate_mode: "change_all" }), moved);
  t.strictSame(await unreadIn(cyd, to), []);
  for (const id of ids) t.ok((await flagsOf(cyd, id)).includes("read"));
  t.strictSame((await stateOf(cyd)).mentions, []);
});

t.test("[behaviour 8] a move is announced as read to users subscribed to the former channel only", async (t) => {
  const [from, to] = await places([ada, bob], [ada]);
  const first = await ada.say(from, "soup", "a");
  const second = await ada.say(from, "soup", "b");
  await flag(bob, "add", "read", [first]);
  await flag(bob, "remove", "read", [first]);
  const follower = await bob.follow({ event_types: ["message", "update_message_flags"] });
  await expects(t, move(owner, first, { stream_id: to, propagate_mode: "change_all" }), moved);
  await follower.settled();
  t.match(follower.ofType("update_message_flags"), [{ op: "add", flag: "read", messages: [first, second] }]);
  t.equal((await join(bob)).status, 200);
  t.strictSame(await unreadIn(bob, to), [], "it stays read for a user who subscribes to the new channel afterwards");
  t.strictSame(await flagsOf(bob, first), ["read", "historical"]);
});

t.test("[E2] messages moved where a user's history is protected are deleted for them, and read", async (t) => {
  const [from, to] = await places([ada, bob], [ada], { invite_only: true, history_public_to_subscribers: false });
  const ids = [await ada.say(from, "soup", "a"), await ada.say(from, "soup", "b")];
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: `to ${channels}` }],
    principals: [bob.userId],
  });
  // A message marked as unread is treated like one that was never read.
  await flag(bob, "add", "read", [ids[0] ?? 0]);
  await flag(bob, "remove", "read", [ids[0] ?? 0]);
  const types = ["message", "update_message", "delete_message", "update_message_flags"];
  const capabilities = { bulk_message_deletion: true };
  const follower = await bob.follow({ event_types: types, client_capabilities: capabilities });
  const params = { stream_id: to, propagate_mode: "change_all" };
  await expects(t, move(owner, ids[0] ?? 0, params), moved);
  await follower.settled();
  t.match(follower.ofType("delete_message"), [{ stream_id: from, message_ids: ids }]);
  t.strictSame(follower.ofType("update_message"), [], "not in the new channel");
  t.match(follower.ofType("update_message_flags"), [{ op: "add", flag: "read", messages: ids }]);
  t.strictSame([await unreadIn(bob, from), await unreadIn(bob, to)], [[], []]);
  t.strictSame(await unreadIn(ada, to), ids, "for users who received them there they are unchanged");
});

t.test("[spec 2.9] an unread message from before one's subscription has no wildcard mention", async (t) => {
  const [from] = await places([ada], []);
  const id = await ada.say(from, "soup", "@**all**");
  await cyd.post("/users/me/subscriptions", { subscriptions: [{ name: `from ${channels}` }] });
  await flag(cyd, "remove", "read", [id]);
  t.strictSame(await flagsOf(cyd, id), ["historical"]);
  t.strictSame(await unreadIn(cyd, from), [id]);
  t.strictSame((await stateOf(cyd)).mentions, [], "as its flags say");
});

t.test("is:starred and is:unread find messages that a user starred or marked as unread, received or not", async (t) => {
  const [from] = await places([ada], []);
  const id = await ada.say(from, "soup", "before cyd came");
  const find = async (operand: string) => {
    const params = { anchor: "newest", num_before: 10, num_after: 0, narrow: [{ operator: "is", operand }] };
    return (await cyd.get("/messages", params)).body.messages.map((message: { id: number }) => message.id);
  };
  await flag(cyd, "add", "starred", [id]);
  t.ok((await find("starred")).includes(id));
  await cyd.post("/users/me/subscriptions", { subscriptions: [{ name: `from ${channels}` }] });
  await flag(cyd, "remove", "read", [id]);
  t.ok((await find("unread")).includes(id));
});
