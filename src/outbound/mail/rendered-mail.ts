/**
 * Renders an email from its row: plain text and simple HTML, with headers that user input cannot extend. User input
 * (names, comments) is escaped in HTML and reduced to one line in headers. Pure: the same row gives the same email, so
 * that repeats can be recognized.
 */
import { createHash } from "node:crypto";
import { Eta } from "eta";
import { type MailData, type MailRecord, type MailTemplate, mailTemplates } from "../../../schemas/mails.ts";
import { type MailContent, type MailReader, mailContent } from "./mail-html.ts";
import { greeting, quoteHeading, signature, templates, tooLong, unsubscribeText } from "./templates.ts";

/** The sender. If `name` is null, the organization's name is used. */
export interface Sender {
  readonly name: string | null;
  readonly address: string;
}

interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** The form that nodemailer accepts. */
export interface RenderedMail {
  readonly from: Mailbox;
  readonly to: Mailbox;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/** The row cannot be rendered as an email, and retrying would not help. */
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

export interface MailSetting {
  /** A unique name of the organization, part of the Message-ID. */
  readonly origin: string;
  readonly sender: Sender;
  /** The organization's web address, without a trailing slash. */
  readonly site: string;
  /** Where such emails can be switched off; null if they cannot. */
  readonly unsubscribeUrl: string | null;
}

/** @throws Unwritable */
export function renderMail(mail: MailRecord, { origin, sender, site, unsubscribeUrl }: MailSetting): RenderedMail {
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
      [fill(forText, signature, given), ...(unsubscribeUrl === null ? [] : [`${unsubscribeText}: ${unsubscribeUrl}`])],
    ),
    html: fill(forHtml, page, {
      greeting: fill(forHtml, greeting, given),
      quotes: quotes.map(({ html }) => html),
      parts: parts(forHtml),
      url,
      signed: fill(forHtml, signature, given),
      unsubscribeUrl,
      unsubscribeText,
    }),
    messageId: messageIdOf(mail, origin, sender),
    date: new Date(mail.createdAt),
    headers: { ...ownHeaders, ...(unsubscribeUrl === null ? {} : unsubscribeHeaders(unsubscribeUrl)) },
  };
}

/** RFC 3834: prevents automatic replies. */
const ownHeaders = { "Auto-Submitted": "auto-generated" };

/** RFC 8058: mail programs show a button, and its click is a POST. They use it only if the link is https. */
function unsubscribeHeaders(url: string): RenderedMail["headers"] {
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

/** Removes line breaks and control characters, so that a header cannot be split. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

function textBody(parts: readonly string[], signed: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n\n-- \n${signed.join("\n")}\n`;
}

/** Everything except `url` is already HTML. */
const page =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body style="font-family:sans-serif">' +
  '<p style="white-space:pre-line"><%~ it.greeting %></p>' +
  "<% for (const one of it.quotes) { %><%~ one %><% } %>" +
  '<% for (const one of it.parts) { %><p style="white-space:pre-line"><%~ one %></p><% } %>' +
  '<% if (it.url) { %><p><a href="<%= it.url %>"><%= it.url %></a></p><% } %>' +
  '<p style="color:#666"><%~ it.signed %></p>' +
  '<% if (it.unsubscribeUrl) { %><p><a href="<%= it.unsubscribeUrl %>"><%= it.unsubscribeText %></a></p><% } %>' +
  "</body></html>\n";

const quote = '<p style="color:#666"><%~ it.heading %></p><blockquote><%~ it.html %></blockquote>';

/** The quoted messages, each below its sender and time. */
function quotesOf({ messages, timezone }: MailData<"missed-messages">, site: string): MailContent[] {
  const reader: MailReader = {
    site,
    time(instant) {
      const at = Date.parse(instant);
      return Number.isNaN(at) ? null : timeText(at, timezone);
    },
  };
  return messages.map(({ sender, sentAt, html: rendered }) => {
    const given = { sender: oneLine(sender), time: timeText(sentAt, timezone) };
    const content = rendered === null ? { html: `<p>${tooLong}</p>`, text: tooLong } : mailContent(rendered, reader);
    const text = `${fill(forText, quoteHeading, given)}:\n${content.text.replaceAll(/^/gm, "    ")}`;
    return { text, html: fill(forHtml, quote, { heading: fill(forHtml, quoteHeading, given), html: content.html }) };
  });
}

/** The same for every delivery of one email, and unique across all organizations. */
function messageIdOf(mail: MailRecord, origin: string, sender: Sender): string {
  const name = createHash("sha256")
    .update(JSON.stringify([origin, mail.id, mail.createdAt, mail.to]))
    .digest("hex");
  return `<${name.slice(0, 32)}@${sender.address.slice(sender.address.lastIndexOf("@") + 1)}>`;
}

/** "" if the email mentions no time. */
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
