/** The client's name (D35): the product of its User-Agent, "website" for browsers, else "API". */

import { ownProperty } from "../../../domain/own-property.ts";
import { limits } from "../../../schemas/limits.ts";

/** In this order: most browsers name others for compatibility. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** The program that a user logs in with, in words that a user recognizes: "Firefox on Linux", or the client's name. */
export function programName(userAgent: string): string {
  if (!userAgent.startsWith("Mozilla/")) return clientName(userAgent);
  const known = userAgent.slice(0, limits.user_agent_read_characters_max);
  const browser = browsers.find(([pattern]) => pattern.test(known))?.[1] ?? "Browser";
  const system = systems.find(([pattern]) => pattern.test(known))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Product names that clients of the public API send, and the names shown in messages. */
const knownClients: Readonly<Record<string, string>> = { zulippython: "ZulipPython", zulipmobile: "ZulipMobile" };

export function clientName(userAgent: string): string {
  // Neighbouring requests often have the same client.
  if (userAgent !== last.userAgent) last = { userAgent, name: readName(userAgent) };
  return last.name;
}

let last = { userAgent: "", name: "API" };

function readName(userAgent: string): string {
  const product = /^([A-Za-z0-9_.-]+)/.exec(userAgent)?.[1];
  if (product === undefined) return "API";
  if (product === "Mozilla") return "website";
  const known = ownProperty(knownClients, product.toLowerCase());
  return known ?? product.slice(0, limits.client_name_code_points_max);
}

/** Interactive clients: a message that a user sends with one of them counts as read (public API: read_by_sender). */
const readingClients: ReadonlySet<string> = new Set([
  "android",
  "ios",
  "snipe",
  "website",
  "zulipandroid",
  "zulipdesktop",
  "zulipelectron",
  "zulipflutter",
  "zulipios",
  "zulipmobile",
  "zulipterminal",
]);

/** Bots and scripts do not read: messages they send on behalf of a user stay unread. */
export function isReadingClient(client: string): boolean {
  return readingClients.has(client.toLowerCase());
}
