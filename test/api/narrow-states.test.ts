/**
 * Narrows by the reader's state of a message (behaviour 5.3): read, starred, mentioned, alerted, followed, muted; by
 * reactions, by kinds of channels, and by the conversation that contains a message now. Other operators are in
 * narrows.test.ts.
 */
import t, { type Test as TapTest } from "tap";
import { type Client, expects, refusal } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { owner, anna, bert, guest } = await startServerWithUsers(t, ["anna", "bert", "guest"]);
const redId = await owner.createChannel("red", [owner, anna]);
const blueId = await owner.createChannel("blue", [owner, anna, guest]);
await owner.createChannel("hidden", [owner, anna], { invite_only: true });
await anna.post("/users/me/alert_words", { alert_words: ["alarm"] });

const labels = new Map<number, string>();

async function say(label: string, by: Client, channel: string, topic: string, content = "x"): Promise<number> {
  const id = await by.say(channel, topic, content);
  labels.set(id, label);
  return id;
}

const one = await say("one", owner, "red", "plan");
const two = await say("two", owner, "red", "plan", "sound the alarm");
await say("three", owner, "red", "talk");
await say("four", owner, "blue", "plan");
const five = await say("five", owner, "blue", "talk", "@**all**");
await say("six", owner, "hidden", "plan");
const direct = await owner.post("/messages", { type: "direct", to: [anna.userId], content: "seven" });
labels.set(direct.body.id, "seven");
const everything = [...labels.values()];

type Term = Readonly<Record<string, unknown>>;
const term = (operator: string, operand: unknown, negated = false): Term => ({ operator, operand, negated });

async function fetch(by: Client, narrow: readonly Term[]) {
  return by.get("/messages", { anchor: "newest", num_before: 1000, num_after: 0, narrow });
}

async function found(by: Client, ...narrow: Term[]): Promise<string[]> {
  const { body } = await fetch(by, narrow);
  if (body.result !== "success") throw new Error(JSON.stringify(body));
  return body.messages.flatMap(({ id }: { id: number }) => labels.get(id) ?? []);
}

/** Checks the results of a term and of its negation: together they are all messages, each once. */
async function halves(t: TapTest, operator: string, operand: unknown, expected: readonly string[]): Promise<void> {
  const what = `${operator}:${operand}`;
  t.strictSame(await found(anna, term(operator, operand)), expected, what);
  const rest = everything.filter((label) => !expected.includes(label));
  t.strictSame(await found(anna, term(operator, operand, true)), rest, `not ${what}`);
}

t.test("[behaviour 5.3] is:unread and is:read follow the read state", async (t) => {
  await halves(t, "is", "unread", everything);
  await anna.post("/messages/flags", { messages: [one, direct.body.id], op: "add", flag: "read" });
  await halves(t, "is", "unread", ["two", "three", "four", "five", "six"]);
  await halves(t, "is", "read", ["one", "seven"]);
  await anna.post("/mark_topic_as_read", { stream_id: redId, topic_name: "plan" });
  await halves(t, "is", "unread", ["three", "four", "five", "six"]);
  await anna.post("/messages/flags", { messages: [two], op: "remove", flag: "read" });
  await halves(t, "is", "unread", ["two", "three", "four", "five", "six"]);
  t.strictSame(await found(anna, term("is", "unread"), term("channel", "red")), ["two", "three"]);
  t.strictSame(await found(anna, term("is", "unread"), term("channel", "red"), term("topic", "plan")), ["two"]);
  t.strictSame(await found(anna, term("is", "unread"), term("is", "dm")), []);
  await anna.post("/mark_all_as_read");
  await halves(t, "is", "unread", []);
});

t.test("[behaviour 5.3] is:starred finds messages that the reader starred, historical ones included", async (t) => {
  await halves(t, "is", "starred", []);
  await anna.post("/messages/flags", { messages: [one, five], op: "add", flag: "starred" });
  await halves(t, "is", "starred", ["one", "five"]);
  t.strictSame(await found(anna, term("is", "starred"), term("channel", "red")), ["one"]);
  t.strictSame(await found(owner, term("is", "starred")), [], "stars of others do not count");
  await anna.post("/messages/flags", { messages: [one], op: "remove", flag: "starred" });
  await halves(t, "is", "starred", ["five"]);
});

t.test("[behaviour 5.3] is:mentioned includes wildcards; is:alerted finds messages with an alert word", async (t) => {
  await halves(t, "is", "mentioned", ["five"]);
  await halves(t, "is", "alerted", ["two"]);
  t.strictSame(await found(owner, term("is", "alerted")), []);
});

t.test("[behaviour 5.3] is:followed and is:muted follow the topic policies; in:home omits muted ones", async (t) => {
  const policy = (channelId: number, topic: string, value: number) =>
    anna.post("/user_topics", { stream_id: channelId, topic, visibility_policy: value });
  await halves(t, "is", "followed", []);
  await halves(t, "is", "muted", []);
  await policy(redId, "PLAN", 3);
  await policy(blueId, "talk", 1);
  await halves(t, "is", "followed", ["one", "two"]);
  await halves(t, "is", "muted", ["five"]);
  await anna.post("/users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: redId, property: "is_muted", value: true }],
  });
  await halves(t, "is", "muted", ["three", "five"]);
  await policy(redId, "talk", 2);
  await halves(t, "is", "muted", ["five"]);
  await halves(
    t,
    "in",
    "home",
    everything.filter((label) => label !== "five"),
  );
  t.strictSame(await found(anna, term("in", "all")), everything);
  t.strictSame(await found(bert, term("is", "muted")), []);
});

t.test("[behaviour 5.3] has:reaction finds messages with a reaction", async (t) => {
  await halves(t, "has", "reaction", []);
  await owner.post(`/messages/${one}/reactions`, { emoji_name: "octopus" });
  await halves(t, "has", "reaction", ["one"]);
  await owner.delete(`/messages/${one}/reactions`, { emoji_name: "octopus" });
  await halves(t, "has", "reaction", []);
});

t.test("[behaviour 5.3] channels: finds kinds of channels, with the whole history of public ones", async (t) => {
  await halves(t, "channels", "public", ["one", "two", "three", "four", "five"]);
  await halves(t, "channels", "web-public", []);
  await halves(t, "channels", "archived", []);
  const open = ["one", "two", "three", "four", "five"];
  t.strictSame(await found(bert, term("channels", "public")), open, "received or not");
  t.strictSame(await found(bert, term("streams", "public")), open);
  t.strictSame(await found(bert, term("channels", "public"), term("topic", "talk")), ["three", "five"]);
  t.strictSame(await found(bert, term("channels", "public", true)), []);
  t.strictSame(await found(bert, term("channels", "public"), term("is", "mentioned")), [], "not with is:");
  t.strictSame(await found(guest, term("channels", "public")), ["four", "five"], "guests see what they received");
});

t.test("[behaviour 5.3] sender accepts `me`, and ids may be sent as text", async (t) => {
  await say("own", anna, "blue", "mine");
  t.strictSame(await found(anna, term("sender", "me")), ["own"]);
  t.strictSame(await found(anna, term("sender", String(anna.userId))), ["own"]);
  t.strictSame(await found(owner, term("sender", "me"), term("channel", blueId)), ["four", "five"]);
  everything.push("own");
});

t.test("[behaviour 5.3] with: selects the conversation that contains the message now, if there is one", async (t) => {
  const first = await say("moved 1", owner, "red", "old name");
  await say("moved 2", owner, "red", "old name");
  await owner.patch(`/messages/${first}`, {
    topic: "new name",
    propagate_mode: "change_all",
    send_notification_to_new_thread: false,
  });
  const moved = ["moved 1", "moved 2"];
  t.strictSame(await found(anna, term("channel", "red"), term("topic", "old name")), []);
  t.strictSame(await found(anna, term("channel", "red"), term("topic", "old name"), term("with", first)), moved);
  t.strictSame(await found(anna, term("with", String(first))), moved);
  t.strictSame(await found(anna, term("channel", "blue"), term("topic", "plan"), term("with", first)), moved);
  t.strictSame(await found(anna, term("with", direct.body.id)), ["seven"]);
  t.strictSame(await found(anna, term("with", direct.body.id), term("sender", "me")), []);
  const plan = [term("channel", "red"), term("topic", "plan")];
  t.strictSame(await found(anna, ...plan, term("with", 999_999)), ["one", "two"], "deleted: as if it did not exist");
  t.strictSame(await found(bert, ...plan, term("with", direct.body.id)), ["one", "two"], "hidden: the same (S1)");
});

t.test("[behaviour 5.3] invalid operands are rejected with BAD_NARROW", async (t) => {
  const refused: [readonly Term[], string][] = [
    [[term("channels", "secret")], "unknown channels operand secret"],
    [[term("in", "bed")], "unknown 'in' operand bed"],
    [[term("near", "here")], "Invalid message ID"],
    [[term("with", "me")], "Invalid 'with' operator"],
    [[term("with", one, true)], "Invalid 'with' operator"],
    [[term("with", one), term("with", two)], "Duplicate 'with' operators."],
    [[term("is", "dm"), term("channel", "red")], "No message can be both a channel message and direct message"],
    [[term("channels", "public"), term("dm", [2])], "No message can be both a channel message and direct message"],
    [[term("dm-including", [2])], "unknown user 2"],
  ];
  for (const [narrow, desc] of refused) {
    const expected = refusal(`Invalid narrow operator: ${desc}`, "BAD_NARROW", 400, { desc });
    await expects(t, fetch(anna, narrow), expected, desc);
  }
});
