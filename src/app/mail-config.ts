/** Parses `SMTP_URL`, `MAIL_FROM` and `SITE_URL` (see config.ts). */

import { isEmailAddress } from "../../domain/text.ts";
import { limits } from "../../schemas/limits.ts";
import type { Sender } from "../outbound/mail/rendered-mail.ts";
import type { SmtpServer } from "../outbound/mail/smtp.ts";

/** Ports of mail submission, with STARTTLS and with implicit TLS. */
const defaultPorts: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

/**
 * Parses `smtp://user:password@host:port` or `smtps://...`, with user and password percent-encoded; undefined for
 * anything else.
 */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  const defaultPort = url === null ? undefined : defaultPorts[url.protocol];
  if (url === null || defaultPort === undefined || url.hostname === "") return undefined;
  // Options in a query could enable a log of the dialogue, which includes the password.
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") return undefined;
  const user = decode(url.username);
  const password = decode(url.password);
  if (user === null || password === null || (user === "") !== (password === "")) return undefined;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? defaultPort : Number(url.port),
    isSecure: url.protocol === "smtps:",
    login: user === "" ? null : { user, password },
  };
}

/** Returns null if the text is malformed or has a line break. */
function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return /[\r\n\0]/.test(decoded) ? null : decoded;
  } catch {
    return null;
  }
}

/** Parses `address` or `Name <address>`; undefined for anything else. */
export function parseSender(text: string): Sender | undefined {
  const named = /^([^<>\p{Cc}]*)<([^<>]+)>$/u.exec(text);
  const name = named?.[1]?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  const address = named?.[2] ?? text;
  if (!isEmailAddress(address, limits.email_code_points_max)) return undefined;
  return { name: name === "" ? null : name, address };
}

/** Accepts a scheme and a host only, and returns them without a trailing slash; undefined for anything else. */
export function parseSiteUrl(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, origin } = new URL(text);
  return href === `${origin}/` ? origin : undefined;
}

/** An organization's address: its own host, or its label before the site's name (D4). IP addresses take no label. */
export function siteOf(
  site: string,
  { label, hosts }: { readonly label: string; readonly hosts: readonly string[] },
): string {
  const [host] = hosts;
  const { protocol, hostname, port } = new URL(site);
  const end = port === "" ? "" : `:${port}`;
  if (host !== undefined) return `${protocol}//${host}${end}`;
  const takesLabel = !/^[\d.]+$/.test(hostname) && !hostname.startsWith("[");
  return label !== "" && takesLabel ? `${protocol}//${label}.${hostname}${end}` : site;
}
