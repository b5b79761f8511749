/** An invitation in a browser: from the link into the page, and what a link that does not work says. */
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { MailServer, outboxMails } from "../support/mail.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test(
  "[D197, D256, D275] an invitation leads into the page, past a name and an address that cannot be",
  { skip },
  async (t) => {
    const server = await startTestServer(t);
    await server.person("Ann Ames");
    await server.owner.patch("/realm", { require_unique_names: true, emails_restricted_to_domains: true });
    await server.owner.post("/realm/domains", { domain: "example.com", allow_subdomains: false });
    const { body } = await server.owner.post("/invites/multiuse", {});
    const { page, complaints } = await openPage(t);
    await page.goto(new URL(new URL(body.invite_link).pathname, server.url).href);
    await page.getByRole("heading", { name: /^Join / }).waitFor();
    const submit = async (button: string, fields: Readonly<Record<string, string>>) => {
      for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
      await page.getByRole("button", { name: button }).click();
    };
    await submit("Send the link", { "Email address": "dora@elsewhere.example" });
    await page.getByRole("alert").waitFor();
    t.match(await page.getByRole("alert").innerText(), /elsewhere\.example|organization/, "the address");
    await submit("Send the link", { "Email address": "dora@example.com" });
    await page.getByRole("heading", { name: "This server sends no e-mails" }).waitFor();
    const [mail] = await outboxMails(server.dataDir, 1);
    const own = /^http\S+\/join\/\S+$/m.exec(mail?.email.text ?? "")?.[0] ?? "";
    await page.goto(new URL(new URL(own).pathname, server.url).href);
    await submit("Join", { "Your name": "Ann Ames", Password: "correct horse battery" });
    await page.getByText("Another user already has this name.").waitFor();
    await page.getByText("dora@example.com").waitFor();
    await submit("Join", { "Your name": "Dora Diaz", Password: "correct horse battery" });
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.getByLabel("Your account").click();
    await page.getByRole("menuitem", { name: "Dora Diaz" }).waitFor();
    t.strictSame(
      complaints.filter((text) => !text.includes("400")),
      [],
      "besides the two forms that were rejected",
    );
  },
);

t.test("[D197] an invitation by email is sent once more from the page", { skip }, async (t) => {
  const server = await startTestServer(t);
  await server.owner.post("/invites", { invitee_emails: "dora@example.com", stream_ids: [] });
  await outboxMails(server.dataDir, 1);
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#organization/invitations");
  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByText("This server sends no emails: it wrote the invitation to a file.").waitFor();
  // The third one tells Ann that she has logged in.
  const mails = await outboxMails(server.dataDir, 3);
  t.equal(mails.filter(({ email }) => email.to?.[0]?.address === "dora@example.com").length, 2);
});

t.test("[D197] an invitation by email is sent from the page, and its link works once", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#organization/invitations");
  await page.getByLabel("Email addresses").fill("dora@example.com");
  await page.getByRole("button", { name: "Send invitations" }).click();
  await page.getByText("This server sends no emails: it wrote the invitations to a file.").waitFor();
  t.equal(await page.getByText("on their way").count(), 0, "[D276] nobody sends them");
  await page.getByText("dora@example.com").waitFor();
  // The other one tells Ann that she has logged in.
  const texts = (await outboxMails(server.dataDir, 2)).map(({ email }) => email.text ?? "");
  const link = /^http\S+\/join\/\S+$/m.exec(texts.join("\n"))?.[0] ?? "";
  const path = new URL(link).pathname;
  const other = await openPage(t);
  await other.page.goto(`${server.url}${path}`);
  await other.page.getByLabel("Your name").fill("Dora Diaz");
  await other.page.getByLabel("Password").fill("correct horse battery");
  await other.page.getByRole("button", { name: "Join" }).click();
  await other.page.getByRole("heading", { name: "Inbox" }).waitFor();
  const late = await openPage(t);
  await late.page.goto(`${server.url}${path}`);
  await late.page.getByText("This invitation has been used already.").waitFor();
  t.strictSame(other.complaints, []);
});

t.test("[D197] a link that is not valid says why, and offers the login", { skip }, async (t) => {
  const server = await startTestServer(t);
  await server.person("Ann Ames");
  const { body } = await server.owner.post("/invites/multiuse", {});
  const { pathname } = new URL(body.invite_link);
  const { body: list } = await server.owner.get("/invites");
  await server.owner.delete(`/invites/multiuse/${list.invites[0].id}`);
  const { page } = await openPage(t);
  await page.goto(`${server.url}${pathname}`);
  await page.getByText("This invitation has been revoked.").waitFor();
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByLabel("Password").waitFor();
  t.equal(new URL(page.url()).pathname, "/");
});

t.test("a first visit shows the login without an error in the console", { skip }, async (t) => {
  const server = await startTestServer(t);
  await server.person("Ann Ames");
  const { page, complaints } = await openPage(t);
  await page.goto(server.url);
  await page.getByLabel("Email address").waitFor();
  await page.waitForLoadState("networkidle");
  t.strictSame(complaints, []);
});

t.test("a log-out deletes the queue and leaves no error in the console", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page, complaints, requests } = await openPage(t);
  for (let round = 0; round < 2; round++) {
    await logIn(page, server.url, ann);
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await page.getByLabel("Email address").waitFor();
    await page.waitForLoadState("networkidle");
  }
  t.equal(requests.filter((path) => path === "/api/v1/events").length, 2);
  t.strictSame(complaints, []);
});

t.test("[D276] with a mail server the page says that invitations are on their way", { skip }, async (t) => {
  const far = await MailServer.start(t);
  const server = await startTestServer(t, { environment: { SMTP_URL: far.url } });
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#organization/invitations");
  await page.getByLabel("Email addresses").fill("dora@example.com");
  await page.getByRole("button", { name: "Send invitations" }).click();
  await page.getByText("The invitations are on their way.").waitFor();
  await far.until(() => far.received.length === 2);
  // The other one tells Ann that she has logged in.
  t.strictSame(far.received.flatMap(({ recipients }) => recipients).sort(), [
    "ann.ames@example.com",
    "dora@example.com",
  ]);
});
