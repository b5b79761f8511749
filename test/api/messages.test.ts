/**
 * Channel messages: POST /messages and GET /messages/{id} (spec 2.9, 4.10, 8, D8, D35; behaviour 5.1, 1.8).
 * messages-permissions.test.ts tests permissions, messages-direct.test.ts direct messages.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");
const generalId = 1;

function send(params: Params, by = owner) {
  return by.post("/messages", { type: "channel", to: "general", topic: "lunch", content: "hi", ...params });
}

async function read(id: number, params: Params = {}, by = owner) {
  const { body } = await by.get(`/messages/${id}`, params);
  return body.message;
}

t.test("[spec 2.9] a channel message is returned with its rendered content and every field", async (t) => {
  const { owner } = await startTestServer(t);
  const sent = await owner.post("/messages", { type: "channel", to: "general", topic: "lunch", content: "**hi**" });
  t.match(sent, { status: 200, body: { result: "success", msg: "", id: Number } });
  const { status, body } = await owner.get(`/messages/${sent.body.id}`);
  t.equal(status, 200);
  t.match(body.message, { timestamp: Number, recipient_id: Number });
  t.strictSame(
    { ...body.message, timestamp: 0, recipient_id: 0 },
    {
      id: sent.body.id,
      sender_id: 2,
      content: "<p><strong>hi</strong></p>",
      content_type: "text/html",
      timestamp: 0,
      client: "node",
      is_me_message: false,
      reactions: [],
      submessages: [],
      sender_full_name: "Owner",
      sender_email: "owner@localhost",
      sender_realm_str: "",
      avatar_url: null,
      type: "stream",
      stream_id: 1,
      display_recipient: "general",
      recipient_id: 0,
      subject: "lunch",
      topic_links: [],
      flags: [],
    },
  );
  t.equal(body.raw_content, "**hi**");
});

t.test("a channel is named by name or id, raw or as JSON, alone or in a list", async (t) => {
  await send({});
  const forms = ["general", "GENERAL", '"general"', "1", "[1]", '["General"]', " general "];
  for (const to of forms) {
    for (const type of ["channel", "stream"]) {
      const sent = await send({ to, type });
      t.strictSame(outcome(sent), success({ id: sent.body.id }), to);
      t.match(await read(sent.body.id), { stream_id: generalId, display_recipient: "general" });
    }
  }
});

t.test("[behaviour 1.2] an unknown channel is STREAM_DOES_NOT_EXIST with its name or id", async (t) => {
  await expects(
    t,
    send({ to: "nowhere" }),
    refusal("Channel 'nowhere' does not exist", "STREAM_DOES_NOT_EXIST", 400, { stream: "nowhere" }),
  );
  await expects(
    t,
    send({ to: 999 }),
    refusal("Channel with ID '999' does not exist", "STREAM_DOES_NOT_EXIST", 400, { stream_id: 999 }),
  );
});

t.test("[behaviour 5.1] recipients that cannot be a channel are rejected", async (t) => {
  const wrong: [string, string][] = [
    ["[]", "Expected exactly one channel"],
    ["[1,2]", "Expected exactly one channel"],
    ["{}", "Invalid data type for recipients"],
    ["true", "Invalid data type for recipients"],
    ["", "Channel name can't be empty."],
    ["x".repeat(61), "Channel name too long (limit: 60 characters)."],
    ["a\u0000b", "Invalid character in channel name, at position 2."],
  ];
  for (const [to, msg] of wrong) await expects(t, send({ to }), msg, JSON.stringify(to));
});

t.test("type, to and content are required; type is one of four", async (t) => {
  for (const name of ["type", "to", "content"]) {
    await expects(
      t,
      send({ [name]: undefined }),
      refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name }),
    );
  }
  await expects(t, send({ type: "letter" }), "Invalid type");
  await expects(t, send({ read_by_sender: "yes" }), "read_by_sender is not valid JSON");
  t.equal((await send({ read_by_sender: true })).status, 200);
  t.strictSame((await send({ sent: "now" })).body.ignored_parameters_unsupported, ["sent"]);
});

t.test("[behaviour 1.3] subject is an alias of topic; both at once are rejected", async (t) => {
  const sent = await send({ topic: undefined, subject: "older" });
  t.equal((await read(sent.body.id)).subject, "older");
  await expects(
    t,
    send({ subject: "older" }),
    refusal("Can't decide between 'topic' and 'subject' arguments", "REQUEST_CONFUSING_VAR", 400, {
      var_name1: "topic",
      var_name2: "subject",
    }),
  );
});

t.test("[behaviour 5.1] trailing whitespace of a message is removed, leading whitespace is kept", async (t) => {
  const sent = await send({ content: "  one\n two \t\n\n" });
  t.equal((await read(sent.body.id, { apply_markdown: false })).content, "  one\n two");
});

t.test("[behaviour 5.1] an empty message and one with a NUL are rejected", async (t) => {
  for (const content of ["", "  ", "\n\t\u00a0\u2003"]) {
    await expects(t, send({ content }), "Message must not be empty");
  }
  await expects(t, send({ content: "a\u0000b" }), "Message must not contain null bytes");
});

t.test("[D8, behaviour 1.8] a message has at most 10,000 code points; a longer one is cut with a note", async (t) => {
  const mark = "\n[message truncated]";
  for (const letter of ["m", "🦜"]) {
    const longest = letter.repeat(10_000);
    const whole = await send({ content: longest });
    t.equal((await read(whole.body.id, { apply_markdown: false })).content, longest);
    const cut = await send({ content: `${longest}${letter}` });
    t.equal((await read(cut.body.id, { apply_markdown: false })).content, letter.repeat(10_000 - mark.length) + mark);
  }
  const { body } = await owner.post("/register", { event_types: [], fetch_event_types: ["realm"] });
  t.match(body, { max_message_length: 10_000, max_topic_length: 60 });
});

t.test("[S3] a body of whitespace is read in linear time", async (t) => {
  const sent = await send({ content: `x${" ".repeat(900_000)}x` });
  t.equal((await read(sent.body.id, { apply_markdown: false })).content.length, 10_000);
});

t.test("[D8, behaviour 1.8] a topic has at most 60 code points; a longer one is cut to 57 and dots", async (t) => {
  for (const letter of ["t", "🦜"]) {
    const longest = letter.repeat(60);
    t.equal((await read((await send({ topic: longest })).body.id)).subject, longest);
    t.equal((await read((await send({ topic: `${longest}${letter}` })).body.id)).subject, `${letter.repeat(57)}...`);
  }
  t.equal(
    (await read((await send({ topic: `  ${"t".repeat(60)}  ` })).body.id)).subject,
    "t".repeat(60),
    "trimmed first",
  );
});

t.test("[behaviour 1.8] a topic must be printable", async (t) => {
  for (const [topic, position] of [
    ["a\nb", 2],
    ["🦜🦜\u0007", 3],
    ["\ufdd0", 1],
    ["abc\u{10ffff}", 4],
  ] as const) {
    await expects(t, send({ topic }), `Invalid character in topic, at position ${position}!`);
  }
});

t.test("[M7] topics that differ in case or composition are one conversation, with the first spelling", async (t) => {
  await send({ topic: "Caf\u00e9" });
  const sent = await send({ topic: "CAFE\u0301" });
  t.equal((await read(sent.body.id)).subject, "Caf\u00e9");
});

t.test("[spec 2.9, 4.10] the empty topic can be written in several ways and is read by its display name", async (t) => {
  for (const topic of [undefined, "", "  ", "(no topic)", "general chat", " general chat "]) {
    const { body } = await send({ topic });
    t.equal((await read(body.id)).subject, "general chat", String(topic));
    t.equal((await read(body.id, { allow_empty_topic_name: true })).subject, "", String(topic));
  }
});

t.test("[spec 2.9] the display name of the empty topic is a setting of the organization", async (t) => {
  const other = await startTestServer(t);
  other.setRealm({ empty_topic_display_name: "chatter" });
  const sent = await send({ topic: "chatter" }, other.owner);
  t.equal((await read(sent.body.id, {}, other.owner)).subject, "chatter");
  t.equal((await read(sent.body.id, { allow_empty_topic_name: true }, other.owner)).subject, "");
  const named = await send({ topic: "general chat" }, other.owner);
  t.equal((await read(named.body.id, { allow_empty_topic_name: true }, other.owner)).subject, "general chat");
});

t.test("[spec 2.4] topics_policy: each of four values; inherit uses the organization's policy", async (t) => {
  const other = await startTestServer(t);
  const by = other.owner;
  const field = { empty_topic_display_name: "general chat" };
  const noEmpty = refusal(
    "Sending messages to the general chat is not allowed in this channel.",
    "BAD_REQUEST",
    400,
    field,
  );
  const onlyEmpty = refusal("Only the general chat topic is allowed in this channel.", "BAD_REQUEST", 400, field);
  const rules: [string, string, unknown, unknown][] = [
    ["inherit", "allow_empty_topic", null, null],
    ["inherit", "disable_empty_topic", noEmpty, null],
    ["allow_empty_topic", "disable_empty_topic", null, null],
    ["disable_empty_topic", "allow_empty_topic", noEmpty, null],
    ["empty_topic_only", "disable_empty_topic", null, onlyEmpty],
  ];
  for (const [policy, realmPolicy, withoutTopic, withTopic] of rules) {
    other.setRealm({ topics_policy: realmPolicy });
    const to = await by.createChannel(`${policy} ${realmPolicy}`, [by], { topics_policy: policy });
    for (const [topic, expected] of [
      [undefined, withoutTopic],
      ["general chat", withoutTopic],
      ["named", withTopic],
    ]) {
      const answer = outcome(await send({ to, topic }, by));
      const what = `${policy}, realm ${realmPolicy}, topic ${topic}`;
      if (expected === null) t.equal(answer.status, 200, what);
      else t.strictSame(answer, expected, what);
    }
  }
});

t.test("[spec 4.10] apply_markdown=false returns the raw text in content; raw_content always has it", async (t) => {
  const { id } = (await send({ content: "*one* & <two>" })).body;
  const raw = await owner.get(`/messages/${id}`, { apply_markdown: false });
  t.match(raw.body, {
    raw_content: "*one* & <two>",
    message: { content: "*one* & <two>", content_type: "text/x-markdown" },
  });
  const rendered = await owner.get(`/messages/${id}`, { apply_markdown: true });
  t.match(rendered.body, {
    raw_content: "*one* & <two>",
    message: { content: "<p><em>one</em> &amp; &lt;two&gt;</p>", content_type: "text/html" },
  });
  await expects(t, owner.get(`/messages/${id}`, { apply_markdown: "no" }), "apply_markdown is not valid JSON");
});

t.test("[spec 7] a missing message and a hidden one are rejected with Invalid message(s)", async (t) => {
  await owner.createChannel("sealed", [owner], { invite_only: true });
  const hidden = await owner.say("sealed", "t", "secret");
  const direct = (await owner.post("/messages", { type: "direct", to: [owner.userId], content: "mine" })).body.id;
  for (const id of [hidden, direct, 999_999, 0]) {
    await expects(t, member.get(`/messages/${id}`), "Invalid message(s)", String(id));
  }
  for (const id of ["abc", "1.5", "-1"]) t.equal((await member.get(`/messages/${id}`)).status, 404, id);
  t.match(await owner.anonymous().get(`/messages/${hidden}`), { status: 401, body: { code: "UNAUTHORIZED" } });
});

t.test("[behaviour 5.2] own messages from a reading client are read, others' unread; mentions are set", async (t) => {
  const { id } = (await send({ content: `@**member 0** and @**all**`, read_by_sender: true })).body;
  t.strictSame((await read(id)).flags, ["read", "stream_wildcard_mentioned", "wildcard_mentioned"]);
  t.strictSame((await read(id, {}, member)).flags, ["mentioned", "stream_wildcard_mentioned", "wildcard_mentioned"]);
  const latecomer = await server.user("latecomer");
  t.strictSame((await read((await send({})).body.id, {}, latecomer)).flags, []);
  const before = (await read(id, {}, latecomer)).flags;
  t.strictSame(before.slice(0, 2), ["read", "historical"]);
});

t.test("[spec 2.9] a message that begins with /me is a me-message", async (t) => {
  t.match(await read((await send({ content: "/me waves" })).body.id), {
    is_me_message: true,
    content: "<p>/me waves</p>",
  });
  t.equal((await read((await send({ content: "/me waves\n\nand goes" })).body.id)).is_me_message, false);
});

t.test("[D35] client is the product of the User-Agent, website for browsers, else API", async (t) => {
  const agents: [string, string][] = [
    ["zulip-terminal/0.7 (Linux)", "zulip-terminal"],
    ["ZulipPython/0.9.0", "ZulipPython"],
    ["Mozilla/5.0 (X11; Linux)", "website"],
    ["???", "API"],
    ["constructor/1", "constructor"],
    ["a".repeat(limits.client_name_code_points_max + 1), "a".repeat(limits.client_name_code_points_max)],
  ];
  for (const [agent, client] of agents) {
    const sent = await owner.post(
      "/messages",
      { type: "channel", to: "general", content: "x" },
      { "User-Agent": agent },
    );
    t.equal((await read(sent.body.id)).client, client, agent);
  }
});

t.test("[S3] a local_id has a limit in code points", async (t) => {
  const most = limits.local_id_code_points_max;
  t.match(await send({ local_id: "\u{1f600}".repeat(most) }), { status: 200 });
  const refused = await send({ local_id: "x".repeat(most + 1) });
  t.strictSame(outcome(refused), refusal(`local_id is too long (limit: ${most} characters)`));
});

t.test("local_id is in the event of the named queue and in no other", async (t) => {
  const sender = await owner.follow();
  const second = await owner.follow();
  const reader = await member.follow();
  const { id } = (await send({ queue_id: sender.state.queue_id, local_id: "17.01" })).body;
  for (const follower of [sender, second, reader]) {
    await follower.settled();
    const [event] = follower.ofType("message");
    t.equal(event.message.id, id);
    t.notOk("flags" in event.message, "flags are separate from the message");
    t.strictSame(event.flags, []);
    t.equal(event.local_message_id, follower === sender ? "17.01" : undefined);
  }
  const elsewhere = (await send({ queue_id: "no such queue", local_id: "1" })).status;
  t.equal(elsewhere, 200, "a queue that no longer exists causes no error");
});

t.test("[M4] ids follow the order of decisions, however requests arrive", async (t) => {
  const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => owner.say("general", `t${index % 7}`, "x")));
  t.equal(new Set(ids).size, ids.length);
  const last = await owner.say("general", "t", "x");
  t.ok(ids.every((id) => id < last));
});

t.test("[behaviour 2.3] first_message_id of a channel is its oldest one, even of concurrent ones", async (t) => {
  const channelId = await owner.createChannel("rush", [owner]);
  const ids = await Promise.all(Array.from({ length: 30 }, () => owner.say("rush", "t", "x")));
  const { body } = await owner.get("/streams");
  const rush = body.streams.find((stream: { stream_id: number }) => stream.stream_id === channelId);
  t.equal(rush.first_message_id, Math.min(...ids));
});

t.test("[behaviour 5.8] only links into the organization become relative: sent, edited, previewed", async (t) => {
  const content = `[foo](${server.url}/#narrow/channel/1-x) ${server.url}/#narrow/is/dm https://elsewhere.example/#narrow/is/dm`;
  const shown =
    '<p><a href="#narrow/channel/1-x">foo</a> ' +
    `<a href="#narrow/is/dm">${server.url}/#narrow/is/dm</a> ` +
    '<a href="https://elsewhere.example/#narrow/is/dm">https://elsewhere.example/#narrow/is/dm</a></p>';
  t.equal((await owner.post("/messages/render", { content })).body.rendered, shown);
  const id = await owner.say("general", "links", content);
  t.equal((await owner.get(`/messages/${id}`)).body.message.content, shown);
  await owner.patch(`/messages/${id}`, { content: `again ${content}` });
  t.equal((await owner.get(`/messages/${id}`)).body.message.content, shown.replace("<p>", "<p>again "));
});
