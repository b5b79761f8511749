/**
 * From a mail's row to a letter: plain text and simple HTML, with headers that nobody can add to. What people chose (names, comments)
 * is escaped in HTML and kept to one line in headers. Pure: the same row gives the same letter, so that repeats can be recognized.
 */
import { createHash } from "node:crypto";
import { Eta } from "eta";
import { type MailData, type MailTemplate, mailTemplates } from "../../../schemas/mails.ts";
import type { MailRecord } from "../../../schemas/records.ts";
import { type MailContent, mailContent } from "./mail-html.ts";
import { greeting, quoteHeading, signature, templates, tooLong } from "./templates.ts";

/** Who writes. `name` null: the organization's. */
export interface Sender {
  readonly name: string | null;
  readonly address: string;
}

interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** As nodemailer takes it. */
export interface Letter {
  readonly from: Mailbox;
  readonly to: Mailbox;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/** A row that no letter can be made of: not a matter of trying again. */
export class Unwritable extends Error {
  override readonly name = "Unwritable";
}

const forHtml = new Eta({ autoTrim: false });
const forText = new Eta({ autoTrim: false, autoEscape: false });
const compiled = new Map<string, ReturnType<Eta["compile"]>>();

function fill(eta: Eta, template: string, data: object): string {
  const name = `${eta === forHtml ? "html" : "text"}:${template}`;
  let render = compiled.get(name);
  if (render === undefined) {
    render = eta.compile(template);
    compiled.set(name, render);
  }
  return render.call(eta, data);
}

/**
 * @param origin names the organization among all: part of the Message-ID
 * @param site its address on the web, without a slash at the end
 * @throws Unwritable
 */
export function writeLetter(mail: MailRecord, origin: string, sender: Sender, site: string): Letter {
  if (!Object.hasOwn(mailTemplates, mail.template)) throw new Unwritable("unknown template");
  if (/[\p{Cc}\s]/u.test(mail.to)) throw new Unwritable("unusable address");
  const { data } = mail;
  const given = { ...data, time: timeText(data["at"], data["timezone"]), site };
  const { subject, paragraphs, link, quotesMessages } = templates[mail.template as MailTemplate];
  const quotes = quotesMessages === true ? quotesOf(data as MailData<"missed-messages">, site) : [];
  const parts = (eta: Eta) => paragraphs.map((one) => fill(eta, one, given)).filter((one) => one !== "");
  const url = link === undefined ? "" : fill(forText, link, given);
  return {
    from: { name: oneLine(sender.name ?? String(data["realmName"])), address: sender.address },
    to: { name: oneLine(String(data["fullName"])), address: mail.to },
    subject: oneLine(fill(forText, subject, given)),
    text: textBody(
      [fill(forText, greeting, given), ...quotes.map(({ text }) => text), ...parts(forText), url],
      fill(forText, signature, given),
    ),
    html: fill(forHtml, page, {
      greeting: fill(forHtml, greeting, given),
      quotes: quotes.map(({ html }) => html),
      parts: parts(forHtml),
      url,
      signed: fill(forHtml, signature, given),
    }),
    messageId: messageIdOf(mail, origin, sender),
    date: new Date(mail.createdAt),
    // RFC 3834: no vacation notes in answer.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

/** No line breaks, no control characters: a header stays the header that it is. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

function textBody(parts: readonly string[], signed: string): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n\n-- \n${signed}\n`;
}

/** Everything but `url` is HTML already. */
const page =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body style="font-family:sans-serif">' +
  '<p style="white-space:pre-line"><%~ it.greeting %></p>' +
  "<% for (const one of it.quotes) { %><%~ one %><% } %>" +
  '<% for (const one of it.parts) { %><p style="white-space:pre-line"><%~ one %></p><% } %>' +
  '<% if (it.url) { %><p><a href="<%= it.url %>"><%= it.url %></a></p><% } %>' +
  '<p style="color:#666"><%~ it.signed %></p></body></html>\n';

const quote = '<p style="color:#666"><%~ it.heading %></p><blockquote><%~ it.html %></blockquote>';

/** What was written, each message below who wrote it and when. */
function quotesOf({ messages, timezone }: MailData<"missed-messages">, site: string): MailContent[] {
  return messages.map(({ sender, sentAt, html: rendered }) => {
    const given = { sender: oneLine(sender), time: timeText(sentAt, timezone) };
    const content = rendered === null ? { html: `<p>${tooLong}</p>`, text: tooLong } : mailContent(rendered, site);
    const text = `${fill(forText, quoteHeading, given)}:\n${content.text.replaceAll(/^/gm, "    ")}`;
    return { text, html: fill(forHtml, quote, { heading: fill(forHtml, quoteHeading, given), html: content.html }) };
  });
}

/** The same for every delivery of one mail, and for no other mail of any organization. */
function messageIdOf(mail: MailRecord, origin: string, sender: Sender): string {
  const name = createHash("sha256")
    .update(JSON.stringify([origin, mail.id, mail.createdAt, mail.to]))
    .digest("hex");
  return `<${name.slice(0, 32)}@${sender.address.slice(sender.address.lastIndexOf("@") + 1)}>`;
}

/** "" where the mail speaks of no time. */
function timeText(at: unknown, timezone: unknown): string {
  if (typeof at !== "number") return "";
  const zone = typeof timezone === "string" && timezone !== "" ? timezone : "UTC";
  return `${inZone(at, zone)} (${zone})`;
}

function inZone(at: number, timeZone: string): string {
  const style = { dateStyle: "full", timeStyle: "short" } as const;
  try {
    return new Intl.DateTimeFormat("en-GB", { ...style, timeZone }).format(at);
  } catch {
    throw new Unwritable("unknown time zone");
  }
}
