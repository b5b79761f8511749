/**
 * Outgoing webhooks (spec 5.4, 6; behaviour 10): which messages trigger a bot, what its receiver gets, and how its
 * reply is posted. webhook-failures.test.ts covers receivers that misbehave.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { makeBot } from "../support/bots.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/realtime.ts";
import {
  answer,
  hang,
  patientClock,
  pendingWebhooks,
  privateAllowed,
  Receiver,
  webhookBot,
} from "../support/receiver.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t, { ...privateAllowed, clock: patientClock });
const { owner } = server;
const anna = await server.user("anna");
const bert = await server.user("bert");

function direct(by: Client, to: readonly Client[], content: string) {
  return by.post("/messages", { type: "direct", to: to.map(({ userId }) => userId), content });
}

/** Resolves when every delivery has been sent and answered. */
async function quiet(): Promise<void> {
  await server.realm.dispatcher.idle();
  await until(() => pendingWebhooks(server).length === 0);
  await server.realm.dispatcher.idle();
}

/** The texts by `sender` as `reader` sees them, newest last. */
async function textsOf(reader: Client, sender: Client): Promise<string[]> {
  const narrow = [["sender", sender.userId].map(String)];
  const { body } = await reader.get("/messages", {
    anchor: "newest",
    num_before: 100,
    num_after: 0,
    narrow,
    apply_markdown: false,
  });
  return body.messages.map((message: { content: string }) => message.content);
}

t.test("[spec 6] a mention sends a payload with the documented fields and the message without flags", async (t) => {
  const far = await Receiver.start(t);
  const { bot, answer: made } = await webhookBot(anna, "payload", far.url);
  const { body: state } = await anna.post("/register", { fetch_event_types: ["realm_bot"] });
  const [{ token }] = state.realm_bots.find((one: { user_id: number }) => one.user_id === bot.userId).services;
  const content = "**hi** @**The payload**, :smile: <b>";
  const id = await bert.say("general", "lunch", content);
  const { headers, path } = await far.call(1);
  const payload = await far.payload(1);
  const { body } = await bot.get(`/messages/${id}`, { apply_markdown: false, allow_empty_topic_name: true });
  const { flags, ...message } = body.message;
  t.ok(Array.isArray(flags));
  const { body: rendered } = await bot.get(`/messages/${id}`);
  t.strictSame(payload, {
    bot_email: made.body.email,
    bot_full_name: "The payload",
    data: content,
    trigger: "mention",
    token,
    message: {
      ...message,
      content,
      rendered_content: rendered.message.content,
      avatar_url: payload.message.avatar_url,
    },
  });
  t.match(payload.message, {
    id,
    type: "stream",
    subject: "lunch",
    display_recipient: "general",
    content_type: "text/x-markdown",
    sender_id: bert.userId,
    avatar_url: /^https:/,
  });
  t.match(token, /^[A-Za-z0-9]{32}$/);
  t.equal(path, "/hook");
  t.match(headers, { "content-type": "application/json", "user-agent": /^ZulipOutgoingWebhook\/\d/ });
  await bert.say("general", "lunch", "@**The payload** again");
  t.equal((await far.payload(2)).token, token, "[spec 5.4] every payload carries the bot's token");
  await quiet();
});

t.test("[spec 6] a direct message to the bot, alone or in a group, has the trigger `direct_message`", async (t) => {
  const far = await Receiver.start(t);
  const { bot } = await webhookBot(anna, "listener", far.url);
  const one = await direct(bert, [bot], "alone");
  t.match(await far.payload(1), { trigger: "direct_message", data: "alone", message: { id: one.body.id } });
  await direct(bert, [bot, anna], "together with @**The listener**");
  const payload = await far.payload(2);
  t.match(payload, { trigger: "direct_message", message: { type: "private", subject: "" } });
  t.equal(payload.message.display_recipient.length, 3);
  await quiet();
  t.equal(far.calls.length, 2, "the mention in it triggers no second request");
});

t.test("[behaviour 10] silent mentions, wildcards, groups, bots and the bot itself trigger nothing", async (t) => {
  const far = await Receiver.start(t, answer({ content: "I heard @**The deaf** and @**The deaf too**" }));
  const { bot } = await webhookBot(anna, "deaf", far.url);
  const { bot: too } = await webhookBot(anna, "deaf too".replace(" ", "-"), far.url, { full_name: "The deaf too" });
  const { bot: generic } = await makeBot(anna, "talker");
  await owner.createChannel("quiet place", [owner, anna, bert, bot, too]);
  const params = { name: "hooks", description: "", members: [bot.userId, anna.userId] };
  t.equal((await owner.post("/user_groups/create", params)).status, 200);
  for (const content of ["@_**The deaf**", "@**all**", "@*hooks*", "`@**The deaf**`", "The deaf"]) {
    await bert.say("quiet place", "t", content);
  }
  await generic.say("general", "t", "@**The deaf**");
  await direct(generic, [bot], "hello");
  await bot.say("general", "t", "@**The deaf** says I");
  await quiet();
  t.equal(far.calls.length, 0);
  await bert.say("quiet place", "t", "@**The deaf**");
  await quiet();
  t.equal(far.calls.length, 1, "its reply mentions itself and another bot, and triggers neither");
  t.equal((await textsOf(bert, bot)).at(-1), "I heard @**The deaf** and @**The deaf too**");
});

t.test("[S1] a mention in a channel that the bot cannot read triggers nothing", async (t) => {
  const far = await Receiver.start(t);
  const { bot } = await webhookBot(anna, "outsider", far.url);
  await bert.createChannel("secret", [bert], { invite_only: true });
  await bert.say("secret", "t", "@**The outsider**");
  await quiet();
  t.equal(far.calls.length, 0);
  await bert.post("/users/me/subscriptions", { subscriptions: [{ name: "secret" }], principals: [bot.userId] });
  await bert.say("secret", "t", "@**The outsider** is in");
  await quiet();
  t.equal(far.calls.length, 1);
});

t.test("[D161] the receiver's reply is posted by the bot in the same conversation", async (t) => {
  const far = await Receiver.start(t, answer({ content: "**soup** " }));
  const { bot } = await webhookBot(anna, "cook", far.url);
  const follower = await bert.follow({ apply_markdown: true });
  const sent = (event: { type: string; message: { sender_id: number } }) =>
    event.type === "message" && event.message.sender_id === bot.userId;
  await bert.say("general", "food", "@**The cook** what is there?");
  const { message } = await follower.until(sent);
  t.match(message, {
    type: "stream",
    subject: "food",
    display_recipient: "general",
    content: "<p><strong>soup</strong></p>",
    client: "OutgoingWebhookResponse",
  });
  await direct(bert, [bot, anna], "and here?");
  const answered = await follower.until((event) => sent(event) && event.message.type === "private");
  t.equal(answered.message.display_recipient.length, 3, "to every participant");
  await quiet();
});

t.test("[D281] the choices in a receiver's answer are the first submessage of the bot's message", async (t) => {
  const far = await Receiver.start(t);
  const { bot } = await webhookBot(anna, "waiter", far.url);
  const choices = (chars: number) => ({
    widget_type: "zform",
    extra_data: {
      type: "choices",
      heading: "x".repeat(chars),
      choices: [{ short_name: "A", long_name: "Soup", reply: "soup, please" }],
    },
  });
  const room = limits.submessage_code_points_max - JSON.stringify(choices(0)).length;
  const accepted: readonly unknown[] = [choices(3), JSON.stringify(choices(3)), choices(room)];
  const refused: readonly unknown[] = [
    choices(room + 1),
    "no JSON",
    7,
    [],
    { widget_type: "poll", extra_data: { question: "?", options: [] } },
    { ...choices(3), extra_data: { ...choices(3).extra_data, choices: [{ short_name: "A" }] } },
  ];
  const submessages = async () => {
    const narrow = [["sender", String(bot.userId)]];
    const { body } = await bert.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow });
    const { content, submessages: found } = body.messages[0];
    return { content, found: found.map((one: { content: string }) => JSON.parse(one.content)) };
  };
  for (const given of [...accepted, null]) {
    far.next.push(answer({ content: "Choose", widget_content: given }));
    await bert.say("general", "food", "@**The waiter**");
    await quiet();
    const wanted = typeof given === "string" ? JSON.parse(given) : given;
    t.strictSame(await submessages(), { content: "<p>Choose</p>", found: given === null ? [] : [wanted] });
  }
  for (const given of refused) {
    far.next.push(answer({ content: "Choose", widget_content: given }));
    await bert.say("general", "food", "@**The waiter**");
    await quiet();
    t.match((await submessages()).content, /^<p>Failure! /, JSON.stringify(given).slice(0, 40));
  }
});

t.test("[behaviour 10] the JSON of a response decides whether a reply is posted, and its text", async (t) => {
  const far = await Receiver.start(t);
  const { bot } = await webhookBot(anna, "table", far.url);
  const long = "x".repeat(limits.message_code_points_max + 1);
  const table: readonly (readonly [unknown, string | null])[] = [
    [{}, null],
    ["", null],
    [{ response_not_required: true, content: "unwanted" }, null],
    [{ response_not_required: false, content: "wanted" }, "wanted"],
    [{ content: "" }, null],
    [{ content: " \n" }, null],
    [{ content: null }, null],
    [{ text: "of Slack" }, null],
    [{ response_string: "of before", content: "of today" }, "of before"],
    [{ content: 7 }, "7"],
    [{ content: { a: [1] } }, '{"a":[1]}'],
    [{ content: long }, `${"x".repeat(limits.message_code_points_max - 20)}\n[message truncated]`],
  ];
  for (const [body, expected] of table) {
    far.next.push(answer(body));
    const before = (await textsOf(bert, bot)).length;
    await direct(bert, [bot], "?");
    await quiet();
    const texts = (await textsOf(bert, bot)).slice(before);
    t.strictSame(texts, expected === null ? [] : [expected], JSON.stringify(body).slice(0, 80));
  }
});

t.test(
  "[behaviour 10] the Slack format sends form fields, replies with `text`, and rejects direct messages",
  async (t) => {
    const far = await Receiver.start(t, answer({ text: "done", content: "not this" }));
    const { bot } = await webhookBot(anna, "slacker", far.url, { interface_type: 2 });
    const id = await bert.say("general", "lunch", "@**The slacker** do *it* & more");
    const { headers, text } = await far.call(1);
    t.equal(headers["content-type"], "application/x-www-form-urlencoded");
    const { body } = await bot.get(`/messages/${id}`);
    const { timestamp, stream_id } = body.message;
    const { token, ...fields } = Object.fromEntries(new URLSearchParams(text));
    t.match(token, /^[A-Za-z0-9]{32}$/);
    t.strictSame(fields, {
      team_id: `T${server.realm.view.realm.id}`,
      team_domain: "",
      channel_id: `C${stream_id}`,
      channel_name: "general",
      thread_ts: String(timestamp),
      timestamp: String(timestamp),
      user_id: `U${bert.userId}`,
      user_name: "bert 0",
      text: "@**The slacker** do *it* & more",
      trigger_word: "mention",
      service_id: String(bot.userId),
    });
    await quiet();
    t.strictSame(await textsOf(bert, bot), ["done"]);
    await direct(bert, [bot], "psst");
    await quiet();
    t.equal(far.calls.length, 1);
    t.equal((await textsOf(bert, bot)).at(-1), "Failure! Slack outgoing webhooks don't support direct messages.");
  },
);

t.test("[behaviour 10] a message that mentions two bots triggers both", async (t) => {
  const [one, two] = [await Receiver.start(t, answer({ content: "1" })), await Receiver.start(t)];
  two.usual = answer({ content: "2" });
  const { bot: first } = await webhookBot(anna, "first", one.url);
  const { bot: second } = await webhookBot(anna, "second", two.url);
  await bert.say("general", "t", "@**The first** @**The second** @**The first**");
  await quiet();
  t.strictSame([one.calls.length, two.calls.length], [1, 1]);
  t.strictSame([await textsOf(bert, first), await textsOf(bert, second)], [["1"], ["2"]]);
});

t.test("[S1] a message edited before delivery is sent in its new form, a deleted one is not sent", async (t) => {
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "late", far.url);
  for (let sent = 1; sent <= limits.webhook_deliveries_per_bot_concurrent_max; sent++) {
    await direct(bert, [bot], "keeps it busy");
    await far.call(sent);
  }
  const edited = await bert.say("general", "t", "@**The late** before");
  const deleted = await bert.say("general", "t", "@**The late** a slip");
  t.equal((await bert.patch(`/messages/${edited}`, { content: "after" })).status, 200);
  t.equal((await owner.delete(`/messages/${deleted}`)).status, 200);
  far.usual = answer({});
  far.release(answer({}));
  await quiet();
  t.strictSame(
    far.calls.slice(limits.webhook_deliveries_per_bot_concurrent_max).map(({ text }) => JSON.parse(text).data),
    ["after"],
  );
});

t.test("[S1] a message that the bot can no longer read at delivery is not sent", async (t) => {
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "expelled", far.url);
  await bert.createChannel("closed", [bert, bot], { invite_only: true });
  const busy = limits.webhook_deliveries_per_bot_concurrent_max;
  for (let index = 0; index <= busy; index++) await bert.say("closed", "t", "@**The expelled**");
  await far.call(busy);
  const left = { subscriptions: ["closed"], principals: [bot.userId] };
  t.equal((await owner.delete("/users/me/subscriptions", left)).status, 200);
  far.usual = answer({});
  far.release(answer({}));
  await quiet();
  t.equal(far.calls.length, busy);
});

t.test("[D161] the reply to a message that was deleted meanwhile is not posted", async (t) => {
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "asked", far.url);
  const question = await bert.say("general", "t", "@**The asked**?");
  await far.call(1);
  t.equal((await owner.delete(`/messages/${question}`)).status, 200);
  far.release(answer({ content: "to whom?" }));
  await quiet();
  t.strictSame(await textsOf(bert, bot), []);
});

t.test("[D161] the reply follows a topic that was renamed meanwhile", async (t) => {
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "follower", far.url);
  const id = await bert.say("general", "old name", "@**The follower**");
  await far.call(1);
  t.equal((await bert.patch(`/messages/${id}`, { topic: "new name", propagate_mode: "change_all" })).status, 200);
  far.release(answer({ content: "here" }));
  await quiet();
  const { body } = await bert.get("/messages", {
    anchor: "newest",
    num_before: 1,
    num_after: 0,
    narrow: [["sender", String(bot.userId)]],
  });
  t.match(body.messages, [{ subject: "new name" }]);
});

t.test("[behaviour 10] messages to a deactivated bot are not sent, and its replies are not posted", async (t) => {
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "gone", far.url);
  const busy = limits.webhook_deliveries_per_bot_concurrent_max;
  for (let index = 0; index < busy + 2; index++) await direct(bert, [bot], "hello");
  await far.call(busy);
  t.equal(pendingWebhooks(server).length, busy + 2);
  t.equal((await anna.delete(`/bots/${bot.userId}`)).status, 200);
  far.release(answer({ content: "from beyond" }));
  await quiet();
  t.equal(far.calls.length, busy);
  t.strictSame(await textsOf(bert, bot), []);
});
