/**
 * A delivery waits until what it shows is durable (M1). If a turn removes its row meanwhile, because an earlier attempt
 * succeeded or its account ended, nothing may be sent any more (D31, spec 6).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { botTypes, webhookInterfaces } from "../../schemas/bots.ts";
import { MailRelay } from "../../src/outbound/mail/mail-relay.ts";
import { MailSender } from "../../src/outbound/mail/mail-sender.ts";
import { WebhookDispatch } from "../../src/outbound/webhooks/dispatch.ts";
import { WebhookRelay } from "../../src/outbound/webhooks/webhook-relay.ts";
import { noLinks } from "../support/mail.ts";
import { until } from "../support/realtime.ts";
import { Receiver } from "../support/receiver.ts";
import { answerOf, commands, type OpenRealm, openNewRealm, ownerId, turn } from "../support/runtime.ts";

/** Memory is ahead of the disk by a turn. @returns a function that ends this */
async function aheadOfDisk(bench: OpenRealm): Promise<() => void> {
  const goOn = bench.stallDisk();
  void bench.ask(commands.post("a", "not durable yet"));
  await until(() => !bench.realm.gate.isOpen);
  return goOn;
}

async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function requestMail(bench: OpenRealm, address: string): Promise<void> {
  const params = { newEmail: address, keyHash: address, link: "http://localhost/x" };
  answerOf(await bench.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", params, ownerId)));
}

t.test("[D31] an email whose row is removed while it waits for the disk is not sent", async (t) => {
  const bench = await openNewRealm(t);
  await requestMail(bench, "first@example.com");
  const goOn = await aheadOfDisk(bench);
  const sent: string[] = [];
  const transport = { send: async ({ name }: { name: string }) => void sent.push(name), close: async () => undefined };
  const sender = { name: null, address: "chat@example.org" };
  const mailSender = new MailSender({ transport, sender, clock: bench.clock, log: quiet });
  new MailRelay(bench.realm, 7, mailSender, noLinks);
  await turns();
  bench.realm.dispatcher.send(command({ actor: "mail", id: 1 }, "mail.sent", {}, null));
  await until(() => bench.realm.view.row("mails", 1) === undefined);
  t.strictSame(sent, [], "nothing leaves before the disk");
  goOn();
  await requestMail(bench, "second@example.com");
  await until(() => bench.lmdb.count("mails") === 0);
  t.strictSame(sent, ["7-2"]);
});

t.test("[spec 6] a webhook whose row is removed while it waits for the disk is not called", async (t) => {
  const bench = await openNewRealm(t);
  const receiver = await Receiver.start(t);
  const bot = answerOf(await bench.ask(commands.createBot(1, botTypes.outgoingWebhook, ownerId)));
  const botId = bot["user_id"] as number;
  answerOf(await bench.ask(commands.direct([ownerId, botId], "first")));
  const goOn = await aheadOfDisk(bench);
  const dispatch = new WebhookDispatch({
    clock: bench.clock,
    log: quiet,
    mayBePrivate: true,
    requestOf: (_view, { id }) => ({
      url: `http://127.0.0.1:${receiver.port}/${id}`,
      contentType: "application/json",
      body: "{}",
      interfaceType: webhookInterfaces.generic,
    }),
    compose: () => null,
  });
  new WebhookRelay(bench.realm, 1, dispatch);
  await turns();
  bench.realm.dispatcher.send(command({ actor: "webhook", botId, id: 1 }, "webhook.answered", { reply: null }, null));
  await until(() => bench.realm.view.row("webhookDeliveries", [botId, 1]) === undefined);
  goOn();
  answerOf(await bench.ask(commands.direct([ownerId, botId], "second")));
  await until(() => bench.lmdb.count("webhookDeliveries") === 0);
  const paths = receiver.calls.map(({ path }) => path);
  t.strictSame(paths, ["/2"]);
});
