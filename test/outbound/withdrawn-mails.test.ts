/**
 * Emails about messages that wait for another attempt, and the checks before each attempt (actors/mail/withdrawn.ts).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import { outboxFiles } from "../support/mail.ts";
import { did, type MissedBench, startMissed } from "../support/missed-messages.ts";
import { until } from "../support/realtime.ts";

t.test(
  "[S1] an email waiting for another attempt is dropped when its message is deleted, or its recipient deactivated or readdressed",
  async (t) => {
    const cases: Readonly<Record<string, (bench: MissedBench, messageId: number) => Promise<void>>> = {
      "as it was": async () => undefined,
      deleted: ({ server }, id) => did(server.owner.delete(`/messages/${id}`)),
      deactivated: ({ server, bob }) => did(server.owner.delete(`/users/${bob.userId}`)),
      "another address": async ({ server, bob }) =>
        server.changeUser(bob.userId, (user) => ({ ...user, email: "b@x.org" })),
    };
    for (const [title, change] of Object.entries(cases)) {
      const bench = await startMissed(t);
      const { server, ann, bob, clock } = bench;
      const channel = await server.owner.createChannel("attic", [server.owner, ann, bob]);
      const id = await bench.say(channel, "boxes", "words");
      const mail = {
        id: 1000,
        template: "missed-messages-hidden",
        to: "Bob0@example.com",
        data: { count: 1, isCut: false, namesRealm: false, hiddenBy: "person", userId: bob.userId, messageIds: [id] },
        createdAt: clock.now(),
        attempts: 1,
        dueAt: clock.now(),
      } as const;
      server.write("mails", 1000, { ...mail, data: { ...mail.data, realmName: "Realm", fullName: "Bob" } });
      await change(bench, id);
      server.realm.dispatcher.send(command({ actor: "mail", id: 1000 }, "mail.due", {}, null));
      await server.realm.dispatcher.idle();
      await until(() => server.realm.view.row("mails", 1000) === undefined);
      t.equal(
        outboxFiles(server.dataDir).some((name) => name.includes("-1000")),
        title === "as it was",
        title,
      );
      await server.stop();
    }
  },
);

/** An email that failed once, and is due now. */
function waiting({ clock }: MissedBench): MailRecord {
  const email = "Bob0@example.com";
  const place = { email, client: "curl", address: "192.0.2.1", at: clock.now(), timezone: "" };
  const data = { realmName: "Realm", fullName: "Bob", ...place };
  return { id: 1000, template: "new-login", to: email, data, createdAt: clock.now(), attempts: 1, dueAt: clock.now() };
}

t.test("[D174] an email waiting for another attempt is dropped when its recipient switched them off", async (t) => {
  for (const isWanted of [true, false]) {
    const bench = await startMissed(t);
    const { server, bob } = bench;
    await did(bob.patch("/settings", { enable_login_emails: isWanted }));
    server.write("mails", 1000, waiting(bench));
    server.realm.dispatcher.send(command({ actor: "mail", id: 1000 }, "mail.due", {}, null));
    await server.realm.dispatcher.idle();
    await until(() => server.realm.view.row("mails", 1000) === undefined);
    const isSent = outboxFiles(server.dataDir).some((name) => name.includes("-1000"));
    t.equal(isSent, isWanted, isWanted ? "wanted" : "switched off");
    await server.stop();
  }
});

t.test("[D174] a dead letter that its recipient has switched off is not sent by a retry", async (t) => {
  const bench = await startMissed(t);
  const { server, bob } = bench;
  const { dispatcher, view } = server.realm;
  const delivery = { kind: "mail", id: 1000, template: "new-login", to: "Bob0@example.com" } as const;
  const died = command({ actor: "mail", id: 1000 }, "mail.failed", { isPermanent: true, reason: "no" }, null);
  const letter = { sequence: 7, command: died, diedAt: 1, error: "e", attempts: 1, delivery } as const;
  server.write("deadLetters", 7, letter);
  server.write("deadMails", 1000, waiting(bench));
  const retry = () => dispatcher.ask(command({ actor: "realm" }, "dead-letter.retry", { id: 7 }, null));
  await did(bob.patch("/settings", { enable_login_emails: false }));
  t.match(await retry(), { kind: "refused", msg: /switched such emails off/ });
  t.ok(view.row("deadLetters", 7), "it stays");
  await did(bob.patch("/settings", { enable_login_emails: true }));
  t.not((await retry()).kind, "refused");
  await until(() => outboxFiles(server.dataDir).some((name) => name.includes("-1000")));
  t.equal(view.row("deadLetters", 7), undefined);
});
