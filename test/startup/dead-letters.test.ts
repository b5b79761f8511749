/**
 * Dead letters on the command line (M6, D169, S2): abandoned work is listed without secrets or texts, and is sent when
 * an operator retries it. Real servers, mail servers, receivers and processes.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { logIn, MailServer, smtpError } from "../support/mail.ts";
import { type Exited, runCli } from "../support/process.ts";
import { until } from "../support/realtime.ts";
import { privateAllowed, Receiver, status, webhookBot } from "../support/receiver.ts";
import { commands, openNewRealm } from "../support/runtime.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

function letters(server: TestServer): number {
  return server.realm.lmdb.count("deadLetters");
}

function isRefused(t: Test, { code, stderr }: Exited, why: RegExp, expected = 1): void {
  t.equal(code, expected);
  t.match(stderr, /^colloquy: [^\n]+\n$/, "one line");
  t.match(stderr, why);
}

const listLine = (what: string) => new RegExp(`^\\d+  \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z after 1 attempt  ${what}\\n$`);

t.test("[D169, S2] an abandoned mail is listed without its text, and is sent when it is retried", async (t) => {
  const dataDir = temporaryFolder(t);
  const far = await MailServer.start(t);
  const environment = { SMTP_URL: far.url };
  far.answers.push(smtpError(554));
  const first = await startTestServer(t, { dataDir, environment });
  await logIn(first, 2, "home");
  await logIn(first, 2, "one", { client: "Peculiar" });
  await until(() => letters(first) === 1 && first.realm.isStored);
  const running = await runCli(t, dataDir, "dead-letters", "list");
  t.match(running.stdout, listLine("email 1 \\(new-login\\) to owner@localhost: .*554.*"), "while the server runs");
  const id = /^\d+/.exec(running.stdout)?.[0] ?? "";
  const shown = await runCli(t, dataDir, "dead-letters", "show", id);
  t.match(JSON.parse(shown.stdout), { id: Number(id), kind: "mail", attempts: 1, reason: /554/ });
  t.notMatch(running.stdout + shown.stdout, "Peculiar");
  await first.stop();
  isRefused(t, await runCli(t, dataDir, "dead-letters", "show", "x"), /"x" is not an id/, 64);
  isRefused(t, await runCli(t, dataDir, "dead-letters", "show", "99999"), /there is no such dead letter/);
  const retried = await runCli(t, dataDir, "dead-letters", "retry", id);
  t.strictSame([retried.code, retried.stdout], [0, `${id}: is due now\n`]);
  const second = await startTestServer(t, { dataDir, environment });
  await until(() => far.received.length === 1);
  t.match((await runCli(t, dataDir, "dead-letters", "list")).stdout, "no dead letters\n");
  t.equal(second.realm.lmdb.count("deadMails"), 0);
});

t.test("[D169, S2] an email that contains a key is not kept: a retry says what to do instead", async (t) => {
  const dataDir = temporaryFolder(t);
  const far = await MailServer.start(t);
  far.answers.push(smtpError(554));
  const server = await startTestServer(t, { dataDir, environment: { SMTP_URL: far.url } });
  const invited = { invitee_emails: "new@example.com", invite_expires_in_minutes: 60, stream_ids: [] };
  t.equal((await server.owner.post("/invites", invited)).status, 200);
  await until(() => letters(server) === 1 && server.realm.isStored);
  t.equal(server.realm.lmdb.count("deadMails"), 0);
  await server.stop();
  const retried = await runCli(t, dataDir, "dead-letters", "retry", "all");
  t.match(retried, { code: 1, stdout: /invite again/, stderr: /1 dead letters were not changed/ });
  t.match(await runCli(t, dataDir, "dead-letters", "drop", "all"), { code: 0, stdout: /dropped/ });
  t.match((await runCli(t, dataDir, "dead-letters", "list")).stdout, "no dead letters\n");
});

t.test("[spec 6] a message that a webhook rejected is listed without its text, and is sent when retried", async (t) => {
  const dataDir = temporaryFolder(t);
  const { environment } = privateAllowed;
  const receiver = await Receiver.start(t);
  const first = await startTestServer(t, { dataDir, environment });
  const anna = await first.user("anna");
  const { bot } = await webhookBot(anna, "hook", receiver.url);
  receiver.next.push(status(404));
  await anna.post("/messages", { type: "direct", to: [bot.userId], content: "a secret text" });
  // The tool reads the store, which gets a turn a little later.
  await until(() => letters(first) === 1 && first.realm.isStored);
  const { stdout } = await runCli(t, dataDir, "dead-letters", "list");
  t.match(
    stdout,
    listLine(`message \\d+ for the outgoing webhook of bot ${bot.userId} \\(.*\\): .*refused, status 404`),
  );
  t.notMatch(stdout, "secret");
  await first.stop();
  const before = receiver.calls.length;
  t.equal((await runCli(t, dataDir, "dead-letters", "retry", "all")).code, 0);
  await startTestServer(t, { dataDir, environment });
  const { text } = await receiver.call(before + 1);
  t.match(JSON.parse(text), { data: "a secret text" });
});

t.test("[M6] a command that threw too often is listed without its parameters, and can be retried", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  first.realm.dispatcher.send(commands.throwing());
  await until(() => letters(first) === 1 && first.realm.isStored);
  const { stdout } = await runCli(t, dataDir, "dead-letters", "list");
  t.match(stdout, /after 3 attempts {2}realm\.create for realm: Error: /);
  await first.stop();
  const [id] = stdout.split(" ");
  t.match(await runCli(t, dataDir, "dead-letters", "retry", "all"), { code: 0, stdout: `${id}: is due now\n` });
  const second = await startTestServer(t, { dataDir });
  await until(() => letters(second) === 1 && second.realm.isStored);
  const again = await runCli(t, dataDir, "dead-letters", "list");
  t.match(again.stdout, /after 3 attempts {2}realm\.create for realm: Error: /, "it threw again");
  t.not(again.stdout.split(" ")[0], id);
});

t.test("[S3] dead_letters_max: one more evicts the oldest", async (t) => {
  const realm = await openNewRealm(t);
  const { lmdb } = realm;
  const max = limits.dead_letters_max;
  lmdb.transaction(() => {
    for (let sequence = 1; sequence <= max + 1; sequence++) {
      const delivery = { kind: "mail", id: sequence, template: "new-login", to: "o@x.y" } as const;
      const command = commands.throwing();
      lmdb.put("deadLetters", sequence, { sequence, command, diedAt: 1, error: "e", attempts: 1, delivery });
      const mail = { id: sequence, template: "new-login", to: "o@x.y", data: {}, createdAt: 1, attempts: 1, dueAt: 1 };
      if (sequence <= 2) lmdb.put("deadMails", sequence, mail);
    }
  });
  realm.clock.advance(60_100);
  t.equal(lmdb.count("deadLetters"), max);
  t.strictSame(lmdb.keys("deadMails", { limit: 9 }), [2], "a dead letter's email is removed with it");
  realm.clock.advance(60_100);
  t.equal(lmdb.count("deadLetters"), max, "as many as the bound stay");
});
