/**
 * Receivers of outgoing webhooks that misbehave (behaviour 10): which failures are retried, what is reported in the
 * conversation and to the bot's owner, and that one receiver delays nobody.
 */
import { Writable } from "node:stream";
import { pino } from "pino";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { readConfig } from "../../src/app/config.ts";
import { startServer } from "../../src/app/server.ts";
import { Client } from "../support/client.ts";
import { until } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import {
  answer,
  type Behaviour,
  hang,
  hangUp,
  patientClock,
  pendingWebhooks,
  privateAllowed,
  Receiver,
  raw,
  status,
  webhookBot,
} from "../support/receiver.ts";
import { readZuliprc, startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

async function ready(t: Test) {
  const { server, clock } = await startClockedServer(t, privateAllowed);
  const [anna, bert] = [await server.user("anna"), await server.user("bert")];
  return { server, clock, anna, bert };
}

function direct(by: Client, bot: Client, content = "?") {
  return by.post("/messages", { type: "direct", to: [bot.userId], content });
}

async function quiet(server: TestServer): Promise<void> {
  await server.realm.dispatcher.idle();
  await until(() => pendingWebhooks(server).length === 0);
  await server.realm.dispatcher.idle();
}

async function textsFrom(reader: Client, senderId: number): Promise<string[]> {
  const narrow = [["sender", String(senderId)]];
  const page = { anchor: "newest", num_before: 1000, num_after: 0, narrow, apply_markdown: false };
  const { body } = await reader.get("/messages", page);
  return body.messages.map(({ content }: { content: string }) => content);
}

/** The notification bot's messages to a user about a bot. */
async function reportsTo(owner: Client, bot: Client): Promise<string[]> {
  return (await textsFrom(owner, 1)).filter((text) => text.includes(`|${bot.userId}**`));
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const big = "x".repeat(10 * 1024 * 1024);
const largest = JSON.stringify({ content: "fits" }).padEnd(limits.webhook_answer_bytes_max, " ");

t.test("[behaviour 10] a permanent failure is reported at once, in the conversation and to the owner", async (t) => {
  const { server, anna, bert } = await ready(t);
  const statusReported = (code: number) => `The webhook got a response with status code *${code}*.`;
  const table: readonly (readonly [Behaviour, said: string | null, told: string | null])[] = [
    [status(404), "Third party responded with 404", statusReported(404)],
    [status(400, {}, '{"content":"no"}'), "Third party responded with 400", statusReported(400)],
    [raw(""), "Invalid JSON in response", "Invalid JSON in response"],
    [status(204), "Invalid JSON in response", "Invalid JSON in response"],
    [raw("<html>garbage"), "Invalid JSON in response", "Invalid JSON in response"],
    [raw("[".repeat(100_000)), "Invalid JSON in response", "Invalid JSON in response"],
    [raw(`{"content":${nested(100_000)}}`), "Invalid JSON in response", "Invalid JSON in response"],
    [raw(String.raw`{"content":"\ud800"}`), "Invalid JSON in response", "Invalid JSON in response"],
    [answer([]), "Invalid response format", "Invalid response format"],
    [answer("text"), "Invalid response format", "Invalid response format"],
    [answer(null), "Invalid response format", "Invalid response format"],
    [
      answer({ content: "a\0b" }),
      "Invalid response format",
      "The response holds a text or a widget that no message can have.",
    ],
    [answer({ content: big }), "Response too large", "The response was larger than 256 KiB."],
    [raw(`${largest} `), "Response too large", "The response was larger than 256 KiB."],
    [raw(largest), null, null],
  ];
  for (const [index, [behaviour, said, received]] of table.entries()) {
    const far = await Receiver.start(t, behaviour);
    const { bot } = await webhookBot(anna, `bot${index}`, far.url);
    const { body } = await direct(bert, bot);
    await quiet(server);
    t.equal(far.calls.length, 1, `${said}: once`);
    t.strictSame(await textsFrom(bert, bot.userId), [said === null ? "fits" : `Failure! ${said}`]);
    const link = `[A message](#narrow/near/${body.id}) to your bot @_**The bot${index}|${bot.userId}**`;
    const expected = received === null ? [] : [`${link} triggered an outgoing webhook.\n\n${received}`];
    t.strictSame(await reportsTo(anna, bot), expected);
    t.strictSame(await reportsTo(bert, bot), [], "no other user is notified");
  }
});

t.test("[D160] a webhook answered with 500 is retried with the same payload, and a later 200 is posted", async (t) => {
  const { server, clock, anna, bert } = await ready(t);
  for (const [index, failing] of [status(500), status(503), status(429), status(408), hangUp].entries()) {
    const far = await Receiver.start(t, answer({ content: "at last" }));
    far.next.push(failing, failing);
    const { bot } = await webhookBot(anna, `again${index}`, far.url);
    await direct(bert, bot);
    for (const [attempts, waitMs] of [
      [1, limits.webhook_back_off_ms_min],
      [2, 2 * limits.webhook_back_off_ms_min],
    ] as const) {
      await until(() => pendingWebhooks(server)[0]?.attempts === attempts);
      t.equal(pendingWebhooks(server)[0]?.dueAt, clock.now() + waitMs);
      clock.advance(waitMs - 1);
      await server.realm.dispatcher.idle();
      t.equal(far.calls.length, attempts, "not yet");
      clock.advance(1);
    }
    await quiet(server);
    t.strictSame(await textsFrom(bert, bot.userId), ["at last"]);
    t.equal(new Set(far.calls.map(({ text }) => text)).size, 1, "the same payload each time");
    t.strictSame(await reportsTo(anna, bot), []);
  }
});

t.test("[S3] webhook_attempts_max: after that many attempts the bot is reported as unavailable", async (t) => {
  const { server, clock, anna, bert } = await ready(t);
  const nobody = await Receiver.start(t, hangUp);
  const broken = await Receiver.start(t, status(502));
  const table = [
    [nobody, "Bot is unavailable", "A connection error occurred. Is my bot server down?"],
    [broken, "Third party responded with 502", "The webhook got a response with status code *502*."],
  ] as const;
  for (const [index, [far, said, received]] of table.entries()) {
    const { bot } = await webhookBot(anna, `never${index}`, far.url);
    await direct(bert, bot);
    for (let attempts = 1; attempts < limits.webhook_attempts_max; attempts++) {
      await until(() => pendingWebhooks(server)[0]?.attempts === attempts);
      t.strictSame(await textsFrom(bert, bot.userId), []);
      const waitMs = (pendingWebhooks(server)[0]?.dueAt ?? 0) - clock.now();
      t.ok(waitMs <= limits.webhook_back_off_ms_max, "webhook_back_off_ms_max");
      clock.advance(waitMs);
    }
    await quiet(server);
    t.equal(far.calls.length, limits.webhook_attempts_max);
    t.strictSame(await textsFrom(bert, bot.userId), [`Failure! ${said}`]);
    t.match(await reportsTo(anna, bot), [new RegExp(`${received.replaceAll(/[*.?]/g, "\\$&")}$`)]);
  }
});

t.test("[S3] webhook_delivery_ms_max: a request to a hanging receiver is retried, and finally reported", async (t) => {
  const { server, clock, anna, bert } = await ready(t);
  const trickle: Behaviour = (response) => response.writeHead(200).write('{"content":');
  for (const [index, behaviour] of [hang, trickle].entries()) {
    const far = await Receiver.start(t, behaviour);
    const { bot } = await webhookBot(anna, `slow${index}`, far.url);
    await direct(bert, bot);
    for (let attempts = 1; attempts <= limits.webhook_attempts_max; attempts++) {
      await far.call(attempts);
      clock.advance(limits.webhook_delivery_ms_max - 1);
      await server.realm.dispatcher.idle();
      t.equal(pendingWebhooks(server)[0]?.attempts, attempts - 1);
      clock.advance(1);
      await far.until(() => far.open === 0);
      await until(() => pendingWebhooks(server)[0]?.attempts !== attempts - 1);
      clock.advance(limits.webhook_back_off_ms_max);
    }
    await quiet(server);
    t.strictSame(await textsFrom(bert, bot.userId), ["Failure! Bot is unavailable"]);
    t.match(await reportsTo(anna, bot), [/Request timed out after 10 seconds\.$/]);
  }
});

t.test("[behaviour 10] one slow receiver delays neither other bots nor requests", async (t) => {
  const { server, anna, bert } = await ready(t);
  const slow = await Receiver.start(t, hang);
  const quick = await Receiver.start(t, answer({ content: "quick" }));
  const { bot: one } = await webhookBot(anna, "slow", slow.url);
  const { bot: two } = await webhookBot(anna, "quick", quick.url);
  const count = limits.webhooks_per_bot_in_memory_max + 5;
  for (let index = 0; index < count; index++) await direct(bert, one, `m${index}`);
  await slow.call(limits.webhook_deliveries_per_bot_concurrent_max);
  await direct(bert, two);
  await quick.call(1);
  await until(() => pendingWebhooks(server).every(({ botId }) => botId === one.userId));
  await server.realm.dispatcher.idle();
  t.strictSame(await textsFrom(bert, two.userId), ["quick"]);
  t.equal(slow.open, limits.webhook_deliveries_per_bot_concurrent_max, "webhook_deliveries_per_bot_concurrent_max");
  t.equal(slow.calls.length, slow.open);
  slow.usual = answer({});
  slow.release(answer({}));
  await quiet(server);
  t.strictSame(
    new Set(slow.calls.map(({ text }) => JSON.parse(text).data)),
    new Set(Array.from({ length: count }, (_, index) => `m${index}`)),
    "[S3] webhooks_per_bot_in_memory_max: messages beyond the bound are read again later",
  );
  t.equal(slow.calls.length, count, "each once");
});

t.test("[S3] webhook_deliveries_concurrent_max: at most that many requests run at once, over all bots", async (t) => {
  const { server, anna, bert } = await ready(t);
  const far = await Receiver.start(t, hang);
  const max = limits.webhook_deliveries_concurrent_max;
  const bots = max / limits.webhook_deliveries_per_bot_concurrent_max + 1;
  const made: Client[] = [];
  for (let index = 0; index < bots; index++) made.push((await webhookBot(anna, `b${index}`, far.url)).bot);
  const mentions = made.map((_, index) => `@**The b${index}**`).join(" ");
  for (let index = 0; index < limits.webhook_deliveries_per_bot_concurrent_max; index++) {
    await bert.say("general", "t", mentions);
  }
  await far.call(max);
  await server.realm.dispatcher.idle();
  t.equal(far.calls.length, max);
  far.release(answer({}));
  await far.call(max + limits.webhook_deliveries_per_bot_concurrent_max);
  far.release(answer({}));
  await quiet(server);
  t.equal(far.calls.length, max + limits.webhook_deliveries_per_bot_concurrent_max);
});

t.test("[S3] webhook_deliveries_per_bot_max: messages beyond it are not sent, and the owner is notified", async (t) => {
  const { server, anna, bert } = await ready(t);
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "flooded", far.url);
  const max = limits.webhook_deliveries_per_bot_max;
  await Promise.all(Array.from({ length: max }, () => direct(bert, bot)));
  t.equal(pendingWebhooks(server).length, max);
  t.strictSame(await reportsTo(anna, bot), []);
  await Promise.all(Array.from({ length: 3 }, () => direct(bert, bot)));
  t.equal(pendingWebhooks(server).length, max);
  t.match(await reportsTo(anna, bot), [/Too many messages wait for its server: this one is not sent\.$/]);
});

t.test("[S3] webhook_report_pause_ms: of many failures the owner gets one report, then their number", async (t) => {
  const { server, clock, anna, bert } = await ready(t);
  const far = await Receiver.start(t, status(404));
  const { bot } = await webhookBot(anna, "storm", far.url);
  const { bot: other } = await webhookBot(anna, "other", far.url);
  for (let index = 0; index < 5; index++) await direct(bert, bot);
  await direct(bert, other);
  await quiet(server);
  t.equal((await textsFrom(bert, bot.userId)).length, 5, "every sender gets a reply");
  t.equal((await reportsTo(anna, bot)).length, 1);
  t.equal((await reportsTo(anna, other)).length, 1, "each bot has its own pause");
  clock.advance(limits.webhook_report_pause_ms - 1);
  await direct(bert, bot);
  await quiet(server);
  t.equal((await reportsTo(anna, bot)).length, 1);
  clock.advance(1);
  await direct(bert, bot);
  await quiet(server);
  t.match((await reportsTo(anna, bot)).slice(1), [/404\*\.\n\nFailures since I told you of one: 5\.$/]);
});

t.test("[D161] a reply that the bot may not post is dropped, and the owner is notified", async (t) => {
  const { server, anna, bert } = await ready(t);
  const far = await Receiver.start(t, answer({ content: "may I?" }));
  const { bot } = await webhookBot(anna, "mute", far.url);
  const id = await server.owner.createChannel("news", [server.owner, anna, bert]);
  await bert.say("news", "t", "before");
  far.usual = (response) => {
    const owners = { new: server.group("role:nobody") };
    void server.owner.patch(`/streams/${id}`, { can_send_message_group: owners }).then(({ status }) => {
      t.equal(status, 200);
      response.end(JSON.stringify({ content: "may I?" }));
    });
  };
  await bert.say("news", "t", "@**The mute**");
  await quiet(server);
  t.strictSame(await textsFrom(anna, bot.userId), []);
  const refused = /Its answer was refused: You do not have permission to post in this channel\.$/;
  t.match(await reportsTo(anna, bot), [refused]);

  const wild = await Receiver.start(t, answer({ content: "@**all** wake up" }));
  const { bot: loud } = await webhookBot(anna, "loud", wild.url);
  server.setRealm({ can_mention_many_users_group: server.group("role:nobody") });
  const crowd = await Promise.all(Array.from({ length: 16 }, (_, index) => server.bot(`c${index}`, anna)));
  await server.owner.createChannel("crowd", [bert, ...crowd]);
  await bert.say("crowd", "t", "@**The loud**");
  await quiet(server);
  t.strictSame(await textsFrom(anna, loud.userId), []);
  t.match(await reportsTo(anna, loud), [/Its answer was refused: /]);
});

t.test("[M3] waiting messages are sent after a restart, those in flight a second time", async (t) => {
  const server = await startTestServer(t, { ...privateAllowed, clock: patientClock });
  const anna = await server.user("anna");
  const far = await Receiver.start(t, hang);
  const { bot } = await webhookBot(anna, "waiting", far.url);
  const count = limits.webhook_deliveries_per_bot_concurrent_max + 3;
  for (let index = 0; index < count; index++) await direct(anna, bot, `m${index}`);
  await far.call(limits.webhook_deliveries_per_bot_concurrent_max);
  await server.stop();
  t.equal(far.calls.length, limits.webhook_deliveries_per_bot_concurrent_max);
  far.usual = (response, { text }) => response.end(JSON.stringify({ content: `to ${JSON.parse(text).data}` }));
  const again = await startTestServer(t, { ...privateAllowed, dataDir: server.dataDir, clock: patientClock });
  await quiet(again);
  const texts = await textsFrom(new Client(again.url, anna.account), bot.userId);
  t.strictSame(
    texts.sort(),
    Array.from({ length: count }, (_, index) => `to m${index}`),
  );
});

t.test("[S2] the log contains neither the URL with its password, nor the token, nor message text", async (t) => {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const environment = { PORT: "0", DATA_DIR: temporaryFolder(t), ...privateAllowed.environment };
  const die = (error: unknown): never => {
    throw error;
  };
  // Without times and process ids, in which a port could be found.
  const log = pino({ level: "trace", base: null, timestamp: false }, sink);
  const running = await startServer(readConfig(environment), { log, die, clock: patientClock });
  t.teardown(() => running.stop());
  const { email, key } = readZuliprc(running.zuliprc);
  const owner = new Client(running.url, { email, key, userId: 2 });
  const far = await Receiver.start(t, status(404, {}, "peculiar answer"));
  const { bot } = await webhookBot(owner, "logged", far.url.replace("//", "//user:s3cret@"));
  await direct(owner, bot, "peculiar question");
  const { headers } = await far.call(1);
  t.equal(
    headers.authorization,
    `Basic ${Buffer.from("user:s3cret").toString("base64")}`,
    "they are sent nevertheless",
  );
  const { token } = await far.payload(1);
  const reported = /"bot":\d+,"message":1,"attempts":1,"failure":"refused","status":404/;
  await until(() => reported.test(lines.join("")));
  const said = lines.join("");
  for (const secret of ["s3cret", token, "peculiar", String(far.port)]) t.notOk(said.includes(secret), secret);
});
