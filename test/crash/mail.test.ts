/**
 * The process is killed between the turn that wrote an email and its sending (M3): the next start finds the email and
 * sends it, also in organizations without any request.
 */
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { MailServer, outboxFiles, outboxMails } from "../support/mail.ts";
import { runCli, startProgram } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";

const password = "an owner's very own words";

/** A new user logs in from two programs: the second login causes an email. */
async function causeMail(owner: Client, email: string): Promise<void> {
  await owner.post("/users", { email, password, full_name: "Ann" });
  for (const program of ["First/1", "Second/1"]) {
    const headers = { "User-Agent": program };
    const answer = await owner.anonymous().post("/fetch_api_key", { username: email, password }, headers);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }
}

t.test("[M3] an email that the mail server has not answered at kill -9 is sent after the next start", async (t) => {
  const dataDir = temporaryFolder(t);
  const far = await MailServer.start(t, { onConnect: () => undefined });
  const killed = await startProgram(t, dataDir, { SMTP_URL: far.url });
  await causeMail(killed.owner, "ann@example.org");
  await far.until(() => far.connections === 1);
  await killed.program.end("SIGKILL");
  t.strictSame(outboxFiles(dataDir), []);
  const next = await startProgram(t, dataDir);
  const [mail] = await outboxMails(dataDir, 1);
  t.match(mail?.email, { subject: /from Second/, to: [{ name: "Ann", address: "ann@example.org" }] });
  t.equal((await next.program.end("SIGTERM")).code, 0);
  const [again] = await outboxMails(dataDir, 1);
  t.equal(again?.email.messageId, mail?.email.messageId, "once");
});

t.test("[M8] an organization without any request sends its emails after the start", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await startProgram(t, dataDir)).program.end("SIGTERM");
  const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost");
  t.equal(made.code, 0, made.stderr);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
  const far = await MailServer.start(t, { onConnect: () => undefined });
  const first = await startProgram(t, dataDir, { SMTP_URL: far.url });
  const owner = new HostClient(new Client(first.url, { email, key, userId: 2 }), "sales.example.org");
  await causeMail(owner, "ben@example.org");
  await far.until(() => far.connections === 1);
  t.equal((await first.program.end("SIGTERM")).code, 0, "a mail server that does not respond does not delay the exit");
  await startProgram(t, dataDir);
  await outboxMails(dataDir, 1);
  t.strictSame(outboxFiles(dataDir), ["2-1.eml"]);
});

t.test("[M8] the email about messages that wait at kill -9 is written once after the next start", async (t) => {
  const dataDir = temporaryFolder(t);
  const killed = await startProgram(t, dataDir);
  const made = await killed.owner.post("/users", { email: "cleo@example.org", password, full_name: "Cleo" });
  const waits = { email_notifications_batching_period_seconds: 2 };
  const fetched = await killed.owner.anonymous().post("/fetch_api_key", { username: "cleo@example.org", password });
  const account = { email: "cleo@example.org", key: String(fetched.body.api_key), userId: Number(made.body.user_id) };
  await new Client(killed.url, account).patch("/settings", waits);
  const sent = await killed.owner.post("/messages", {
    type: "direct",
    to: [account.userId],
    content: "are you there?",
  });
  t.equal(sent.status, 200);
  await killed.program.end("SIGKILL");
  const next = await startProgram(t, dataDir);
  const [mail] = await outboxMails(dataDir, 1);
  t.match(mail?.email, { subject: "Direct messages with Owner", text: /are you there\?/ });
  t.equal((await next.program.end("SIGTERM")).code, 0);
  t.equal(outboxFiles(dataDir).length, 1);
});
