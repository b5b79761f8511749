/**
 * What is on its way, when the word of how it went dies (M6): its row goes with a dead letter, and nothing waits for it until the
 * next start.
 */
import t from "tap";
import { command } from "../../actors/commands.ts";
import { botTypes } from "../../schemas/bots.ts";
import type { WebhookFailure } from "../../schemas/webhooks.ts";
import { WebhookCourier } from "../../src/outbound/webhooks/courier.ts";
import { answerOf, commands, type OpenRealm, openFounded, ownerId, turn } from "../support/runtime.ts";

/** There is no such failure: whoever decides about it throws. */
const nonsense = "nonsense" as WebhookFailure;

async function makeMail(bench: OpenRealm): Promise<number> {
  const wish = { newEmail: "new@example.com", keyHash: "hash", link: "http://localhost/x" };
  answerOf(await bench.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", wish, ownerId)));
  const [id] = bench.environment.keys("mails", { limit: 1 });
  if (id === undefined) throw new Error("no mail was written");
  return id;
}

t.test("[M6, D31] webhooks whose outcome nobody can take in hold up no other of their bot", async (t) => {
  const bench = await openFounded(t);
  const bot = answerOf(await bench.ask(commands.createBot(1, botTypes.outgoingWebhook, ownerId)));
  const botId = bot["user_id"] as number;
  const carried: number[] = [];
  new WebhookCourier(bench.realm, 1, {
    log: { info: () => undefined },
    async deliver(_view, { id }) {
      carried.push(id);
      return { kind: "failed", failure: nonsense, status: 0 };
    },
  });
  for (const content of ["one", "two", "three"]) {
    answerOf(await bench.ask(commands.direct([ownerId, botId], content)));
  }
  for (let turns = 0; turns < 50; turns++) await turn();
  t.strictSame(carried, [1, 2, 3]);
  t.equal(bench.environment.count("webhookDeliveries"), 0);
  t.equal(bench.environment.count("deadLetters"), 3);
});

t.test("[M6, D31] a mail whose failure dies is not pending any more", async (t) => {
  const bench = await openFounded(t);
  const id = await makeMail(bench);
  const gone: unknown[] = [];
  const { dispatcher } = bench.realm;
  dispatcher.observers.observe("mails", (deltas) => gone.push(...deltas.filter(({ row }) => row === null)));
  dispatcher.tell(command({ actor: "mail", id }, "mail.failed", undefined as never, null));
  await bench.idle();
  t.equal(bench.environment.count("deadLetters"), 1);
  t.equal(bench.environment.count("mails"), 0);
  t.equal(gone.length, 1, "the courier sees it");
});
