/**
 * GET /messages: anchors, ranges, found_* fields and message_ids (public API; behaviour 5.4). narrows.test.ts tests
 * narrows.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, type Params, refusal } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");

/** Ten messages whose ids have gaps, because another user posts elsewhere in between. */
const channelId = await owner.createChannel("history", [owner, member]);
await owner.createChannel("noise", [owner]);
const ids: number[] = [];
for (let index = 0; index < 10; index++) {
  ids.push(await owner.say("history", index < 5 ? "first" : "second", `number ${index}`));
  await owner.say("noise", "t", "x");
}
const id = (index: number): number => ids.at(index) ?? 0;
const narrow = [{ operator: "channel", operand: channelId }];

async function fetch(params: Params, by: Client = owner) {
  const { status, body } = await by.get("/messages", { narrow, num_before: 0, num_after: 0, ...params });
  if (status !== 200) return { status, body };
  const { messages, ...rest } = body;
  return { ...rest, indexes: messages.map((message: { id: number }) => ids.indexOf(message.id)) };
}

const plain = { result: "success", msg: "", history_limited: false };
const newest = 10_000_000_000_000_000;

t.test("[behaviour 5.4] a range surrounds its anchor in ascending order; the anchor is not counted", async (t) => {
  t.strictSame(await fetch({ anchor: id(4), num_before: 2, num_after: 3 }), {
    ...plain,
    anchor: id(4),
    indexes: [2, 3, 4, 5, 6, 7],
    found_anchor: true,
    found_oldest: false,
    found_newest: false,
  });
});

t.test("[behaviour 5.4] counts of zero return the anchor alone, if it exists", async (t) => {
  const nothing = { ...plain, found_oldest: false, found_newest: false };
  t.strictSame(await fetch({ anchor: id(4) }), { ...nothing, anchor: id(4), indexes: [4], found_anchor: true });
  t.strictSame(await fetch({ anchor: id(4) + 1 }), {
    ...nothing,
    anchor: id(4) + 1,
    indexes: [],
    found_anchor: false,
  });
});

t.test("[behaviour 5.4] found_oldest and found_newest say that fewer messages are left than requested", async (t) => {
  const found = async (params: Params) => {
    const answer = await fetch(params);
    return [answer.indexes.length, answer.found_oldest, answer.found_newest];
  };
  t.strictSame(await found({ anchor: id(4), num_before: 4, num_after: 5 }), [10, false, false], "exactly as many");
  t.strictSame(await found({ anchor: id(4), num_before: 5, num_after: 5 }), [10, true, false], "one more before");
  t.strictSame(await found({ anchor: id(4), num_before: 4, num_after: 6 }), [10, false, true], "one more after");
});

t.test("[behaviour 5.4] newest and oldest are anchors by name, quoted or not", async (t) => {
  for (const anchor of ["newest", '"newest"']) {
    t.strictSame(await fetch({ anchor, num_before: 3 }), {
      ...plain,
      anchor: newest,
      indexes: [7, 8, 9],
      found_anchor: false,
      found_oldest: false,
      found_newest: true,
    });
  }
  t.strictSame(await fetch({ anchor: "oldest", num_after: 3 }), {
    ...plain,
    anchor: 0,
    indexes: [0, 1, 2],
    found_anchor: false,
    found_oldest: true,
    found_newest: false,
  });
});

t.test("[behaviour 5.4] first_unread, in both parameters, is the oldest unread match, else the newest", async (t) => {
  const unread = async (params: Params = {}) => {
    const byName = await fetch({ anchor: "first_unread", num_before: 1, num_after: 1, ...params }, member);
    const older = { use_first_unread_anchor: true, num_before: 1, num_after: 1, ...params };
    t.strictSame(await fetch(older, member), byName);
    t.strictSame(
      await fetch({ ...older, anchor: "newest" }, member),
      byName,
      "use_first_unread_anchor takes precedence over an anchor",
    );
    return byName;
  };
  t.match(await unread(), { anchor: id(0), indexes: [0, 1], found_anchor: true, found_oldest: true });
  const second = [...narrow, { operator: "topic", operand: "second" }];
  t.match(await unread({ narrow: second }), { anchor: id(5), indexes: [5, 6] });
  await member.post("/mark_topic_as_read", { stream_id: channelId, topic_name: "first" });
  t.match(await unread(), { anchor: id(5), indexes: [4, 5, 6] });
  t.match(await unread({ narrow: [] }), { found_anchor: true }, "in the feed, too");
  await member.post("/messages/flags", { messages: [id(2)], op: "remove", flag: "read" });
  t.match(await unread(), { anchor: id(2), indexes: [1, 2, 3] }, "marked unread again");
  await member.post("/user_topics", { stream_id: channelId, topic: "first", visibility_policy: 1 });
  t.match(await unread(), { anchor: id(5) }, "muted topics are skipped");
  await member.post("/mark_stream_as_read", { stream_id: channelId });
  t.match(await unread(), { anchor: newest, indexes: [9], found_anchor: false, found_newest: true });
});

t.test("a date anchors at the first match since then", async (t) => {
  const day = (index: number) => Date.UTC(2026, 0, 1 + index, 12);
  const lastId = Math.max(...ids);
  for (let at = 1; at <= lastId + 1; at++) {
    const row = server.realm.view.row("messages", at);
    const index = ids.findIndex((known) => known >= at);
    if (row !== undefined) server.write("messages", at, { ...row, sentAt: day(index < 0 ? 10 : index) });
  }
  const since = async (anchorDate: string, params: Params = {}) => {
    const found = await fetch({ anchor: "date", anchor_date: anchorDate, num_before: 1, num_after: 1, ...params });
    return found;
  };
  t.match(await since("2026-01-05"), { anchor: id(4), indexes: [3, 4, 5], found_anchor: true });
  t.match(await since("2026-01-05T12:00:00Z"), { anchor: id(4) });
  t.match(await since("2026-01-05T12:00:00.001Z"), { anchor: id(5) });
  t.match(await since("2026-01-05T13:00:00+01:00"), { anchor: id(4) });
  t.match(await since("2026-01-05T12:00"), { anchor: id(4) }, "without a zone it is UTC");
  t.match(await since("1999-12-31"), { anchor: id(0), found_oldest: true });
  t.match(await since("2030-01-01"), { anchor: newest, indexes: [9], found_newest: true });
  t.match(await since("2026-01-01", { narrow: [...narrow, { operator: "topic", operand: "second" }] }), {
    anchor: id(5),
  });
  for (const wrong of ["", "soon", "2026", "2026-13-01", "2026-01-05T99:00Z", "05.01.2026"]) {
    t.strictSame(await since(wrong), refusal("Invalid anchor_date"), wrong);
  }
  t.strictSame(
    await fetch({ anchor: "date" }),
    refusal("Missing 'anchor_date' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "anchor_date" }),
  );
});

t.test("[behaviour 5.4] an anchor below zero means zero, one beyond all ids means the newest", async (t) => {
  t.match(await fetch({ anchor: -5, num_after: 1 }), { anchor: 0, indexes: [0], found_oldest: true });
  t.match(await fetch({ anchor: "99999999999999999999", num_before: 1 }), {
    anchor: newest,
    indexes: [9],
    found_newest: true,
  });
});

t.test("[behaviour 5.4] include_anchor=false omits the anchor, but only at an end of the range", async (t) => {
  const excluded = { anchor: id(4), include_anchor: false };
  t.match(await fetch({ ...excluded, num_before: 2 }), { indexes: [2, 3], found_anchor: false });
  t.match(await fetch({ ...excluded, num_after: 2 }), { indexes: [5, 6], found_anchor: false });
  t.strictSame(
    await fetch({ ...excluded, num_before: 1, num_after: 1 }),
    refusal("The anchor can only be excluded at an end of the range"),
  );
});

t.test("[behaviour 5.4] consecutive pages have no gaps and no repetitions", async (t) => {
  const seen: number[] = [];
  let anchor: number | string = "newest";
  let isOldest = false;
  while (!isOldest) {
    const page = await fetch({ anchor, num_before: 3, include_anchor: anchor === "newest" });
    seen.unshift(...page.indexes);
    isOldest = page.found_oldest;
    anchor = id(page.indexes[0] ?? 0);
  }
  t.strictSame(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

t.test("[behaviour 5.4] missing and invalid parameters are rejected", async (t) => {
  const missing = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  const { num_before, num_after } = { num_before: undefined, num_after: undefined };
  t.strictSame(await fetch({ anchor: 1, num_before }), missing("num_before"));
  t.strictSame(await fetch({ anchor: 1, num_after }), missing("num_after"));
  t.strictSame(await fetch({}), refusal("Missing 'anchor' argument."));
  for (const anchor of ["now", "", "1.5", "0x10", "constructor"]) {
    t.strictSame(await fetch({ anchor }), refusal("Invalid anchor"), anchor);
  }
  t.strictSame(await fetch({ anchor: 1, num_before: -1 }), refusal("num_before is too small"));
  t.strictSame(await fetch({ anchor: 1, num_after: '"1"' }), refusal("num_after is not an integer"));
  t.strictSame(await fetch({ anchor: 1, narrow: "{}" }), refusal("narrow is not a list"));
});

t.test("[behaviour 1.8] a fetch returns at most 5,000 messages", async (t) => {
  const max = limits.messages_per_fetch_max;
  const tooMany = refusal("Too many messages requested (maximum 5000).");
  t.equal((await fetch({ anchor: 1, num_before: 2000, num_after: max - 2000 })).result, "success");
  t.strictSame(await fetch({ anchor: 1, num_before: 2000, num_after: max - 1999 }), tooMany);
  t.strictSame(await fetch({ anchor: 1, num_before: max + 1 }), tooMany);
});

t.test("[spec 2.9] rendering, avatars and the empty topic's name follow the request", async (t) => {
  const sent = await owner.say("history", "", "**loud**");
  const one = async (params: Params) => {
    const { body } = await member.get("/messages", { anchor: sent, num_before: 0, num_after: 0, narrow, ...params });
    return body.messages[0];
  };
  t.match(await one({}), {
    content: "<p><strong>loud</strong></p>",
    content_type: "text/html",
    subject: "general chat",
    avatar_url: null,
    flags: [],
  });
  t.match(await one({ apply_markdown: false }), { content: "**loud**", content_type: "text/x-markdown" });
  t.match(await one({ allow_empty_topic_name: true }), { subject: "" });
  t.match(await one({ client_gravatar: false }), {
    avatar_url: /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?/,
  });
  t.strictSame(await one({}), (await member.get(`/messages/${sent}`)).body.message, "the same as by id");
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "" });
});

t.test("message_ids returns those that exist and the caller may read", async (t) => {
  await owner.createChannel("sealed", [owner], { invite_only: true });
  const hidden = await owner.say("sealed", "t", "x");
  const missing = { anchor: undefined, num_before: undefined, num_after: undefined, narrow: undefined };
  const byIds = (more: Params) => fetch({ ...missing, ...more }, member);
  t.strictSame(await byIds({ message_ids: [id(3), hidden, id(1), 999_999, id(3)] }), {
    ...plain,
    indexes: [1, 3],
    found_anchor: false,
    found_oldest: false,
    found_newest: false,
  });
  t.strictSame((await byIds({ message_ids: [] })).indexes, []);
  const topic = [...narrow, { operator: "topic", operand: "second" }];
  t.strictSame((await byIds({ message_ids: [id(3), id(7)], narrow: topic })).indexes, [7], "filtered by the narrow");
});

t.test("message_ids and a range exclude each other", async (t) => {
  for (const [name, value] of [
    ["anchor", "newest"],
    ["include_anchor", false],
    ["num_after", 1],
    ["num_before", 1],
    ["use_first_unread_anchor", true],
  ] as const) {
    const parameters = [name, "message_ids"].sort().join(", ");
    await expects(
      t,
      owner.get("/messages", { message_ids: [id(1)], [name]: value }),
      refusal(`Unsupported parameter combination: ${parameters}`, "BAD_REQUEST", 400, { parameters }),
    );
  }
});

t.test("[spec 5] without credentials no messages are returned", async (t) => {
  t.match(await owner.anonymous().get("/messages", { anchor: "newest", num_before: 1, num_after: 0 }), {
    status: 401,
    body: { code: "UNAUTHORIZED" },
  });
});

t.test("[S3] messages_per_fetch_max: one id more is rejected", async (t) => {
  const socket = new Socket(server.url, { as: owner });
  await socket.opened();
  const ask = (count: number) => {
    // Repetitions of an id count once.
    const message_ids = Array.from({ length: count }, (_, index) => index + 1).concat(1, 1);
    return socket.ask({ type: "call", method: "GET", path: "/messages", params: { message_ids } });
  };
  t.match(await ask(limits.messages_per_fetch_max), { result: "success" });
  t.match(await ask(limits.messages_per_fetch_max + 1), {
    result: "error",
    msg: `Too many messages requested (maximum ${limits.messages_per_fetch_max}).`,
  });
  socket.close();
});

t.test("[S3] fetch_characters_max: very long messages end an answer early, and found_oldest is false", async (t) => {
  const place = await owner.createChannel("long texts", [owner]);
  const longIds: number[] = [];
  for (let count = 0; count < 4; count++) longIds.push(await owner.say(place, "t", "x"));
  for (const longId of longIds) {
    const row = server.realm.lmdb.get("messages", longId);
    // With the raw text, two messages reach the limit exactly.
    if (row !== undefined) {
      server.write("messages", longId, { ...row, rendered: "x".repeat(limits.fetch_characters_max / 2 - 1) });
    }
  }
  const params = {
    narrow: [{ operator: "channel", operand: place }],
    num_before: 0,
    num_after: 0,
    apply_markdown: false,
  };
  const shown = async (more: Params) => {
    const { body } = await owner.get("/messages", { ...params, ...more });
    return [body.messages.map((message: { id: number }) => longIds.indexOf(message.id)), body.found_oldest];
  };
  t.strictSame(await shown({ anchor: "newest", num_before: 5 }), [[2, 3], false]);
  t.strictSame(await shown({ anchor: longIds[2], include_anchor: false, num_before: 5 }), [[0, 1], false]);
  t.strictSame(await shown({ anchor: longIds[1], include_anchor: false, num_before: 5 }), [[0], true], "all there is");
  const named = (message_ids: readonly unknown[]) => owner.get("/messages", { message_ids, apply_markdown: false });
  const found = (await named(longIds.slice(0, 2))).body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(found, longIds.slice(0, 2), "by their ids, exactly at the limit");
  const tooLong = refusal(`Messages too long for one answer (maximum ${limits.fetch_characters_max} characters).`);
  await expects(t, named(longIds.slice(0, 3)), tooLong, "one more: none is returned");
  const matching = (msg_ids: readonly unknown[]) => owner.get("/messages/matches_narrow", { msg_ids, narrow: [] });
  t.strictSame(Object.keys((await matching(longIds.slice(2))).body.messages).length, 2);
  await expects(t, matching(longIds.slice(1)), tooLong);
});
