/** Events and notices when messages are moved (S1; public API: update-message; behaviour 4.4). */
import t from "tap";
import { expects } from "../support/client.ts";
import { audit, move, moved, placeMaker, read, say, topicOf } from "../support/message-moves.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest, moderator, administrator } = await startServerWithUsers(t, [
  ...everyRole,
  "other",
]);
const everybody = [owner, member, other, guest, moderator, administrator];
const { place, nameOf } = placeMaker(everybody);

t.test("[behaviour 4.4] the event of a move has all message ids, both names and the propagate mode", async (t) => {
  const id = await place();
  const [a = 0, b = 0] = await say(member, id, "", 2);
  const plain = await other.follow();
  const able = await other.follow({
    client_capabilities: { notification_settings_null: true, empty_topic_name: true },
  });
  await move(member, b, { topic: "https://example.com/x", propagate_mode: "change_all" });
  await plain.settled();
  await able.settled();
  const { last_moved_timestamp: at } = await read(member, b);
  const expected = {
    type: "update_message",
    user_id: member.userId,
    rendering_only: false,
    message_id: b,
    message_ids: [a, b],
    edit_timestamp: at,
    stream_id: id,
    stream_name: nameOf(),
    propagate_mode: "change_all",
    orig_subject: "general chat",
    subject: "https://example.com/x",
    topic_links: [{ text: "https://example.com/x", url: "https://example.com/x" }],
    flags: [],
  };
  t.strictSame(plain.ofType("update_message"), [expected]);
  t.strictSame(able.ofType("update_message"), [{ ...expected, orig_subject: "" }]);
});

t.test("[behaviour 4.4] changing the case of a topic is one event with all its messages", async (t) => {
  const id = await place();
  const ids = await say(member, id, "soup", 3);
  const follower = await other.follow();
  await expects(t, move(owner, ids[0] ?? 0, { topic: "SOUP" }), moved);
  await follower.settled();
  t.match(follower.ofType("update_message"), [{ message_ids: ids, orig_subject: "soup", subject: "SOUP" }]);
});

t.test("[S1] when messages are moved to a private channel, a user who cannot read it receives deletions", async (t) => {
  const open = await place();
  const sealed = await place({ invite_only: true }, [member, other]);
  const [a = 0, b = 0] = await say(member, open, "open", 2);
  const inside = await other.follow();
  const outside = await moderator.follow({
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  const simple = await moderator.follow();
  await expects(t, move(member, a, { stream_id: sealed, topic: "closed", propagate_mode: "change_all" }), moved);
  for (const follower of [inside, outside, simple]) await follower.settled();
  t.match(inside.ofType("update_message"), [
    { message_ids: [a, b], stream_id: open, new_stream_id: sealed, orig_subject: "open", subject: "closed" },
  ]);
  t.strictSame(inside.ofType("delete_message"), []);
  const gone = { type: "delete_message", message_type: "stream", stream_id: open, topic: "open" };
  t.strictSame(outside.ofType("delete_message"), [{ ...gone, message_ids: [a, b] }]);
  t.strictSame(simple.ofType("delete_message"), [
    { ...gone, message_id: a },
    { ...gone, message_id: b },
  ]);
  t.strictSame(outside.ofType("update_message"), []);
  t.match(await moderator.get(`/messages/${a}`), { status: 400 });
  t.notMatch(JSON.stringify(outside.events), /closed/);
});

t.test("[S1] when messages move from a private to a public channel, others learn nothing of the origin", async (t) => {
  const sealed = await place({ invite_only: true }, [member, other]);
  const open = await place();
  const [a = 0] = await say(member, sealed, "secret plan", 1);
  const follower = await moderator.follow();
  await expects(t, move(member, a, { stream_id: open, topic: "plan" }), moved);
  await follower.settled();
  t.strictSame(follower.ofType("update_message"), []);
  t.notMatch(JSON.stringify(follower.events), /secret plan/);
  t.match(await moderator.get(`/messages/${a}`), { status: 200 });
});

t.test("[S1] a notice names no private channel to readers of another channel", async (t) => {
  const open = await place();
  const hidden = await place({ invite_only: true });
  const both = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };
  const by = `by @_**member 0|${member.userId}**.`;
  const last = async (channelId: number, topic: string) => (await topicOf(member, channelId, topic)).at(-1)?.[1];

  const [out = 0] = await say(member, hidden, "out", 2);
  const left = await member.patch(`/messages/${out}`, { ...both, stream_id: open, propagate_mode: "change_all" });
  t.equal(left.status, 200);
  t.equal(await last(open, "out"), `This topic was moved here from another channel ${by}`);
  t.equal(
    await last(hidden, "out"),
    `This topic was moved to #**${nameOf(1)}>out** ${by}`,
    "a public channel is named",
  );

  const [back = 0] = await say(member, open, "back", 2);
  await member.patch(`/messages/${back}`, { ...both, stream_id: hidden, propagate_mode: "change_all" });
  t.equal(await last(open, "back"), `This topic was moved to another channel ${by}`);
  await member.patch(`/messages/${back}`, { ...both, topic: "within", propagate_mode: "change_all" });
  t.equal(
    await last(hidden, "within"),
    `This topic was moved here from #**${nameOf()}>back** ${by}`,
    "its subscribers may see the name",
  );
});

t.test("notices in the new and the old topic have the public server's texts", async (t) => {
  const id = await place();
  const to = await place();
  const [from, target] = [nameOf(1), nameOf()];
  const both = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };
  const by = `by @_**member 0|${member.userId}**.`;
  const last = async (channelId: number, topic: string) => (await topicOf(member, channelId, topic)).at(-1)?.[1];

  const [a = 0] = await say(member, id, "a", 2);
  await member.patch(`/messages/${a}`, { ...both, topic: "b", propagate_mode: "change_all" });
  t.equal(await last(id, "b"), `This topic was moved here from #**${from}>a** ${by}`);
  t.equal(await last(id, "a"), `This topic was moved to #**${from}>b** ${by}`);

  await member.patch(`/messages/${a}`, { ...both, stream_id: to, topic: "c" });
  t.equal(
    await last(to, "c"),
    `[A message](#narrow/channel/${to}-${target.replace(" ", "-")}/topic/c/near/${a}) was moved here from #**${from}>b** ${by}`,
  );
  t.equal(await last(id, "b"), `A message was moved from this topic to #**${target}>c** ${by}`);

  const [d = 0] = await say(member, id, "b", 2);
  await member.patch(`/messages/${d}`, { ...both, stream_id: to, topic: "c", propagate_mode: "change_later" });
  t.match(await last(to, "c"), new RegExp(`^2 messages were moved here from #\\*\\*${from}>b`));
  t.match(await last(id, "b"), /^2 messages were moved from this topic to /);

  const e = await member.say(id, "quiet", "x");
  await member.patch(`/messages/${e}`, { topic: "quiet now" });
  t.match(await last(id, "quiet now"), /^This topic was moved here from /, "by default in the new topic");
  t.equal(await last(id, "quiet"), undefined, "and not in the old one");
  await move(member, e, { topic: "silence" });
  t.equal(await last(id, "silence"), "x", "none if the request disables them");
  audit(t, server);
});
