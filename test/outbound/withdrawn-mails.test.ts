/**
 * Emails about messages that wait for another attempt, and the checks before each attempt (actors/mail/withdrawn.ts).
 */
import t from "tap";
import { command } from "../../actors/protocol/commands.ts";
import { changeUser, createChannel, realmOf, write } from "../support/conversation.ts";
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
        changeUser(server, bob.userId, (user) => ({ ...user, email: "b@x.org" })),
    };
    for (const [title, change] of Object.entries(cases)) {
      const bench = await startMissed(t);
      const { server, ann, bob, clock } = bench;
      const channel = await createChannel(server.owner, "attic", [server.owner, ann, bob]);
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
      write(server, "mails", 1000, { ...mail, data: { ...mail.data, realmName: "Realm", fullName: "Bob" } });
      await change(bench, id);
      realmOf(server).dispatcher.send(command({ actor: "mail", id: 1000 }, "mail.due", {}, null));
      await realmOf(server).dispatcher.idle();
      await until(() => realmOf(server).view.row("mails", 1000) === undefined);
      t.equal(
        outboxFiles(server.dataDir).some((name) => name.includes("-1000")),
        title === "as it was",
        title,
      );
      await server.stop();
    }
  },
);
