/**
 * Emails about missed messages (spec 2.3; D170): when they are written, to whom, and about what. Real servers, outbox
 * files read by a real parser, a clock that the test advances.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client, Params } from "../support/client.ts";
import type { Received } from "../support/mail.ts";
import { did, type MissedBench, periodMs, site, startMissed } from "../support/missed-messages.ts";

const subjects = (mails: readonly Received[]) => mails.map(({ email }) => email.subject);
const addresses = (mails: readonly Received[]) => mails.map(({ email }) => email.to?.[0]?.address).sort();
const set = (client: Client, settings: Params) => did(client.patch("/settings", settings));
const setChannel = (client: Client, channelId: number, property: string, value: boolean) =>
  did(
    client.post("/users/me/subscriptions/properties", {
      subscription_data: [{ stream_id: channelId, property, value }],
    }),
  );
const setTopic = (client: Client, channelId: number, topic: string, policy: number) =>
  did(client.post("/user_topics", { stream_id: channelId, topic, visibility_policy: policy }));
const read = (client: Client, ...messages: readonly number[]) =>
  did(client.post("/messages/flags", { messages, op: "add", flag: "read" }));

t.test("[spec 2.3] messages of one batching period are one email, sent at its end", async (t) => {
  const { server, ann, bob, direct, pass, mails } = await startMissed(t);
  const first = await direct("Soup is **ready**\nnow", bob);
  await pass(periodMs / 2);
  await direct("and [cake](https://cake.example.org/)", bob);
  await pass(periodMs / 2 - 1);
  t.strictSame(await mails(), [], "not yet");
  await pass(1);
  const [mail, ...others] = await mails();
  t.strictSame(others, []);
  t.match(mail?.email, {
    from: { name: "Colloquy", address: "noreply@localhost" },
    to: [{ name: "Bob 0", address: "Bob0@example.com" }],
    subject: "Direct messages with Ann 0",
  });
  const link = `${site}/#narrow/dm/${ann.userId}-dm/near/${first}`;
  t.equal(
    mail?.email.text?.replaceAll("\r", "").replace(/\nUnsubscribe from [^\n]*\s*$/, ""),
    `Hello Bob 0,\n\nAnn 0, Friday, 1 May 2026 at 12:00 (UTC):\n    Soup is ready\n    now\n\nAnn 0, Friday, 1 May 2026 at 12:01 (UTC):\n    and cake <https://cake.example.org/>\n\nYou get this email because somebody wrote to you directly; which messages you get by email is in your settings. To read on or to answer, follow the link:\n\n${link}\n\n-- \nSent by Colloquy. Nobody reads answers to this email.`,
  );
  t.match(mail?.email.html, "<blockquote><p>Soup is <strong>ready</strong><br>\nnow</p></blockquote>");
  t.match(mail?.email.html, `<a href="${link}">`);
  await pass(2 * 60 * 60 * 1000);
  t.strictSame(await mails(), [], "once");
  t.equal(server.realm.view.row("missedMessages", bob.userId), undefined, "nothing is left of it");
});

t.test(
  "[D31] each conversation has one email with the public server's subject: direct, group, channel, resolved topic, empty topic",
  async (t) => {
    const { ann, bob, owner, ...bench } = { ...(await withOwner(t)) };
    const kitchen = await owner.createChannel("kitchen", [ann, bob]);
    await bench.say(kitchen, "lunch", `@**Bob 0** one`);
    await bench.direct("two", bob, owner);
    await bench.say(kitchen, "✔ tea", `@**Bob 0** three`);
    await bench.say(kitchen, "", `@**Bob 0** four`);
    await bench.say(kitchen, "LUNCH", `@**Bob 0** five`);
    const mails = (await bench.due()).filter(({ email }) => email.to?.[0]?.address === "Bob0@example.com");
    t.strictSame(subjects(mails), [
      "#kitchen > lunch",
      "Direct messages with Owner, Ann 0",
      "[resolved] #kitchen > tea",
      "#kitchen > general chat",
    ]);
    t.match(mails[0]?.email.text, /one[\s\S]*five[\s\S]*because somebody mentioned you;/);
    t.match(mails[2]?.email.text, `${site}/#narrow/channel/${kitchen}-kitchen/topic/.E2.9C.94.20tea/near/`);
  },
);

async function withOwner(t: Parameters<typeof startMissed>[0]) {
  const bench = await startMissed(t);
  return { ...bench, owner: bench.server.owner };
}

interface Case {
  readonly title: string;
  /** Bob's settings before the message arrives. */
  readonly settings?: Params;
  readonly channel?: Readonly<Record<string, boolean>>;
  readonly policy?: 1 | 2 | 3;
  readonly content?: string;
  /** null: no email. */
  readonly reason: RegExp | null;
}

const mentioned = /somebody mentioned you;/;
const byChannel = /somebody mentioned everybody in the channel;/;
const byTopic = /somebody mentioned everybody who writes in the topic;/;
const following = /you follow the topic;/;
const wanted = /you get emails about this channel;/;
const group = /mentioned a group that you are in;/;
const off = { enable_offline_email_notifications: false };

const cases: readonly Case[] = [
  { title: "a message to a channel", reason: null },
  { title: "a mention", content: "@**Bob 0** hi", reason: mentioned },
  { title: "a mention, switched off", settings: off, content: "@**Bob 0** hi", reason: null },
  { title: "a mention in a muted topic", policy: 1, content: "@**Bob 0** hi", reason: mentioned },
  { title: "a silent mention", content: "@_**Bob 0** hi", reason: null },
  { title: "a mention of a group", content: "@*cooks* hi", reason: group },
  { title: "a mention of a group, switched off", settings: off, content: "@*cooks* hi", reason: null },
  { title: "everybody in the channel", content: "@**all** hi", reason: byChannel },
  { title: "everybody in the channel, switched off", settings: off, content: "@**all** hi", reason: null },
  {
    title: "wildcards off",
    settings: { wildcard_mentions_notify: false },
    content: "@**all** hi",
    reason: null,
  },
  {
    title: "wildcards off, on for the channel",
    settings: { wildcard_mentions_notify: false },
    channel: { wildcard_mentions_notify: true },
    content: "@**all** hi",
    reason: byChannel,
  },
  {
    title: "wildcards off for the channel",
    channel: { wildcard_mentions_notify: false },
    content: "@**all** hi",
    reason: null,
  },
  { title: "a wildcard in a muted topic", policy: 1, content: "@**all** hi", reason: null },
  { title: "a wildcard in a muted channel", channel: { is_muted: true }, content: "@**all** hi", reason: null },
  {
    title: "a wildcard in an unmuted topic of a muted channel",
    channel: { is_muted: true },
    policy: 2,
    content: "@**all** hi",
    reason: byChannel,
  },
  {
    title: "wildcards off, in a followed topic",
    settings: { wildcard_mentions_notify: false },
    policy: 3,
    content: "@**all** hi",
    reason: byChannel,
  },
  {
    title: "wildcards off, in followed topics, too",
    settings: {
      wildcard_mentions_notify: false,
      enable_followed_topic_wildcard_mentions_notify: false,
      enable_followed_topic_email_notifications: false,
    },
    policy: 3,
    content: "@**all** hi",
    reason: null,
  },
  { title: "everybody who writes in the topic", content: "@**topic** hi", reason: byTopic },
  { title: "a followed topic", policy: 3, reason: following },
  { title: "a followed topic of a muted channel", channel: { is_muted: true }, policy: 3, reason: following },
  {
    title: "a followed topic, switched off",
    settings: { enable_followed_topic_email_notifications: false },
    policy: 3,
    reason: null,
  },
  { title: "a followed topic, personal emails off", settings: off, policy: 3, reason: following },
  { title: "emails of channels", settings: { enable_stream_email_notifications: true }, reason: wanted },
  {
    title: "emails of channels, off for this one",
    settings: { enable_stream_email_notifications: true },
    channel: { email_notifications: false },
    reason: null,
  },
  { title: "emails of this channel", channel: { email_notifications: true }, reason: wanted },
  { title: "emails of this channel, muted", channel: { email_notifications: true, is_muted: true }, reason: null },
  { title: "emails of this channel, topic muted", channel: { email_notifications: true }, policy: 1, reason: null },
  {
    title: "emails of this channel, muted, topic unmuted",
    channel: { email_notifications: true, is_muted: true },
    policy: 2,
    reason: wanted,
  },
];

t.test("[spec 2.3] setting, channel and topic decide which channel messages become mails", async (t) => {
  const { server, ann, say, due } = await startMissed(t);
  for (const [index, one] of cases.entries()) {
    const reader = await server.user(`Reader${index}`);
    const channel = await server.owner.createChannel(`place ${index}`, [ann, reader]);
    const members = JSON.stringify([reader.userId]);
    await did(server.owner.post("/user_groups/create", { name: `cooks ${index}`, description: "", members }));
    await say(channel, "lunch", "mine", reader);
    if (one.settings !== undefined) await set(reader, one.settings);
    for (const [name, value] of Object.entries(one.channel ?? {})) await setChannel(reader, channel, name, value);
    await setTopic(reader, channel, "lunch", one.policy ?? 0);
    const content = (one.content ?? "hi").replace("Bob 0", `Reader${index} 0`).replace("cooks", `cooks ${index}`);
    await say(channel, "lunch", content);
    const sent = (await due()).filter(({ email }) => email.to?.[0]?.address === reader.account?.email);
    t.equal(sent.length, one.reason === null ? 0 : 1, one.title);
    if (one.reason !== null) t.match(sent[0]?.email.text, one.reason, one.title);
  }
});

t.test("[spec 2.3] when off, direct messages cause no mails", async (t) => {
  const { bob, direct, due } = await startMissed(t);
  await set(bob, off);
  await direct("hi", bob);
  t.strictSame(await due(), []);
});

/** What happens between the message and the due time of its mail. */
const meanwhile: Readonly<
  Record<string, (bench: MissedBench, place: { id: number; channel: number }) => Promise<unknown>>
> = {
  read: ({ bob }, { id }) => read(bob, id),
  deleted: ({ server }, { id }) => did(server.owner.delete(`/messages/${id}`)),
  "person deactivated": ({ server, bob }) => did(server.owner.delete(`/users/${bob.userId}`)),
  "no longer in the private channel": ({ bob }) =>
    did(bob.delete("/users/me/subscriptions", { subscriptions: ["cellar"] })),
  "sender muted": ({ bob, ann }) => did(bob.post(`/users/me/muted_users/${ann.userId}`)),
  "switched off": ({ bob }) => set(bob, off),
  "mention taken back": ({ ann }, { id }) => did(ann.patch(`/messages/${id}`, { content: "nobody" })),
};

t.test("the link of a message without a topic has the empty part that clients expect", async (t) => {
  const { server, ann, bob, say, due } = await startMissed(t);
  const channel = await server.owner.createChannel("attic", [server.owner, ann, bob]);
  const id = await say(channel, "", "@**Bob 0** here");
  const [mail] = (await due()).filter((one) => addresses([one])[0] === "Bob0@example.com");
  t.match(mail?.email.text, `#narrow/channel/${channel}-attic/topic//near/${id}`);
});

t.test("[D170] an email respects changes made before it is due", async (t) => {
  for (const [title, change] of Object.entries(meanwhile)) {
    const bench = await startMissed(t);
    const { server, ann, bob, say, due } = bench;
    const channel = await server.owner.createChannel("cellar", [server.owner, ann, bob], { invite_only: true });
    // Following the topic would be another reason for an email.
    await set(bob, { automatically_follow_topics_where_mentioned: false });
    const id = await say(channel, "wine", "@**Bob 0** here");
    t.ok(server.realm.view.row("missedMessages", bob.userId), "it is remembered");
    await change(bench, { id, channel });
    const found = addresses(await due()).filter((one) => one === "Bob0@example.com");
    t.strictSame(found, [], title);
    t.equal(server.realm.view.row("missedMessages", bob.userId), undefined, title);
    await server.stop();
  }
});

t.test("[D170] an email shows edited messages in their current form, and only those still unread", async (t) => {
  const { bob, ann, direct, due } = await startMissed(t);
  const [first, second] = [await direct("apple", bob), await direct("pear", bob)];
  await did(ann.patch(`/messages/${second}`, { content: "plum" }));
  await read(bob, first);
  const [mail] = await due();
  t.match(mail?.email.text, "plum");
  t.notMatch(mail?.email.text, /apple|pear/);
});

t.test("[D170] an active user gets no email; an idle or offline one does", async (t) => {
  const bench = await startMissed(t);
  const { server, bob, direct, due, mails, pass } = bench;
  const ping = (status: string) => did(bob.post("/users/me/presence", { status, new_user_input: true }));
  await ping("active");
  await pass(limits.presence_offline_threshold_s * 1000 - 1);
  await direct("while active", bob);
  t.strictSame(await due(), []);
  await pass(limits.presence_offline_threshold_s * 1000);
  await ping("idle");
  await direct("while idle", bob);
  t.match((await due())[0]?.email.text, "while idle");
  await ping("active");
  await pass(limits.presence_offline_threshold_s * 1000);
  await direct("after", bob);
  const [mail] = await due();
  t.match(mail?.email.text, "after");
  t.notMatch(mail?.email.text, "while active");
  t.strictSame(await mails(), []);
  t.equal(server.realm.view.row("missedMessages", bob.userId)?.mailsInHour, 2);
});

t.test(
  "[D170] bots, the sender and users who cannot read the message get no email; others get one, also for a bot's message",
  async (t) => {
    const { server, ann, bob, direct, say, due } = await startMissed(t);
    const bot = await server.bot("Robot", bob);
    const outsider = await server.user("Outsider");
    const channel = await server.owner.createChannel("kitchen", [ann, bob, bot]);
    await set(ann, { enable_stream_email_notifications: true });
    await direct("to a program", bot);
    await direct("to myself", ann);
    await say(channel, "lunch", `@**Robot 0** @**Outsider 0** @**Ann 0**`);
    const found = addresses(await due()).filter((one) => one !== "owner@localhost");
    t.strictSame(found, []);
    t.equal(server.realm.view.row("missedMessages", outsider.userId), undefined);
    await did(bot.post("/messages", { type: "direct", to: [bob.userId], content: "beep" }));
    t.strictSame(subjects(await due()), ["Direct messages with Robot 0"]);
  },
);

t.test("[spec 2.3] when off, one email without names and content", async (t) => {
  const { server, ann, bob, direct, say, due } = await startMissed(t);
  const channel = await server.owner.createChannel("cellar", [ann, bob]);
  await set(bob, { message_content_in_email_notifications: false });
  await direct("s3cret", bob);
  await say(channel, "wine", "@**Bob 0** s3cret");
  const mails = (await due()).filter(({ email }) => email.to?.[0]?.address === "Bob0@example.com");
  t.strictSame(subjects(mails), ["New messages"]);
  t.match(mails[0]?.email.text, /that you have not read: 2\.[\s\S]*You have set that emails do not say/);
  t.match(mails[0]?.email.text, `\n${site}/\n`);
  t.notMatch(mails[0]?.raw, /s3cret|Ann|cellar|wine/);
});

t.test("[D5] when off, no email has content, and each says that the organization decided so", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  await did(server.owner.patch("/realm", { message_content_allowed_in_email_notifications: false }));
  await direct("s3cret", bob);
  const [mail] = await due();
  t.equal(mail?.email.subject, "New messages");
  t.match(mail?.email.text, "The organization does not want emails to say what was written.");
  t.notMatch(mail?.raw, /s3cret|Ann/);
});

t.test("[spec 2.3] with 2 the subject contains the organization's name", async (t) => {
  const { bob, direct, due } = await startMissed(t);
  for (const [policy, subject] of [
    [1, "Direct messages with Ann 0"],
    [2, "[Colloquy] Direct messages with Ann 0"],
    [3, "Direct messages with Ann 0"],
  ] as const) {
    await set(bob, { realm_name_in_email_notifications_policy: policy });
    await direct("hi", bob);
    t.strictSame(subjects(await due()), [subject]);
  }
  await set(bob, { realm_name_in_email_notifications_policy: 2, message_content_in_email_notifications: false });
  await direct("hi", bob);
  t.strictSame(subjects(await due()), ["[Colloquy] New messages"]);
});

t.test("[behaviour 2.1] a new batching period counts from the first message, also for waiting ones", async (t) => {
  const { bob, direct, pass, mails } = await startMissed(t);
  await direct("longer", bob);
  await set(bob, { email_notifications_batching_period_seconds: 300 });
  await pass(299_999);
  t.strictSame(await mails(), []);
  await pass(1);
  t.equal((await mails()).length, 1);
  await direct("shorter", bob);
  await pass(10_000);
  await set(bob, { email_notifications_batching_period_seconds: 5 });
  await pass(0);
  t.equal((await mails()).length, 1, "overdue at once");
});

t.test("[S1] a restricted guest's email contains no name of a user that the guest may not see", async (t) => {
  const { server, ann, bob, say, due } = await startMissed(t);
  server.setRealm({ can_access_all_users_group: server.realm.view.groups.system("role:members")?.id ?? 0 });
  const guest = await server.user("Guest", roles.guest);
  const channel = await server.owner.createChannel("lobby", [ann, bob, guest]);
  await set(guest, { enable_stream_email_notifications: true });
  await say(channel, "hello", "@**Bob 0** meet the guest");
  await did(ann.delete("/users/me/subscriptions", { subscriptions: ["lobby"] }));
  await did(bob.delete("/users/me/subscriptions", { subscriptions: ["lobby"] }));
  const [mail] = (await due()).filter(({ email }) => email.to?.[0]?.address === "Guest0@example.com");
  t.match(mail?.email.text, /Unknown user, Friday[\s\S]*@Unknown user meet the guest/);
  t.notMatch(mail?.raw, /Ann|Bob/);
});

t.test("[spec 2.3] an edit that adds a mention counts as a mention, a repeated mention does not", async (t) => {
  const { server, ann, bob, say, due } = await startMissed(t);
  const channel = await server.owner.createChannel("kitchen", [ann, bob]);
  const id = await say(channel, "lunch", "who cooks?");
  await did(ann.patch(`/messages/${id}`, { content: "@**Bob 0** cooks" }));
  t.strictSame(subjects(await due()), ["#kitchen > lunch"]);
  await did(ann.patch(`/messages/${id}`, { content: "@**Bob 0** cooks well" }));
  t.strictSame(await due(), []);
});
