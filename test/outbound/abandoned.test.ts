/**
 * Deliveries whose outcome report becomes a dead letter (M6): one that did not succeed is retried like a failed one,
 * without waiting for the next start.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { botTypes } from "../../schemas/bots.ts";
import { limits } from "../../schemas/limits.ts";
import type { WebhookFailure } from "../../schemas/webhooks.ts";
import { WebhookRelay } from "../../src/outbound/webhooks/webhook-relay.ts";
import { answerOf, commands, type OpenRealm, openNewRealm, ownerId, turn } from "../support/runtime.ts";

/** An unknown failure, which makes the command that handles it throw. */
const nonsense = "nonsense" as WebhookFailure;

async function makeMail(bench: OpenRealm): Promise<number> {
  const wish = { newEmail: "new@example.com", keyHash: "hash", link: "http://localhost/x" };
  answerOf(await bench.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", wish, ownerId)));
  const [id] = bench.lmdb.keys("mails", { limit: 1 });
  if (id === undefined) throw new Error("no email was written");
  return id;
}

const letters = (bench: OpenRealm) => bench.lmdb.count("deadLetters");

t.test("[M6, D160] a webhook whose outcome report throws is retried, and delays no other", async (t) => {
  const bench = await openNewRealm(t);
  const bot = answerOf(await bench.ask(commands.createBot(1, botTypes.outgoingWebhook, ownerId)));
  const botId = bot["user_id"] as number;
  const carried: number[] = [];
  let isCured = false;
  new WebhookRelay(bench.realm, 1, {
    log: { info: () => undefined, warn: () => undefined },
    outcomes: null,
    async deliver(_view, { id }) {
      carried.push(id);
      return isCured ? { kind: "answered", reply: null } : { kind: "failed", failure: nonsense, status: 0 };
    },
  });
  for (const content of ["one", "two", "three"]) {
    answerOf(await bench.ask(commands.direct([ownerId, botId], content)));
  }
  for (let turns = 0; turns < 50; turns++) await turn();
  t.strictSame(carried, [1, 2, 3]);
  t.equal(letters(bench), 3);
  const rows = [1, 2, 3].map((id) => bench.realm.view.row("webhookDeliveries", [botId, id]));
  const found = rows.map((row) => [row?.attempts, (row?.dueAt ?? 0) - bench.clock.now()]);
  t.strictSame(found, Array(3).fill([1, limits.webhook_back_off_ms_min]));
  isCured = true;
  bench.clock.advance(limits.webhook_back_off_ms_min);
  for (let turns = 0; turns < 50; turns++) await turn();
  t.strictSame(carried, [1, 2, 3, 1, 2, 3]);
  t.equal(bench.lmdb.count("webhookDeliveries"), 0);
  t.equal(letters(bench), 3);
});

t.test("[M6, D160] a webhook whose outcome reports throw too often is abandoned", async (t) => {
  const bench = await openNewRealm(t);
  const bot = answerOf(await bench.ask(commands.createBot(1, botTypes.outgoingWebhook, ownerId)));
  const botId = bot["user_id"] as number;
  answerOf(await bench.ask(commands.direct([ownerId, botId], "hello")));
  const max = limits.webhook_attempts_max;
  const to = { actor: "webhook", botId, id: 1 } as const;
  for (let attempt = 1; attempt <= max; attempt++) {
    bench.realm.dispatcher.send(command(to, "webhook.failed", { failure: nonsense, status: 0 }, null));
    await bench.idle();
    t.equal(bench.realm.view.row("webhookDeliveries", [botId, 1])?.attempts, attempt < max ? attempt : undefined);
  }
  t.equal(letters(bench), max);
});

t.test("[M6, D160] a webhook that was answered is not sent again although its outcome report throws", async (t) => {
  const bench = await openNewRealm(t);
  const bot = answerOf(await bench.ask(commands.createBot(1, botTypes.outgoingWebhook, ownerId)));
  const botId = bot["user_id"] as number;
  answerOf(await bench.ask(commands.direct([ownerId, botId], "hello")));
  const to = { actor: "webhook", botId, id: 1 } as const;
  bench.realm.dispatcher.send(command(to, "webhook.answered", undefined as never, null));
  await bench.idle();
  t.equal(letters(bench), 1);
  t.equal(bench.lmdb.count("webhookDeliveries"), 0);
});

t.test("[M6, D31] an email whose failure report throws is retried, and abandoned after many attempts", async (t) => {
  const bench = await openNewRealm(t);
  const id = await makeMail(bench);
  const gone: unknown[] = [];
  const { dispatcher, view } = bench.realm;
  dispatcher.observers.observe("mails", (deltas) => gone.push(...deltas.filter(({ row }) => row === null)));
  const max = limits.mail_attempts_max;
  for (let attempt = 1; attempt <= max; attempt++) {
    t.equal(gone.length, 0);
    dispatcher.send(command({ actor: "mail", id }, "mail.failed", undefined as never, null));
    await bench.idle();
    t.equal(view.row("mails", id)?.attempts, attempt < max ? attempt : undefined);
  }
  t.equal(letters(bench), max);
  t.equal(gone.length, 1, "the relay sees it");
});

t.test("[M6, D31] an email that was delivered is not sent again although its outcome report throws", async (t) => {
  const bench = await openNewRealm(t);
  const id = await makeMail(bench);
  const { dispatcher, view } = bench.realm;
  dispatcher.send(command({ actor: "mail", id }, "mail.abandon", { wasAccepted: true }, null));
  await bench.idle();
  t.equal(view.row("mails", id), undefined);
});
