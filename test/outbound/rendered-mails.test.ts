/**
 * The content of emails (D31; schemas/mails.ts): plain text and HTML of every template, escaped; no user name can add a
 * header or a recipient (RFC 5322). A real parser reads them.
 */
import { existsSync } from "node:fs";
import { parse } from "parse5";
import PostalMime from "postal-mime";
import t from "tap";
import { type MailRecord, type MailTemplate, mailTemplates } from "../../schemas/mails.ts";
import { outboxTransport } from "../../src/outbound/mail/outbox.ts";
import { renderMail, Unwritable } from "../../src/outbound/mail/rendered-mail.ts";
import { outboxMails, outboxOf, type Received } from "../support/mail.ts";
import { temporaryFolder } from "../support/server.ts";

const createdAt = Date.UTC(2026, 0, 15, 23, 30);
const sender = { name: null, address: "chat@example.org" };
const site = "https://chat.example.org";
const setting = { origin: "1", sender, site, unsubscribeUrl: null };

/** Data of every template; `nasty` is used wherever users choose the text. */
function dataOf(template: MailTemplate, nasty: string): MailRecord["data"] {
  const all: Readonly<Record<MailTemplate, MailRecord["data"]>> = {
    "new-login": { email: nasty, client: nasty, address: "192.0.2.7", at: createdAt, timezone: "Asia/Kolkata" },
    "account-deactivated": { comment: nasty },
    "confirm-new-address": { email: "old@example.org", newEmail: nasty, link: `https://chat.example.org/${nasty}` },
    "password-reset": { email: nasty, link: `https://chat.example.org/${nasty}` },
    "password-changed": { email: nasty },
    invitation: { inviter: nasty, at: createdAt, link: `https://chat.example.org/${nasty}` },
    "address-changed": { newEmail: nasty },
    "missed-messages": {
      conversation: { kind: "channel", channel: nasty, topic: nasty, isResolved: true },
      reason: "mention",
      namesRealm: true,
      timezone: "Asia/Kolkata",
      path: `#narrow/channel/1-x/topic/${encodeURIComponent(nasty)}/near/1`,
      messages: [{ sender: nasty, sentAt: createdAt, html: nasty }],
      omitted: 1,
      isCut: true,
      userId: 1,
      messageIds: [1],
    },
    "missed-messages-hidden": {
      count: 2,
      isCut: false,
      namesRealm: true,
      hiddenBy: "person",
      userId: 1,
      messageIds: [1],
    },
  };
  return { ...all[template], realmName: nasty, fullName: nasty };
}

function mailOf(template: string, data: MailRecord["data"], more: Partial<MailRecord> = {}): MailRecord {
  const to = "somebody@example.org";
  return { id: 1, template, to, data, createdAt, attempts: 0, dueAt: createdAt, ...more };
}

const templatesWithLink: ReadonlySet<string> = new Set([
  "confirm-new-address",
  "password-reset",
  "invitation",
  "missed-messages",
  "missed-messages-hidden",
]);
const templates = Object.keys(mailTemplates) as MailTemplate[];

async function sent(folder: string, mails: readonly MailRecord[]): Promise<Received[]> {
  const transport = outboxTransport(outboxOf(folder));
  for (const [index, mail] of mails.entries()) {
    const renderedMail = renderMail(mail, { ...setting, origin: "1::0" });
    await transport.send({ name: `1-${index}`, renderedMail, signal: new AbortController().signal });
  }
  return outboxMails(folder, mails.length);
}

/** Elements of an HTML body by name. */
function elements(html: string): string[] {
  const names: string[] = [];
  const walk = (node: { nodeName: string; childNodes?: readonly unknown[] }): void => {
    names.push(node.nodeName);
    for (const child of node.childNodes ?? []) walk(child as typeof node);
  };
  walk(parse(html) as never);
  return names.filter((name) => !name.startsWith("#"));
}

t.test("[D31] a time within a message is shown in the reader's zone", async (t) => {
  const html = '<p>at <time datetime="2026-11-28T22:05:00Z">tomorrow</time>, <time datetime="never">never</time></p>';
  const data = dataOf("missed-messages", "x");
  const messages = [{ sender: "Ann", sentAt: createdAt, html }];
  const { text, html: page } = renderMail(mailOf("missed-messages", { ...data, messages }), setting);
  const shown = /at Sunday,? 29 November 2026 at 03:35 \(Asia\/Kolkata\), never/;
  t.match(text, shown);
  t.match(page, shown);
});

t.test("[D31] an email about a new login states program, local time and address, in text and HTML", async (t) => {
  const data = {
    ...dataOf("new-login", "x"),
    email: "ann@example.org",
    client: "ZulipPython",
    realmName: "Tea & Co",
    fullName: "Ann",
  };
  const [received] = await sent(temporaryFolder(t), [mailOf("new-login", data)]);
  const { email } = received as Received;
  t.equal(email.subject, "New login to Tea & Co from ZulipPython");
  t.match(email.text, /^Hello Ann,\n\nSomebody has just logged in to your account ann@example\.org on Tea & Co,/);
  t.match(
    email.text,
    "Time: Friday, 16 January 2026 at 05:00 (Asia/Kolkata)\nProgram: ZulipPython\nAddress: 192.0.2.7",
  );
  t.match(email.html, "Tea &amp; Co");
  t.match(email.from, { name: "Tea & Co", address: "chat@example.org" });
  const utc = renderMail(mailOf("new-login", { ...data, timezone: "" }), setting);
  t.match(utc.text, "Time: Thursday, 15 January 2026 at 23:30 (UTC)");
});

t.test(
  "[spec 4.20] an email about a deactivation contains the comment if there is one, otherwise only the standard text",
  async (t) => {
    const data = { realmName: "Tea", fullName: "Ann" };
    const mails = ["See you.\nAll the best", ""].map((comment) => mailOf("account-deactivated", { ...data, comment }));
    const [withComment, without] = await sent(temporaryFolder(t), mails);
    t.match(withComment?.email.text, /deactivated[\s\S]*comment:\n\nSee you\.\nAll the best\n\n/);
    t.notMatch(without?.email.text, "comment");
    t.match(without?.email.text, "Your account on Tea has been deactivated. You can no longer log in.");
  },
);

t.test("[spec 4.1] an email about a new email address contains a working link in text and HTML", async (t) => {
  const link = "https://chat.example.org/accounts/confirm_new_email/abc?a=1&b=2";
  const data = { realmName: "Tea", fullName: "", email: "a@example.org", newEmail: "b@example.org", link };
  const [received] = await sent(temporaryFolder(t), [mailOf("confirm-new-address", data)]);
  const { email } = received as Received;
  t.match(email.text, /^Hello,\n/, "an empty name is not used as a greeting");
  t.ok(email.text?.includes(`\n${link}\n`));
  t.match(email.html, `<a href="${link.replace("&", "&amp;")}">`);
});

const nasty: readonly string[] = [
  "Ann\r\nBcc: victim@example.org",
  "Ann\nSubject: other\n\nbody",
  "Ann\u2028Bcc: victim@example.org\u0085X: y",
  "Ann\0\u0007",
  '"Ann" <victim@example.org>, other@example.org',
  "=?utf-8?q?Bcc:_victim=40example.org?=",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  '"><a href="https://evil.example.org">',
  "Ünïcødé 名前 🦄".repeat(6),
  "<% throw new Error() %><%= it.realmName %>",
  "x".repeat(500),
];

t.test("[D31] whatever a name contains, an email has one recipient and only our own headers", async (t) => {
  const mails = templates.flatMap((template) => nasty.map((text) => mailOf(template, dataOf(template, text))));
  const received = await sent(temporaryFolder(t), mails);
  const [plain] = await sent(temporaryFolder(t), [mailOf("account-deactivated", dataOf("account-deactivated", "x"))]);
  const headers = plain?.email.headers.map(({ key }) => key);
  t.equal(received.length, templates.length * nasty.length);
  for (const [index, { email }] of received.entries()) {
    // Some of the texts would break the lines of the test report, too.
    const name = `${mails[index]?.template} ${encodeURIComponent(String(mails[index]?.data["fullName"])).slice(0, 60)}`;
    const keys = email.headers.map(({ key }) => key);
    t.strictSame(keys, headers, name);
    const addresses = email.to?.map(({ address }) => address);
    t.strictSame(addresses, ["somebody@example.org"], name);
    t.equal(email.from?.address, "chat@example.org", name);
    t.equal(email.bcc ?? null, null, name);
    t.equal(email.attachments.length, 0, name);
    const { from, to, subject } = renderMail(mails[index] as MailRecord, setting);
    t.notMatch([from.name, to.name, subject].join(""), /[\p{Cc}\u2028\u2029]/u, name);
    const used = new Set(elements(email.html ?? ""));
    const found = [...used].filter((one) => !["html", "head", "meta", "body", "p", "a", "blockquote"].includes(one));
    t.strictSame(found, [], name);
    const links = elements(email.html ?? "").filter((one) => one === "a").length;
    const mail = mails[index] as MailRecord;
    const ours = templatesWithLink.has(mail.template) ? 1 : 0;
    // Message content may contain links, as clients show it.
    const theirs = mail.template === "missed-messages" && String(mail.data["fullName"]).includes("<a ") ? 1 : 0;
    t.equal(links, ours + theirs, name);
  }
});

t.test("[D258] the link that switches emails off is in the headers, in one line, and escaped in HTML", async (t) => {
  const unsubscribeUrl = `https://chat.example.org:8443/accounts/unsubscribe/missed_messages/${"9".repeat(15)}-${"a".repeat(43)}`;
  const folder = temporaryFolder(t);
  const transport = outboxTransport(outboxOf(folder));
  const renderedMail = renderMail(mailOf("new-login", dataOf("new-login", "x")), { ...setting, unsubscribeUrl });
  await transport.send({ name: "1-0", renderedMail, signal: new AbortController().signal });
  const [received] = await outboxMails(folder, 1);
  const found = received?.email.headers.filter(({ key }) => key.startsWith("list-"));
  const seen = found?.map(({ key, value }) => [key, value]);
  t.strictSame(seen, [
    ["list-unsubscribe", `<${unsubscribeUrl}>`],
    ["list-unsubscribe-post", "List-Unsubscribe=One-Click"],
  ]);
  t.match(received?.email.html, `<a href="${unsubscribeUrl}">`);
  const odd = renderMail(mailOf("new-login", dataOf("new-login", "x")), {
    ...setting,
    unsubscribeUrl: 'https://a/"><b>',
  });
  t.match(odd.html, '<a href="https://a/&quot;&gt;&lt;b&gt;">');
});

t.test("[D31] names in every script arrive unchanged", async (t) => {
  const name = "Zoë Łukasz 名前 🦄";
  const mail = mailOf("address-changed", { newEmail: "b@example.org", realmName: "Café ☕", fullName: name });
  const [received] = await sent(temporaryFolder(t), [mail]);
  t.equal(received?.email.to?.[0]?.name, name);
  t.equal(received?.email.from?.name, "Café ☕");
  t.equal(received?.email.subject, "The address of your account on Café ☕ has changed");
  t.match(received?.email.text, `Hello ${name},`);
});

t.test("[D31] retries of an email are identical, and different emails have different Message-IDs", async (t) => {
  const mail = mailOf("account-deactivated", dataOf("account-deactivated", "x"));
  t.strictSame(renderMail(mail, setting), renderMail({ ...mail, attempts: 3, dueAt: 5 }, setting));
  const ids = [
    renderMail(mail, setting),
    renderMail(mail, { ...setting, origin: "2" }),
    renderMail({ ...mail, id: 2 }, setting),
    renderMail({ ...mail, createdAt: 1 }, setting),
  ].map(({ messageId }) => messageId);
  t.equal(new Set(ids).size, ids.length, "another organization, id or time");
  t.match(await PostalMime.parse(`Message-ID: ${ids[0]}\r\n\r\nx`), { messageId: ids[0] });
});

t.test("[S3] a row that cannot be rendered as an email is abandoned, not retried for ever", async (t) => {
  const data = dataOf("new-login", "x");
  const bad = [
    mailOf("unknown", data),
    mailOf("toString", data),
    mailOf("new-login", data, { to: "a@example.org\r\nRCPT TO:<b@example.org>" }),
    mailOf("new-login", { ...data, timezone: "Nowhere/At_all" }),
  ];
  for (const mail of bad) t.throws(() => renderMail(mail, setting), Unwritable, mail.template);
});

t.test("[D31] an email that is aborted is never written after the transport is closed", async (t) => {
  const folder = temporaryFolder(t);
  const transport = outboxTransport(outboxOf(folder));
  const deadline = new AbortController();
  const data = { ...dataOf("account-deactivated", "x"), comment: "" };
  const renderedMail = renderMail(mailOf("account-deactivated", data), setting);
  const aborted = transport.send({ name: "1-1", renderedMail, signal: deadline.signal });
  deadline.abort();
  await transport.close();
  const written = existsSync(outboxOf(folder));
  await t.rejects(aborted);
  t.equal(written, false, "at the close");
  t.equal(existsSync(outboxOf(folder)), false, "afterwards");
});
