/**
 * Delivery of emails (D31): by SMTP or as files, after the flush of the turn that caused them, retried after failures
 * and crashes, finally abandoned. A mail server delays no user, and no secret is logged.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { readConfig } from "../../src/app/config.ts";
import { type RunningServer, startServer } from "../../src/app/server.ts";
import { MailRelay } from "../../src/outbound/mail/mail-relay.ts";
import { MailSender } from "../../src/outbound/mail/mail-sender.ts";
import type { MailTransport } from "../../src/outbound/mail/transport.ts";
import {
  logIn,
  MailServer,
  noLinks,
  outboxFiles,
  outboxMails,
  outboxOf,
  pendingMails,
  smtpError,
} from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { openNewRealm } from "../support/runtime.ts";
import { startTestServer, type Teardown, TestServer, temporaryFolder } from "../support/server.ts";

const owner = 2;
const startedAt = Date.UTC(2026, 4, 1, 12);

/** The owner has logged in once. A login from another device causes an email. */
async function ready(t: Teardown, far: MailServer | null, options: { clock?: ManualClock; dataDir?: string } = {}) {
  const environment: Record<string, string> =
    far === null ? {} : { SMTP_URL: far.url, MAIL_FROM: "Chat <chat@example.org>" };
  const server = await startTestServer(t, { environment, ...options });
  await logIn(server, owner, "home");
  return server;
}

function deadLetters(server: TestServer) {
  return server.realm.view.rows("deadLetters", { limit: 10 });
}

t.test("[D31] without a mail server, emails are written as files that only the owner may read", async (t) => {
  const server = await ready(t, null);
  t.notOk(existsSync(outboxOf(server.dataDir)), "no email, no folder");
  await logIn(server, owner, "one");
  await logIn(server, owner, "two");
  await until(() => pendingMails(server).length === 0);
  t.equal(statSync(outboxOf(server.dataDir)).mode & 0o777, 0o700);
  const [first, second] = await outboxMails(server.dataDir, 2);
  t.strictSame(outboxFiles(server.dataDir).sort(), ["1-1.eml", "1-2.eml"]);
  t.equal(statSync(join(outboxOf(server.dataDir), "1-1.eml")).mode & 0o777, 0o600);
  t.match(first?.email, {
    from: { name: "Colloquy", address: "noreply@localhost" },
    to: [{ name: "Owner", address: "owner@localhost" }],
    subject: "New login to Colloquy from Program",
  });
  t.match(first?.raw, /^[^\n]+\r\n[\s\S]*\r\n\r\n/, "line endings are those that mail programs expect");
  t.not(first?.email.messageId, second?.email.messageId);
  const found = readdirSync(outboxOf(server.dataDir)).filter((name) => !name.endsWith(".eml"));
  t.strictSame(found, [], "no temporary file is left");
});

t.test("[D31] with SMTP_URL, emails are sent to the mail server and their rows are removed", async (t) => {
  const far = await MailServer.start(t);
  const server = await ready(t, far);
  await logIn(server, owner, "one");
  const { email, recipients } = await far.mail(1);
  t.strictSame(recipients, ["owner@localhost"]);
  t.match(email, { from: { name: "Chat", address: "chat@example.org" }, subject: /New login/ });
  t.match(email.messageId, /^<[0-9a-f]{32}@example\.org>$/);
  t.match(email.headers.find(({ key }) => key === "auto-submitted")?.value, "auto-generated");
  await until(() => pendingMails(server).length === 0);
  t.notOk(existsSync(outboxOf(server.dataDir)));
});

t.test("[D31] each of many emails is sent once, over few connections", async (t) => {
  const far = await MailServer.start(t);
  const server = await ready(t, far);
  const count = 40;
  await Promise.all(Array.from({ length: count }, (_, index) => logIn(server, owner, `place ${index}`)));
  await far.mail(count);
  await until(() => pendingMails(server).length === 0);
  t.equal(far.received.length, count);
  t.equal(new Set(far.received.map(({ email }) => email.messageId)).size, count);
  t.ok(far.connections <= limits.mail_deliveries_concurrent_max, "mail_deliveries_concurrent_max");
});

t.test("[D31] an email that was not accepted is retried with growing pauses, as the same email", async (t) => {
  const clock = new ManualClock(startedAt);
  const far = await MailServer.start(t);
  const server = await ready(t, far, { clock });
  t.teardown(() => clock.release());
  far.answers.push(smtpError(451), smtpError(451), null);
  await logIn(server, owner, "one");
  for (const [attempts, waitMs] of [
    [1, limits.mail_back_off_ms_min],
    [2, 2 * limits.mail_back_off_ms_min],
  ] as const) {
    await until(() => pendingMails(server)[0]?.attempts === attempts);
    t.equal(pendingMails(server)[0]?.dueAt, clock.now() + waitMs);
    clock.advance(waitMs - 1);
    await server.realm.dispatcher.idle();
    t.equal(far.refusals, attempts, "not yet");
    clock.advance(1);
  }
  const { email } = await far.mail(1);
  t.equal(email.date, new Date(startedAt).toISOString(), "the date is that of the turn that caused it");
  await until(() => pendingMails(server).length === 0);
  t.equal(far.refusals, 2);
  t.equal(deadLetters(server).length, 0);
});

t.test("[S3] mail_attempts_max: after that many attempts the email is a dead letter without its text", async (t) => {
  const clock = new ManualClock(startedAt);
  const far = await MailServer.start(t);
  const server = await ready(t, far, { clock });
  t.teardown(() => clock.release());
  far.answers.push(...Array.from({ length: limits.mail_attempts_max + 1 }, () => smtpError(451)));
  await logIn(server, owner, "one", { client: "Peculiar" });
  for (let attempts = 1; attempts < limits.mail_attempts_max; attempts++) {
    await until(() => pendingMails(server)[0]?.attempts === attempts);
    const waitMs = (pendingMails(server)[0]?.dueAt ?? 0) - clock.now();
    t.ok(waitMs <= limits.mail_back_off_ms_max, "mail_back_off_ms_max");
    clock.advance(waitMs);
  }
  await until(() => pendingMails(server).length === 0);
  const letters = deadLetters(server);
  t.match(letters, [{ row: { command: { type: "mail.failed" }, error: /new-login.*owner@localhost.*451/ } }]);
  t.notMatch(JSON.stringify(letters), "Peculiar");
  t.equal(far.refusals, limits.mail_attempts_max);
});

t.test("[D31] an email whose recipient or content is rejected permanently is not retried", async (t) => {
  const clock = new ManualClock(startedAt);
  const recipients = await MailServer.start(t, {
    onRcptTo: (_address, _session, callback) => callback(smtpError(550)),
  });
  const texts = await MailServer.start(t);
  texts.answers.push(smtpError(554));
  for (const far of [recipients, texts]) {
    const server = await ready(t, far, { clock });
    await logIn(server, owner, "one");
    await until(() => deadLetters(server).length === 1);
    t.equal(pendingMails(server).length, 0);
    t.equal(far.received.length, 0);
  }
  clock.release();
});

t.test("[D31] emails wait while the configuration is wrong, and are sent when it is corrected", async (t) => {
  const clock = new ManualClock(startedAt);
  const password = "wrong and secret";
  const login = await MailServer.start(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(smtpError(535)),
  });
  const sender = await MailServer.start(t, { onMailFrom: (_address, _session, callback) => callback(smtpError(553)) });
  const urls = [
    login.url.replace("smtp://", `smtp://user:${encodeURIComponent(password)}@`),
    sender.url,
    "smtp://127.0.0.1:1",
    "smtp://nowhere.invalid",
  ];
  for (const SMTP_URL of urls) {
    const server = await startTestServer(t, { environment: { SMTP_URL }, clock });
    await logIn(server, owner, "home");
    await logIn(server, owner, "one");
    await until(() => pendingMails(server)[0]?.attempts === 1);
    t.equal(deadLetters(server).length, 0, SMTP_URL);
  }
  clock.release();
});

t.test("[S2] the log contains no email address, no text and no password of the mail server", async (t) => {
  const lines: string[] = [];
  const log = pino(
    { level: "trace" },
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const far = await MailServer.start(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(smtpError(535)),
  });
  const config = readConfig({
    PORT: "0",
    DATA_DIR: temporaryFolder(t),
    SMTP_URL: far.url.replace("smtp://", "smtp://postmaster:s3cret@"),
  });
  const die = (error: unknown): never => {
    throw error;
  };
  const running: RunningServer = await startServer(config, { log, die });
  t.teardown(() => running.stop());
  const server = new TestServer(running, running.url, config.dataDir);
  await logIn(server, owner, "home");
  await logIn(server, owner, "one", { client: "Peculiar" });
  await until(() => pendingMails(server)[0]?.attempts === 1);
  t.match(lines.join(""), /"mail":1,"template":"new-login","attempts":1,"reason":"EAUTH 535"/);
  t.notMatch(lines.join(""), /s3cret|postmaster|owner@localhost|Peculiar/);
});

/** A mail server that accepts connections and sends nothing. */
function silent(t: Test): Promise<MailServer> {
  return MailServer.start(t, { onConnect: () => undefined });
}

t.test("[D31] a slow mail server delays no request, and delays a stop only briefly", async (t) => {
  const clock = new ManualClock(startedAt);
  const far = await silent(t);
  const server = await ready(t, far, { clock });
  const count = limits.mail_deliveries_concurrent_max + 2;
  for (let index = 0; index < count; index++) await logIn(server, owner, `place ${index}`);
  await far.until(() => far.connections === limits.mail_deliveries_concurrent_max);
  t.equal((await server.owner.get("/users/me")).status, 200);
  t.ok(await server.owner.say("general", "lunch", "soup"), "writes go on");
  t.equal(pendingMails(server).length, count);

  let isStopped = false;
  const stopping = server.stop().then(() => {
    isStopped = true;
  });
  await until(() => {
    // The rest of a stop waits for the disk, whatever this clock says.
    if (clock.now() - startedAt < 2 * limits.mail_drain_ms_max) clock.advance(1);
    return isStopped;
  });
  await stopping;
  t.ok(isStopped, "it waits for mail_drain_ms_max at most");

  const again = await ready(t, null, { dataDir: server.dataDir });
  const mails = await outboxMails(server.dataDir, count);
  t.equal(mails.length, count, "[M3] an email that was not accepted is sent after the next start");
  await until(() => pendingMails(again).length === 0);
});

t.test("[S3] mail_delivery_ms_max: a delivery times out, and the email is retried", async (t) => {
  const clock = new ManualClock(startedAt);
  const far = await silent(t);
  const server = await ready(t, far, { clock });
  t.teardown(() => clock.release());
  await logIn(server, owner, "one");
  await far.until(() => far.connections === 1);
  clock.advance(limits.mail_delivery_ms_max - 1);
  await server.realm.dispatcher.idle();
  t.equal(pendingMails(server)[0]?.attempts, 0);
  clock.advance(1);
  await until(() => pendingMails(server)[0]?.attempts === 1);
  t.pass("it took too long");
});

t.test("[M8] an email waiting for its next attempt is sent when due after the next start", async (t) => {
  const clock = new ManualClock(startedAt);
  const far = await MailServer.start(t);
  far.answers.push(smtpError(451));
  const server = await ready(t, far, { clock });
  await logIn(server, owner, "one");
  await until(() => pendingMails(server)[0]?.attempts === 1);
  await server.stop();
  const again = await ready(t, far, { clock, dataDir: server.dataDir });
  t.teardown(() => clock.release());
  t.equal(pendingMails(again)[0]?.attempts, 1);
  clock.advance(limits.mail_back_off_ms_min);
  await far.mail(1);
  await until(() => pendingMails(again).length === 0);
});

t.test("[S3] mails_waiting_in_memory_max: emails beyond the bound are read later, and all are sent", async (t) => {
  const bench = await openNewRealm(t);
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const names: string[] = [];
  const transport: MailTransport = {
    async send({ name }) {
      await gate;
      names.push(name);
    },
    close: async () => undefined,
  };
  const sender = { name: null, address: "chat@example.org" };
  const log = { warn: () => t.fail(), error: () => t.fail() };
  new MailRelay(bench.realm, 7, new MailSender({ transport, sender, clock: bench.clock, log }), noLinks);
  const count = limits.mails_waiting_in_memory_max + limits.mail_deliveries_concurrent_max + 10;
  const logins = Array.from({ length: count + 1 }, (_, index) => {
    const login = { fingerprint: `place ${index}`, client: "Program", address: "192.0.2.7" };
    return bench.ask(command({ actor: "user", id: owner }, "user.api-key.add", { hash: `key ${index}`, login }, owner));
  });
  await Promise.all(logins);
  t.equal(bench.lmdb.count("mails"), count);
  open();
  await until(() => bench.lmdb.count("mails") === 0);
  t.strictSame(new Set(names), new Set(Array.from({ length: count }, (_, index) => `7-${index + 1}`)));
  t.equal(names.length, count);
});

t.test("[D31] SMTP_URL and MAIL_FROM are validated, and error messages never repeat the address", async (t) => {
  const smtp = (SMTP_URL: string) => readConfig({ SMTP_URL }).smtpServer;
  t.equal(readConfig({}).smtpServer, null);
  t.strictSame(smtp("smtp://mail.example.org"), {
    host: "mail.example.org",
    port: 587,
    isSecure: false,
    login: null,
  });
  t.strictSame(smtp("smtps://a%40b:p%3Aw%2F@[::1]:2465/"), {
    host: "::1",
    port: 2465,
    isSecure: true,
    login: { user: "a@b", password: "p:w/" },
  });
  t.equal(smtp("smtps://mail.example.org")?.port, 465);
  for (const bad of [
    "mail.example.org",
    "http://s3cret@mail",
    "smtp://",
    "smtp://s3cret@mail",
    "smtp://a:s3cret@mail?debug=true",
    "smtp://a:s3cret@mail/path",
    "smtp://a:s3cret%0d%0a@mail",
    "smtp://a:s3cret%zz@mail",
    "smtp://a:s3cret@mail:70000",
  ]) {
    t.throws(() => smtp(bad), { name: "BadConfig", message: /^SMTP_URL cannot be used((?!s3cret).)*$/ }, bad);
  }
  const from = (MAIL_FROM: string) => readConfig({ MAIL_FROM }).mailSender;
  t.strictSame(from("a@example.org"), { name: null, address: "a@example.org" });
  t.strictSame(from('"Our, chat" <a@example.org>'), { name: "Our, chat", address: "a@example.org" });
  for (const bad of ["nobody", "a b@example.org", "x <a@b> y", "x <a@b\r\n>", "x\r\nBcc: y <a@b>", "<>"]) {
    t.throws(() => from(bad), { name: "BadConfig", message: /^MAIL_FROM/ }, bad);
  }
});
