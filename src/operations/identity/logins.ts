/** Identifies the origin of a login, for the email about logins from new clients and places (D31). */
import { createHash } from "node:crypto";
import type { Login } from "../../../schemas/authentication.ts";

/**
 * The place is coarse (/24 of IPv4, /48 of IPv6), so that a new address from the same provider does not count as new.
 * @param address as the transport formats it: dotted, or all eight groups of four digits
 */
export function loginFrom(client: string, address: string): Login {
  const dotted = unmapped(address);
  const isShort = dotted.includes(".");
  const place = isShort ? dotted.split(".").slice(0, 3).join(".") : dotted.split(":").slice(0, 3).join(":");
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([client, place]))
    .digest("base64url");
  return { fingerprint, client, address: isShort ? dotted : shortened(dotted) };
}

/** An IPv4 client of a dual-stack socket. */
function unmapped(address: string): string {
  const mapped = /^(?:0000:){5}ffff:(\w\w)(\w\w):(\w\w)(\w\w)$/i.exec(address);
  return mapped === null
    ? address
    : mapped
        .slice(1)
        .map((byte) => Number.parseInt(byte, 16))
        .join(".");
}

/** The address in its usual short form. */
function shortened(address: string): string {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address;
}
