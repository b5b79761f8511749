/** The client's name (D35): the product of its User-Agent, "website" for browsers, else "API". */

import { ownProperty } from "../../../domain/own-property.ts";
import { limits } from "../../../schemas/limits.ts";

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
