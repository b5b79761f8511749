/**
 * The bounds of emails about missed messages (S3), each at the bound and one above it, and messages that wait when the
 * server stops (M8).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { outboxFiles, outboxMails, type Received } from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { periodMs, startMissed } from "../support/missed-messages.ts";
import { until } from "../support/realtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

/** Removes an email, as after its delivery. */
function remove(server: TestServer, id: number): void {
  const { lmdb } = server.realm;
  lmdb.transaction(() => lmdb.remove("mails", id));
}

const hourMs = 60 * 60 * 1000;
const of = (mails: readonly Received[], address: string) =>
  mails.filter(({ email }) => email.to?.[0]?.address === address);

t.test("[S3] missed_messages_per_mail_max: an email shows the newest messages and the number of others", async (t) => {
  const { bob, direct, due } = await startMissed(t);
  const max = limits.missed_messages_per_mail_max;
  for (let number = 1; number <= max; number++) await direct(`number ${number}.`, bob);
  const [full] = await due();
  t.match(full?.email.text, "number 1.");
  t.notMatch(full?.email.text, "Older messages");
  for (let number = 1; number <= max + 2; number++) await direct(`count ${number}.`, bob);
  const [over] = (await due()).map(({ email }) => email.text);
  t.notMatch(over, "count 2.");
  t.match(over, "count 3.");
  t.match(over, "Older messages of this conversation that you have not read either: 2.");
});

t.test("[S3] missed_messages_per_user_max: only the newest are kept, and the email says so", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  const max = limits.missed_messages_per_user_max;
  const row = () => server.realm.view.row("missedMessages", bob.userId);
  const first = await direct("one", bob);
  for (let number = 2; number <= max; number++) await direct("more", bob);
  t.match(row(), { isCut: false, messageIds: { length: max, 0: first } });
  await direct("last", bob);
  t.match(row(), { isCut: true, messageIds: { length: max, 0: first + 1 } });
  t.match((await due())[0]?.email.text, "There are older messages that are not counted here.");
});

t.test("[S3] missed_mail_characters_max: a message that does not fit is mentioned, but not shown", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  const { view } = server.realm;
  const fill = async (length: number) => {
    const id = await direct("x", bob);
    const message = view.row("messages", id);
    if (message !== undefined)
      server.write("messages", id, { ...message, rendered: `<p>${"y".repeat(length - 7)}</p>` });
  };
  await fill(limits.missed_mail_characters_max);
  t.notMatch((await due())[0]?.email.text, "too long");
  for (const conversation of [0, 1]) await fill(limits.missed_mail_characters_max + conversation);
  t.match((await due())[0]?.email.text, "(This message is too long for an email.)");
});

t.test("[S3] missed_mail_names_max: a large group is shown as some names and a number", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  const people = [];
  for (let number = 0; number < limits.missed_mail_names_max; number++) people.push(await server.user(`P${number}-`));
  await direct("at the bound", bob, ...people.slice(1));
  t.equal(
    of(await due(), "Bob0@example.com")[0]?.email.subject,
    "Direct messages with Ann 0, P1- 0, P2- 0, P3- 0, P4- 0",
  );
  await direct("over", bob, ...people);
  t.equal(
    of(await due(), "Bob0@example.com")[0]?.email.subject,
    "Direct messages with Ann 0, P0- 0, P1- 0, P2- 0, P3- 0 and 1 more",
  );
});

t.test("[S3] missed_mails_per_hour_max: further emails wait for the next hour, unless they are read", async (t) => {
  const { server, ann, bob, say, due, pass, mails } = await startMissed(t);
  const channel = await server.owner.createChannel("kitchen", [ann, bob]);
  const max = limits.missed_mails_per_hour_max;
  const ids: number[] = [];
  for (let number = 0; number < max + 2; number++) ids.push(await say(channel, `topic ${number}`, "@**Bob 0**"));
  t.equal(of(await due(), "Bob0@example.com").length, max);
  await bob.post("/messages/flags", { messages: [ids.at(-1) ?? 0], op: "add", flag: "read" });
  await pass(hourMs - 1);
  t.strictSame(await mails(), []);
  await pass(1);
  const subjects = (await mails()).map(({ email }) => email.subject);
  t.strictSame(subjects, [`#kitchen > topic ${max}`]);
});

t.test("[S3] missed_users_per_command_max: many recipients are checked in slices, each of them once", async (t) => {
  const { server, ann, say, pass } = await startMissed(t);
  const max = limits.missed_users_per_command_max;
  const ids = await server.users("many", max * 2 + 1);
  const channel = await ann.createChannel("hall", []);
  for (let start = 0; start < ids.length; start += max) {
    const principals = JSON.stringify(ids.slice(start, start + max));
    await ann.post("/users/me/subscriptions", { subscriptions: JSON.stringify([{ name: "hall" }]), principals });
  }
  await pass(0);
  const row = (id: number) => server.realm.view.row("missedMessages", id);
  const followed = ids.slice(0, max + 1);
  for (const id of followed) {
    server.write("topicPolicies", [channel, "lunch", id], { visibilityPolicy: 3 });
    server.write("userTopics", [id, channel, "lunch"], { topic: "lunch", visibilityPolicy: 3, changedAt: 0 });
  }
  const missedBy = (messageId: number) => ids.filter((id) => row(id)?.messageIds.includes(messageId) === true);
  const toFollowers = await say(channel, "lunch", "followers");
  await pass(0);
  t.strictSame(missedBy(toFollowers), followed);
  const toAll = await server.owner.patch("/realm", {
    can_mention_many_users_group: { new: server.realm.view.groups.system("role:everyone")?.id },
  });
  t.equal(toAll.status, 200);
  const everybody = await say(channel, "other", "@**all** hi");
  await pass(0);
  t.strictSame(missedBy(everybody), ids);
});

t.test(
  "[S3, M8] a user has one timer, however often the batching period is extended or mails are written",
  async (t) => {
    const { server, bob, direct, pass, mails } = await startMissed(t);
    const timers = () => server.realm.lmdb.count("timers");
    const period = async (seconds: number) => {
      const answer = await bob.patch("/settings", { email_notifications_batching_period_seconds: seconds });
      t.equal(answer.status, 200);
    };
    await direct("first", bob);
    for (let number = 1; number <= 5; number++) await period(120 + number);
    t.equal(timers(), 1);
    await pass(periodMs);
    t.strictSame(await mails(), [], "postponed by five seconds");
    t.equal(timers(), 1);
    await pass(5000);
    t.equal((await mails()).length, 1);
    await period(1);
    for (let number = 1; number <= 5; number++) {
      await direct(`again ${number}`, bob);
      await pass(1000);
    }
    t.equal((await mails()).length, 5);
    t.equal(timers(), 1, "the end of the hour");
    await pass(hourMs);
    t.equal(timers(), 0);
    t.equal(server.realm.view.row("missedMessages", bob.userId), undefined);
  },
);

t.test("[S3] missed_mails_pending_max: no email is written while that many wait", async (t) => {
  const { server, bob, direct, pass } = await startMissed(t);
  const max = limits.missed_mails_pending_max;
  const { view, dispatcher } = server.realm;
  const later = { template: "account-deactivated", to: "x@example.org", data: {}, createdAt: 0, attempts: 1 } as const;
  const dueAt = view.now + 1000 * hourMs;
  server.writeMany(
    "mails",
    Array.from({ length: max }, (_, index) => [index + 1, { ...later, id: index + 1, dueAt }] as const),
  );
  dispatcher.realmCounters.turn.counters.mail = max;
  await direct("waits", bob);
  await pass(periodMs);
  t.equal(view.counter("mail"), max, "at the bound");
  t.equal(view.row("missedMessages", bob.userId)?.messageIds.length, 1);
  remove(server, max);
  await pass(limits.missed_mails_pause_ms - 1);
  t.equal(view.counter("mail"), max, "asked again later");
  await pass(1);
  t.equal(view.counter("mail"), max + 1, "one below it");
});

t.test("[M6] missed_timer_late_ms_max: a batch whose timer is lost is mailed with the next message", async (t) => {
  const { server, bob, direct, pass, mails } = await startMissed(t);
  const row = () => server.realm.view.row("missedMessages", bob.userId);
  await direct("first", bob);
  const before = row();
  if (before === undefined) throw new Error("nothing is remembered");
  // As after three attempts that threw.
  const [timer] = server.realm.lmdb.keys("timers", { limit: 1 });
  if (timer === undefined) throw new Error("no timer");
  server.realm.lmdb.transaction(() => server.realm.lmdb.remove("timers", timer));
  await pass(periodMs + limits.missed_timer_late_ms_max);
  await direct("at the bound", bob);
  await pass(0);
  t.strictSame(await mails(), []);
  await pass(1);
  await direct("over", bob);
  await pass(0);
  t.match((await mails())[0]?.email.text, /first[\s\S]*at the bound[\s\S]*over/);
});

t.test("[M8] messages missed before a stop are in one email after the next start", async (t) => {
  const { server, clock, bob, direct } = await startMissed(t);
  await direct("before the stop", bob);
  clock.release();
  await server.stop();
  const later = new ManualClock(clock.now() + periodMs);
  for (const _start of [1, 2]) {
    const again = await startTestServer(t, { dataDir: server.dataDir, clock: later });
    await until(() => again.realm.view.counter("mail") === 1);
    const [mail] = await outboxMails(server.dataDir, 1);
    t.match(mail?.email.text, "before the stop");
    t.match(
      mail?.email.text,
      /http:\/\/127\.0\.0\.1:\d+\/#narrow/,
      "without SITE_URL, the address at which the server listens",
    );
    later.advance(hourMs);
    await again.realm.dispatcher.idle();
    t.equal(outboxFiles(server.dataDir).length, 1);
    const stopped = again.stop();
    later.advance(10_000);
    await stopped;
  }
});
