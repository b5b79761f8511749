/**
 * Delivery of scheduled messages (public API; behaviour 5.1; D79; M3, M8): a due message is posted as its author, by
 * the rules of that moment, or stays as failed. Crashes are tested in test/runtime/scheduled.test.ts.
 */
import t from "tap";
import { type Event, expects, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import {
  followLists,
  freshLists,
  laterS,
  listsByEvents,
  newestOf,
  schedule,
  scheduledOf,
  scheduledStage,
  timersLeft,
} from "../support/scheduled.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("a scheduled message is posted as its author, not before its time, and removed from the list", async (t) => {
  const { owner, member, other, server, in: at, pass } = await scheduledStage(t);
  const channelId = await owner.createChannel("plans", [owner, member, other]);
  const [own, others] = [await followLists(member), await followLists(other)];
  const content = `Soup, @**other 0|${other.userId}**!`;
  const when = at(laterS);
  const params = { type: "channel", to: channelId, topic: "lunch", content, scheduled_delivery_timestamp: when };
  const headers = { "User-Agent": "ZulipMobile/1.0" };
  const { body } = await member.post("/scheduled_messages", params, headers);
  await pass(laterS - 1);
  await other.get("/messages", { anchor: "newest", num_before: 1, num_after: 0 });
  t.equal((await scheduledOf(member)).length, 1, "a second before");
  await pass(1);
  const { message } = await others.until((event: Event) => event.type === "message");
  t.match(message, {
    type: "stream",
    stream_id: channelId,
    subject: "lunch",
    content,
    sender_id: member.userId,
    client: "ZulipMobile",
    timestamp: when,
  });
  const [seen] = await newestOf(other, 1, [{ operator: "channel", operand: channelId }]);
  t.strictSame(seen.flags, ["mentioned"]);
  await own.settled();
  const found = own.events.map(({ type, op }: Event) => `${type} ${op ?? ""}`);
  t.strictSame(found, ["scheduled_messages add", "message ", "scheduled_messages remove"]);
  t.strictSame(own.ofType("scheduled_messages")[1], {
    type: "scheduled_messages",
    op: "remove",
    scheduled_message_id: body.scheduled_message_id,
  });
  t.strictSame(await scheduledOf(member), []);
  t.equal(timersLeft(server), 0);
  const path = `/scheduled_messages/${body.scheduled_message_id}`;
  const missing = refusal("Scheduled message does not exist", "NOT_FOUND", 404);
  await expects(t, member.patch(path, { content: "too late" }), missing);
  await expects(t, member.delete(path), missing);
});

t.test("[D81] read_by_sender decides, otherwise the client does; a message to oneself is unread", async (t) => {
  const { member, other, in: at, pass } = await scheduledStage(t);
  const reading = { "User-Agent": "ZulipMobile/1.0" };
  const script = { "User-Agent": "ZulipPython/1.0" };
  const cases = [
    { to: other.userId, headers: reading, readBySender: undefined, isRead: true },
    { to: other.userId, headers: script, readBySender: undefined, isRead: false },
    { to: other.userId, headers: reading, readBySender: false, isRead: false },
    { to: other.userId, headers: script, readBySender: true, isRead: true },
    { to: member.userId, headers: reading, readBySender: undefined, isRead: false },
    { to: member.userId, headers: script, readBySender: true, isRead: true },
  ];
  for (const [index, { to, headers, readBySender }] of cases.entries()) {
    const params = { type: "direct", to: [to], content: `${index}`, scheduled_delivery_timestamp: at(60 + index) };
    const answer = await member.post("/scheduled_messages", { ...params, read_by_sender: readBySender }, headers);
    t.equal(answer.status, 200);
  }
  await pass(100);
  const messages = await newestOf(member, cases.length);
  const found = messages.map(({ content, flags }) => [content, flags.includes("read")]);
  t.strictSame(
    found,
    cases.map(({ isRead }, index) => [`${index}`, isRead]),
  );
});

t.test("an edit decides text, recipient and time, and the former timer does nothing", async (t) => {
  const { owner, member, other, in: at, pass } = await scheduledStage(t);
  const channelId = await owner.createChannel("plans", [member, other]);
  const when = { scheduled_delivery_timestamp: at(60) };
  const id = await schedule(member, { type: "channel", to: channelId, topic: "a", content: "first", ...when });
  const later = await schedule(member, { type: "channel", to: channelId, topic: "b", content: "later", ...when });
  const moved = { type: "direct", to: [other.userId], content: "second", scheduled_delivery_timestamp: at(120) };
  await expects(t, member.patch(`/scheduled_messages/${id}`, moved), success());
  await member.patch(`/scheduled_messages/${later}`, { scheduled_delivery_timestamp: at(30) });
  await pass(40);
  t.match(await newestOf(other, 1), [{ content: "later", subject: "b" }]);
  await pass(60);
  t.match(await newestOf(other, 1), [{ content: "later" }]);
  await pass(20);
  t.match(await newestOf(other, 1), [{ content: "second", type: "private" }]);
  t.equal((await newestOf(other, 100)).filter(({ sender_id }) => sender_id === member.userId).length, 2);
});

t.test("a message that is no longer allowed is kept as failed, and the bot reports the reason", async (t) => {
  const { owner, member, other, server, in: at, pass } = await scheduledStage(t);
  const channelId = await owner.createChannel("plans", [owner, member]);
  const follower = await followLists(member);
  const when = { scheduled_delivery_timestamp: at(60) };
  const toChannel = await schedule(member, { type: "channel", to: channelId, topic: "t", content: "x", ...when });
  const toOther = await schedule(member, { type: "direct", to: [other.userId], content: "y", ...when });
  const before = await scheduledOf(member);
  await owner.delete(`/streams/${channelId}`);
  await owner.delete(`/users/${other.userId}`);
  await pass(60);
  const failed = before.map((record) => ({ ...record, failed: true }));
  t.strictSame(await scheduledOf(member), failed);
  t.strictSame(await listsByEvents(follower), { scheduled_messages: failed, reminders: [] });
  t.equal(follower.ofType("scheduled_messages").filter(({ op }) => op === "update").length, 2);
  const notices = follower.ofType("message").map(({ message }) => message);
  t.match(notices, [
    { sender_id: 1, type: "private", content: /Not authorized to send to channel 'plans'/ },
    { sender_id: 1, type: "private", content: /is no longer using Colloquy/ },
  ]);
  t.match(notices[0].content, /<time:2026-06-01T12:01:00.000Z>/);
  t.match(
    (await member.get(`/messages/${notices[0].id}`)).body.message.content,
    /<time datetime="2026-06-01T12:01:00Z">/,
  );
  await pass(1000);
  t.equal((await scheduledOf(member)).length, 2, "nothing tries again");
  t.equal(timersLeft(server), 0);

  const path = `/scheduled_messages/${toChannel}`;
  const notInFuture = refusal("Scheduled delivery time must be in the future.");
  await expects(t, member.patch(path, { content: "z" }), notInFuture, "a new time is required");
  await owner.patch(`/streams/${channelId}`, { is_archived: false });
  await expects(t, member.patch(path, { scheduled_delivery_timestamp: at(60) }), success());
  const found = (await scheduledOf(member)).find((one) => one.scheduled_message_id === toChannel);
  t.match(found, { failed: false, scheduled_delivery_timestamp: at(60) });
  await pass(60);
  t.match(await newestOf(member, 1), [{ content: "x", stream_id: channelId, sender_id: member.userId }]);
  await expects(t, member.delete(`/scheduled_messages/${toOther}`), success());
  t.strictSame(await scheduledOf(member), []);
  t.strictSame(await listsByEvents(follower), await freshLists(member));
});

t.test("[S1] a user removed from a private channel cannot post there or learn its new name", async (t) => {
  const { owner, member, in: at, pass } = await scheduledStage(t);
  const channelId = await owner.createChannel("secret", [owner, member], { invite_only: true });
  const when = { scheduled_delivery_timestamp: at(60) };
  await schedule(member, { type: "channel", to: channelId, topic: "t", content: "x", ...when });
  await owner.delete("/users/me/subscriptions", { subscriptions: ["secret"], principals: [member.userId] });
  await owner.patch(`/streams/${channelId}`, { new_name: "more secret" });
  await pass(60);
  t.match(await scheduledOf(member), [{ failed: true }]);
  const [notice] = await newestOf(member, 1);
  t.match(notice.content, `Channel with ID '${channelId}' does not exist`);
  const found = (await newestOf(owner, 100)).filter(({ sender_id }) => sender_id === member.userId);
  t.strictSame(found, []);
});

t.test("a deactivated author's message is not sent, and is marked as failed afterwards", async (t) => {
  const { server, owner, member, other, in: at, pass } = await scheduledStage(t);
  const when = { scheduled_delivery_timestamp: at(60) };
  await schedule(member, { type: "direct", to: [other.userId], content: "x", ...when });
  await schedule(member, {
    type: "direct",
    to: [other.userId],
    content: "in time",
    scheduled_delivery_timestamp: at(600),
  });
  await owner.delete(`/users/${member.userId}`);
  await pass(60);
  await server.reactivate(owner, member);
  t.match(await scheduledOf(member), [
    { content: "x", failed: true },
    { content: "in time", failed: false },
  ]);
  const found = (await newestOf(member, 100)).filter(({ sender_id }) => sender_id === 1);
  t.strictSame(found, [], "the bot sent no message meanwhile");
  await pass(540);
  const received = (await newestOf(other, 100)).filter(({ sender_id }) => sender_id === member.userId);
  t.match(received, [{ content: "in time" }]);
});

t.test("[M8] a message due while the server was down is sent once, late; others at their time", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const member = await first.server.user("member");
  const [to, start] = [[2], Math.floor(first.clock.now() / 1000)];
  for (const [content, seconds] of Object.entries({ due: 60, "not due": 7200 })) {
    await schedule(member, { type: "direct", to, content, scheduled_delivery_timestamp: start + seconds });
  }
  await first.server.stop();
  const again = await startClockedServer(t, { dataDir }, first.clock.now() + 3_600_000);
  const owner = again.server.owner;
  const idle = () => again.server.realm.dispatcher.idle();
  await idle();
  const contents = async () => (await newestOf(owner, 100)).filter((one) => one.sender_id === member.userId);
  t.match(await contents(), [{ content: "due", timestamp: start + 3600 }]);
  again.clock.jump(3_600_000);
  await idle();
  t.match(await contents(), [{ content: "due" }, { content: "not due", timestamp: start + 7200 }]);
  await again.server.stop();
  const last = await startClockedServer(t, { dataDir }, again.clock.now() + 1);
  await last.server.realm.dispatcher.idle();
  t.equal((await newestOf(last.server.owner, 100)).filter((one) => one.sender_id === member.userId).length, 2, "once");
});
