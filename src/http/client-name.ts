/** Name of the client program (D35): the product of its User-Agent, "website" for browsers, else "API". */

import { limits } from "../../schemas/limits.ts";
import { lookUp } from "../domain/look-up.ts";

/** Product names that clients of the public API send, and how messages show them. */
const knownClients: Readonly<Record<string, string>> = { zulippython: "ZulipPython", zulipmobile: "ZulipMobile" };

export function clientName(userAgent: string): string {
  const product = /^([A-Za-z0-9_.-]+)/.exec(userAgent)?.[1];
  if (product === undefined) return "API";
  if (product === "Mozilla") return "website";
  const known = lookUp(knownClients, product.toLowerCase());
  return known ?? product.slice(0, limits.client_name_code_points_max);
}

/** Programs in which people read what they write: there, a message that one sends is read (public API: read_by_sender). */
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

/** Bots and scripts are not readers: what they send for somebody waits to be read by them. */
export function isReadingClient(client: string): boolean {
  return readingClients.has(client.toLowerCase());
}
