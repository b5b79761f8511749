/**
 * Topics and channels of messages by PATCH /messages/{id} (spec 2.4, 2.9; public API: update-message; behaviour 4.4, 5.6): renames,
 * resolving, parts of topics, other channels; who may, and what everybody is told. Large topics are in message-moves-large.test.ts.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { auditRealm } from "../support/audit.ts";
import type { Client, Params } from "../support/client.ts";
import {
  channelSeenBy,
  createChannel,
  Follower,
  outcome,
  personOf,
  realmOf,
  refusal,
  setRealmSettings,
  success,
  systemGroup,
  write,
} from "../support/conversation.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await personOf(server, "member");
const other = await personOf(server, "other");
const guest = await personOf(server, "guest", roles.guest);
const moderator = await personOf(server, "moderator", roles.moderator);
const administrator = await personOf(server, "administrator", roles.administrator);
const everybody = [owner, member, other, guest, moderator, administrator];
let channels = 0;

/** A channel of its own for a test. */
function place(more: Params = {}, people: readonly Client[] = everybody): Promise<number> {
  channels++;
  return createChannel(people[0] ?? owner, `place ${channels}`, people, more);
}

const moved = success({ detached_uploads: [] });
const quietly = { send_notification_to_new_thread: false, send_notification_to_old_thread: false };

function move(by: Client, id: number, params: Params) {
  return by.patch(`/messages/${id}`, { ...quietly, ...params });
}

async function read(by: Client, id: number) {
  return (await by.get(`/messages/${id}`)).body.message;
}

/** [id, content] of a topic's messages, ascending. */
async function topicOf(by: Client, channelId: number, topic: string): Promise<[number, string][]> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ];
  const params = { anchor: "newest", num_before: 5000, num_after: 0, narrow, apply_markdown: false };
  const { body } = await by.get("/messages", params);
  return body.messages.map(({ id, content }: { id: number; content: string }) => [id, content]);
}

async function idsOf(by: Client, channelId: number, topic: string): Promise<number[]> {
  return (await topicOf(by, channelId, topic)).map(([id]) => id);
}

async function say(by: Client, channelId: number, topic: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push(await by.say(channelId, topic, `number ${n}`));
  return ids;
}

/** Nothing half done: every index agrees with every row. */
function audit(t: Test): void {
  t.strictSame(auditRealm(realmOf(server).environment), []);
}

t.test(
  "[architecture, Moves] a topic gets another name as a whole: all its messages have it, dated and with history",
  async (t) => {
    const id = await place();
    const ids = await say(member, id, "lunch", 3);
    t.strictSame(outcome(await move(other, ids[1] ?? 0, { topic: "dinner", propagate_mode: "change_all" })), moved);
    t.strictSame(await idsOf(member, id, "dinner"), ids);
    t.strictSame(await idsOf(member, id, "lunch"), []);
    const message = await read(member, ids[0] ?? 0);
    t.match(message, { subject: "dinner", last_moved_timestamp: Number });
    t.notOk("last_edit_timestamp" in message);
    t.strictSame(message.edit_history, [
      { user_id: other.userId, timestamp: message.last_moved_timestamp, prev_topic: "lunch", topic: "dinner" },
    ]);
    const fresh = await member.say(id, "dinner", "later");
    t.notOk("edit_history" in (await read(member, fresh)), "who came later was never called otherwise");
    t.same(await idsOf(member, id, "dinner"), [...ids, fresh]);
    await member.say(id, "lunch", "a new lunch");
    t.equal((await idsOf(member, id, "lunch")).length, 1, "the old name begins anew");
    audit(t);
  },
);

t.test("[openapi update-message] change_one and change_later leave the rest where it is", async (t) => {
  const id = await place();
  const [a = 0, b = 0, c = 0, d = 0] = await say(member, id, "from", 4);
  t.strictSame(outcome(await move(member, b, { topic: "to" })), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[a, c, d], [b]]);
  t.strictSame(outcome(await move(member, c, { topic: "to", propagate_mode: "change_later" })), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[a], [b, c, d]]);
  t.strictSame(outcome(await move(member, a, { topic: "to", propagate_mode: "change_later" })), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[], [a, b, c, d]]);
  t.equal((await read(member, c)).edit_history.length, 1);
  audit(t);
});

t.test(
  "[spec 2.9] the history of a message goes along: names before, the move, names after, nothing of others",
  async (t) => {
    const id = await place();
    const [a = 0] = await say(member, id, "one", 1);
    const [b = 0] = await say(member, id, "target", 1);
    await move(member, b, { topic: "target before", propagate_mode: "change_all" });
    await move(member, a, { topic: "two", propagate_mode: "change_all" });
    await move(member, a, { topic: "target before", propagate_mode: "change_all" });
    await move(member, b, { topic: "target after", propagate_mode: "change_all" });
    await move(member, a, { topic: "alone" });
    const names = async (messageId: number) =>
      (await read(member, messageId)).edit_history.map((entry: Params) => [entry["prev_topic"], entry["topic"]]);
    t.strictSame(await names(a), [
      ["target after", "alone"],
      ["target before", "target after"],
      ["two", "target before"],
      ["one", "two"],
    ]);
    t.strictSame(await names(b), [
      ["target before", "target after"],
      ["target", "target before"],
    ]);
    const { body } = await member.get(`/messages/${a}/history`);
    t.strictSame(
      body.message_history.map((entry: Params) => entry["topic"]),
      ["one", "two", "target before", "target after", "alone"],
    );
  },
);

t.test(
  "[spec 2.9] a resolved topic is where it was: no last_moved_timestamp, but history; the notices of the public API",
  async (t) => {
    const id = await place();
    const [a = 0] = await say(member, id, "question", 1);
    t.strictSame(
      outcome(await member.patch(`/messages/${a}`, { topic: "✔ question", propagate_mode: "change_all" })),
      moved,
    );
    const message = await read(member, a);
    t.match(message, { subject: "✔ question", edit_history: [{ prev_topic: "question", topic: "✔ question" }] });
    t.notOk("last_moved_timestamp" in message);
    const mention = `@_**member 0|${member.userId}**`;
    t.strictSame(
      (await topicOf(member, id, "✔ question")).map(([, content]) => content),
      ["number 0", `${mention} has marked this topic as resolved.`],
    );
    t.equal(
      (await read(member, (await idsOf(member, id, "✔ question"))[1] ?? 0)).sender_id,
      1,
      "by the notification bot",
    );
    const narrow = [
      { operator: "is", operand: "resolved" },
      { operator: "channel", operand: id },
    ];
    const { body } = await member.get("/messages", { anchor: 0, num_before: 0, num_after: 10, narrow });
    t.equal(body.messages.length, 2);
    audit(t);
  },
);

t.test("[behaviour of the public API] who unresolves at once takes the notice away; later there are two", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const id = await owner.say("general", "q", "text");
  const rename = (topic: string) => owner.patch(`/messages/${id}`, { topic, propagate_mode: "change_all" });
  await rename("✔ q");
  clock.advance(limits.resolve_undo_s * 1000);
  await rename("q");
  t.strictSame(
    (await topicOf(owner, 1, "q")).map(([, content]) => content),
    ["text"],
  );
  await rename("✔ q");
  clock.advance(limits.resolve_undo_s * 1000 + 1);
  await rename("q");
  const contents = (await topicOf(owner, 1, "q")).map(([, content]) => content);
  t.strictSame(contents, [
    "text",
    "@_**Owner|2** has marked this topic as resolved.",
    "@_**Owner|2** has marked this topic as unresolved.",
  ]);
});

t.test(
  "[openapi update-message] names of topics: trimmed, cut, printable; the empty topic is never resolved",
  async (t) => {
    const id = await place();
    const [a = 0] = await say(member, id, "names", 1);
    const long = "🍎".repeat(limits.topic_code_points_max);
    for (const [topic, expected] of [
      ["  padded ", "padded"],
      [long, long],
      [`${long}x`, `${"🍎".repeat(limits.topic_code_points_max - 3)}...`],
      [" general chat ", "general chat"],
    ]) {
      t.strictSame(outcome(await move(member, a, { topic })), moved);
      t.equal((await read(member, a)).subject, expected);
    }
    t.strictSame(
      outcome(await move(member, a, { topic: "(no topic)" })),
      refusal("Nothing to change"),
      "is the empty topic",
    );
    t.equal((await member.get(`/messages/${a}`, { allow_empty_topic_name: true })).body.message.subject, "");
    t.match((await member.get(`/messages/${a}`, { allow_empty_topic_name: true })).body.message.edit_history[0], {
      topic: "",
    });
    for (const topic of ["✔", "✔ general chat", " ✔ "]) {
      t.strictSame(outcome(await move(member, a, { topic })), refusal("General chat cannot be marked as resolved"));
    }
    t.strictSame(
      outcome(await move(member, a, { topic: "a\u0007b" })),
      refusal("Invalid character in topic, at position 2!"),
    );
    t.strictSame(
      outcome(await member.patch(`/messages/${a}`, { topic: "x", subject: "y" })),
      refusal("Can't decide between 'topic' and 'subject' arguments", "REQUEST_CONFUSING_VAR", 400, {
        var_name1: "topic",
        var_name2: "subject",
      }),
    );
  },
);

t.test("[our decision] another spelling of a topic's name is the whole topic's", async (t) => {
  const id = await place();
  const ids = await say(member, id, "Lunch", 2);
  t.strictSame(outcome(await move(member, ids[0] ?? 0, { topic: "LUNCH" })), moved);
  for (const messageId of ids) t.equal((await read(member, messageId)).subject, "LUNCH");
  t.strictSame(await idsOf(member, id, "lunch"), ids);
  audit(t);
});

t.test("[spec 2.4] topics_policy holds for what is moved", async (t) => {
  const named = await place({ topics_policy: "disable_empty_topic" });
  const empty = await place({ topics_policy: "empty_topic_only" });
  const [a = 0] = await say(member, named, "t", 1);
  t.match(await move(member, a, { topic: "" }), {
    status: 400,
    body: { msg: "Sending messages to the general chat is not allowed in this channel." },
  });
  t.match(await move(member, a, { stream_id: empty }), {
    status: 400,
    body: { msg: "Only the general chat topic is allowed in this channel." },
  });
  t.strictSame(outcome(await move(member, a, { stream_id: empty, topic: "" })), moved);
  t.strictSame(outcome(await move(member, a, { stream_id: named, topic: "t" })), moved);
});

t.test("[architecture, Moves] to another channel: messages, indexes and first messages follow", async (t) => {
  const from = await place();
  const to = await place();
  const ids = await say(member, from, "travel", 3);
  const rest = await member.say(from, "stay", "x");
  t.strictSame(outcome(await move(member, ids[0] ?? 0, { stream_id: to, propagate_mode: "change_all" })), moved);
  t.strictSame(await idsOf(member, to, "travel"), ids);
  t.strictSame(await idsOf(member, from, "travel"), []);
  const message = await read(member, ids[2] ?? 0);
  t.match(message, { stream_id: to, subject: "travel", last_moved_timestamp: Number });
  t.match(message.edit_history, [{ user_id: member.userId, prev_stream: from, stream: to }]);
  t.notOk("topic" in message.edit_history[0], "the topic did not change");
  t.equal((await channelSeenBy(owner, to)).first_message_id, ids[0]);
  t.equal((await channelSeenBy(owner, from)).first_message_id, rest);
  const onward = await move(member, ids[1] ?? 0, { stream_id: from, topic: "back" });
  t.strictSame(outcome(onward), moved);
  t.match((await read(member, ids[1] ?? 0)).edit_history[0], {
    prev_stream: to,
    stream: from,
    prev_topic: "travel",
    topic: "back",
  });
  audit(t);
});

t.test(
  "[spec 2.9] a change of content and topic in one request is one entry of the history and one event",
  async (t) => {
    const id = await place();
    const [a = 0] = await say(member, id, "both", 1);
    const watcher = await Follower.of(other);
    t.strictSame(outcome(await move(member, a, { topic: "both now", content: "new" })), moved);
    const message = await read(member, a);
    t.match(message.edit_history, [{ prev_content: "number 0", prev_topic: "both", topic: "both now" }]);
    t.equal(message.edit_history.length, 1);
    await watcher.settled();
    const events = watcher.ofType("update_message");
    t.equal(events.length, 1);
    t.match(events[0], { content: "new", orig_content: "number 0", orig_subject: "both", subject: "both now" });
    await say(member, id, "both now", 1);
    t.strictSame(outcome(await move(member, a, { topic: "apart", content: "newer" })), moved, "and out of the topic");
    t.match((await read(member, a)).edit_history[0], { prev_content: "new", prev_topic: "both now", topic: "apart" });
    t.equal((await read(member, a)).edit_history.length, 2);
    audit(t);
  },
);

t.test("[behaviour 4.4] the event of a move names all its messages, both names, and how it was meant", async (t) => {
  const id = await place();
  const [a = 0, b = 0] = await say(member, id, "", 2);
  const plain = await Follower.of(other);
  const able = await Follower.of(other, {
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
    stream_name: `place ${channels}`,
    propagate_mode: "change_all",
    orig_subject: "general chat",
    subject: "https://example.com/x",
    topic_links: [{ text: "https://example.com/x", url: "https://example.com/x" }],
    flags: [],
  };
  t.strictSame(plain.ofType("update_message"), [expected]);
  t.strictSame(able.ofType("update_message"), [{ ...expected, orig_subject: "" }]);
});

t.test("[S1] to a private channel: who may not follow is told that the messages are gone", async (t) => {
  const open = await place();
  const sealed = await place({ invite_only: true }, [member, other]);
  const [a = 0, b = 0] = await say(member, open, "open", 2);
  const inside = await Follower.of(other);
  const outside = await Follower.of(moderator, {
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  const simple = await Follower.of(moderator);
  t.strictSame(
    outcome(await move(member, a, { stream_id: sealed, topic: "closed", propagate_mode: "change_all" })),
    moved,
  );
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

t.test("[S1] from a private channel to a public one: others learn nothing of where it was", async (t) => {
  const sealed = await place({ invite_only: true }, [member, other]);
  const open = await place();
  const [a = 0] = await say(member, sealed, "secret plan", 1);
  const follower = await Follower.of(moderator);
  t.strictSame(outcome(await move(member, a, { stream_id: open, topic: "plan" })), moved);
  await follower.settled();
  t.strictSame(follower.ofType("update_message"), []);
  t.notMatch(JSON.stringify(follower.events), /secret plan/);
  t.match(await moderator.get(`/messages/${a}`), { status: 200 });
});

t.test("[D24] a channel that the mover may not read, that is archived or not there: Invalid channel ID", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "t", 1);
  const sealed = await place({ invite_only: true }, [other]);
  const archived = await place();
  const record = realmOf(server).view.channels.get(archived);
  if (record !== undefined) write(server, "channels", archived, { ...record, isArchived: true });
  for (const by of [member, owner]) {
    for (const target of [999_999, sealed, archived]) {
      t.strictSame(outcome(await move(by, a, { stream_id: target })), refusal("Invalid channel ID"), String(target));
    }
  }
  t.strictSame(await idsOf(member, id, "t"), [a]);
});

t.test(
  "[openapi update-message] notices in the new and in the old place, as the public server words them",
  async (t) => {
    const id = await place();
    const to = await place();
    const [from, target] = [`place ${channels - 1}`, `place ${channels}`];
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
      `[A message](#narrow/channel/${to}-place-${channels}/topic/c/near/${a}) was moved here from #**${from}>b** ${by}`,
    );
    t.equal(await last(id, "b"), `A message was moved from this topic to #**${target}>c** ${by}`);

    const [d = 0] = await say(member, id, "b", 2);
    await member.patch(`/messages/${d}`, { ...both, stream_id: to, topic: "c", propagate_mode: "change_later" });
    t.match(await last(to, "c"), new RegExp(`^2 messages were moved here from #\\*\\*${from}>b`));
    t.match(await last(id, "b"), /^2 messages were moved from this topic to /);

    const e = await member.say(id, "quiet", "x");
    await member.patch(`/messages/${e}`, { topic: "quiet now" });
    t.match(await last(id, "quiet now"), /^This topic was moved here from /, "by default in the new place");
    t.equal(await last(id, "quiet"), undefined, "and not in the old one");
    await move(member, e, { topic: "silence" });
    t.equal(await last(id, "silence"), "x", "and nowhere when it is not wanted");
    audit(t);
  },
);

interface Grant {
  readonly realm?: Readonly<Record<string, string>>;
  readonly channel?: Readonly<Record<string, string>>;
  readonly target?: Readonly<Record<string, string>>;
}

/** Who may do what by which permission; `role:nobody` everywhere else. */
const grants: readonly {
  title: string;
  change: "rename" | "resolve" | "channel";
  grant: Grant;
  may: readonly Client[];
}[] = [
  { title: "nobody is asked", change: "rename", grant: {}, may: [owner, administrator] },
  { title: "nobody is asked", change: "resolve", grant: {}, may: [] },
  { title: "nobody is asked", change: "channel", grant: {}, may: [owner, administrator] },
  {
    title: "the organization's group",
    change: "rename",
    grant: { realm: { can_move_messages_between_topics_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "the organization's group",
    change: "resolve",
    grant: { realm: { can_resolve_topics_group: "role:everyone" } },
    may: [owner, administrator, moderator, member, guest],
  },
  {
    title: "the organization's group",
    change: "channel",
    grant: { realm: { can_move_messages_between_channels_group: "role:moderators" } },
    may: [owner, administrator, moderator],
  },
  {
    title: "the channel's group",
    change: "rename",
    grant: { channel: { can_move_messages_within_channel_group: "role:everyone" } },
    may: [owner, administrator, moderator, member, guest],
  },
  {
    title: "the channel's group",
    change: "resolve",
    grant: { channel: { can_resolve_topics_group: "role:moderators" } },
    may: [owner, administrator, moderator],
  },
  {
    title: "the channel's group",
    change: "channel",
    grant: { channel: { can_move_messages_out_of_channel_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "who administers the channel",
    change: "rename",
    grant: { channel: { can_administer_channel_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "but who may not post there",
    change: "channel",
    grant: {
      realm: { can_move_messages_between_channels_group: "role:members" },
      target: { can_send_message_group: "role:moderators" },
    },
    may: [owner, administrator, moderator],
  },
];

const refusedTexts = {
  rename: "You don't have permission to edit this message",
  resolve: "You don't have permission to resolve topics in this channel.",
  channel: /^(?:You don't have permission to move this message|You do not have permission to post in this channel\.)$/,
};

t.test(
  "[spec 2.4, 3.5] who may rename, resolve and move: role by role, for every permission that says so",
  async (t) => {
    const group = (name: string) => systemGroup(server, name);
    const none = group("role:nobody");
    const asIds = (names: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(Object.entries(names).map(([name, value]) => [name, group(value)]));
    for (const { title, change, grant, may } of grants) {
      const id = await place({ can_administer_channel_group: none, ...asIds(grant.channel) });
      const to = await place({ can_administer_channel_group: none, ...asIds(grant.target) });
      const [a = 0] = await say(owner, id, "topic", 1);
      setRealmSettings(server, {
        can_move_messages_between_topics_group: none,
        can_move_messages_between_channels_group: none,
        can_resolve_topics_group: none,
        ...asIds(grant.realm),
      });
      for (const by of everybody.filter((person) => person !== other)) {
        const { stream_id: where, subject } = await read(owner, a);
        const isHere = where === id;
        const wishes = {
          rename: { topic: subject === "topic" ? "another" : "topic" },
          resolve: { topic: subject.startsWith("✔ ") ? "topic" : "✔ topic", propagate_mode: "change_all" },
          channel: { stream_id: to },
        };
        if (!isHere) await owner.patch(`/messages/${a}`, { ...quietly, stream_id: id });
        const { status, body } = await move(by, a, wishes[change]);
        const name = `${change}, ${title}: user ${by.userId}`;
        if (may.includes(by)) t.equal(status, 200, name);
        else t.match(body, { code: "BAD_REQUEST", msg: refusedTexts[change] }, name);
      }
    }
    setRealmSettings(server, {
      can_move_messages_between_topics_group: undefined,
      can_move_messages_between_channels_group: undefined,
      can_resolve_topics_group: undefined,
    });
  },
);

t.test(
  "[openapi update-message] time limits: of topics, of channels, and for what is left of a whole topic",
  async (t) => {
    const { server, clock } = await startClockedServer(t);
    const { owner } = server;
    const [member, moderator] = [await personOf(server, "m"), await personOf(server, "mod", roles.moderator)];
    const to = await createChannel(owner, "to", [owner, member, moderator]);
    await owner.post("/users/me/subscriptions", {
      subscriptions: [{ name: "general" }],
      principals: [member.userId, moderator.userId],
    });
    const grace = limits.edit_grace_s * 1000;
    setRealmSettings(server, {
      move_messages_within_stream_limit_seconds: 100,
      move_messages_between_streams_limit_seconds: 50,
    });
    const [old = 0] = await say(member, 1, "t", 1);
    clock.advance(50_000 + grace);
    t.equal((await move(member, old, { stream_id: to })).status, 200, "at the bound");
    t.equal((await move(owner, old, { stream_id: 1 })).status, 200);
    clock.advance(1);
    t.strictSame(
      outcome(await move(member, old, { stream_id: to })),
      refusal("The time limit for editing this message's channel has passed"),
    );
    clock.advance(49_999);
    t.equal((await move(member, old, { topic: "t2" })).status, 200, "at the bound");
    t.equal((await move(member, old, { topic: "t" })).status, 200);
    clock.advance(1);
    t.strictSame(
      outcome(await move(member, old, { topic: "t2" })),
      refusal("The time limit for editing this message's topic has passed."),
    );
    t.equal(
      (await move(member, old, { topic: "✔ t", propagate_mode: "change_all" })).status,
      200,
      "resolving has no limit",
    );
    t.equal((await move(moderator, old, { topic: "t", propagate_mode: "change_all" })).status, 200);
    const fresh = await say(member, 1, "t", 2);
    const exceeded = (allowed: number, total: number, firstId: number) =>
      refusal(
        `You only have permission to move the ${allowed}/${total} most recent messages in this topic.`,
        "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        400,
        {
          first_message_id_allowed_to_move: firstId,
          total_messages_allowed_to_move: allowed,
          total_messages_in_topic: total,
        },
      );
    t.strictSame(
      outcome(await move(member, fresh[1] ?? 0, { topic: "t2", propagate_mode: "change_all" })),
      exceeded(2, 3, fresh[0] ?? 0),
    );
    t.equal((await move(member, fresh[0] ?? 0, { topic: "t2", propagate_mode: "change_later" })).status, 200);
    t.strictSame(await idsOf(member, 1, "t2"), fresh);
    t.equal(
      (await move(moderator, old, { topic: "t2", propagate_mode: "change_all" })).status,
      200,
      "moderators at any time",
    );
  },
);

t.test("[D30, openapi update-message] in protected history, what the mover cannot see stays", async (t) => {
  const sealed = await place({ invite_only: true }, [other]);
  const [hidden = 0] = await say(other, sealed, "t", 1);
  await other.post("/users/me/subscriptions", {
    subscriptions: [{ name: `place ${channels}` }],
    principals: [member.userId],
  });
  const seen = await say(other, sealed, "t", 2);
  t.strictSame(outcome(await move(member, seen[0] ?? 0, { topic: "t2", propagate_mode: "change_all" })), moved);
  t.strictSame(await idsOf(other, sealed, "t"), [hidden]);
  t.strictSame(await idsOf(other, sealed, "t2"), seen);
  const watcher = await Follower.of(member);
  t.strictSame(outcome(await move(other, hidden, { topic: "t2" })), moved);
  await watcher.settled();
  t.strictSame(watcher.ofType("update_message"), [], "of messages that one never saw one learns nothing");
  audit(t);
});

t.test("[public API, user_topic] what people think of a topic goes along with all of it", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "followed", 2);
  await other.post("/user_topics", { stream_id: id, topic: "followed", visibility_policy: 3 });
  const policies = async () => {
    const { user_topics: all } = await other.register({ fetch_event_types: ["user_topic"] });
    return (all as Params[]).filter((entry) => entry["stream_id"] === id).map((entry) => entry["topic_name"]);
  };
  await move(member, a, { topic: "part" });
  t.strictSame(await policies(), ["followed"], "a part takes nothing along");
  await move(member, (await idsOf(member, id, "followed"))[0] ?? 0, { topic: "part" });
  t.strictSame(await policies(), ["part"]);
  await move(member, a, { topic: "renamed", propagate_mode: "change_all" });
  t.strictSame(await policies(), ["renamed"]);
});

t.test("[M1, D25] moves are there after a restart; a repeated key moves once", async (t) => {
  const before = await startTestServer(t);
  const to = await createChannel(before.owner, "to", [before.owner]);
  const ids = await say(before.owner, 1, "from", 3);
  const key = { "Idempotency-Key": "move-1" };
  const request = { ...quietly, stream_id: to, propagate_mode: "change_later" };
  t.strictSame(outcome(await before.owner.patch(`/messages/${ids[1]}`, request, key)), moved);
  await move(before.owner, ids[0] ?? 0, { topic: "renamed", propagate_mode: "change_all" });
  const { server, as } = await restart(t, before);
  const again = as(server.owner);
  t.strictSame(outcome(await again.patch(`/messages/${ids[1]}`, request, key)), moved);
  t.strictSame(await idsOf(again, to, "from"), ids.slice(1));
  t.strictSame(await idsOf(again, 1, "renamed"), ids.slice(0, 1));
  t.match((await read(again, ids[2] ?? 0)).edit_history, [{ prev_stream: 1, stream: to }]);
  t.strictSame(auditRealm(realmOf(server).environment), []);
});
