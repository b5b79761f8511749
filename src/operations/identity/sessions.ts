/**
 * Identifies the origin of a login, for the email about logins from new clients and places (D31).
 *
 * Starts a session for a user whose password was verified (D256), for POST /session and for the pages that log in.
 *
 * Records that a session is in use, which keeps it from ending (D256).
 */
import { createHash } from "node:crypto";
import { command } from "../../../actors/protocol/decision.ts";
import type { Login } from "../../../schemas/authentication.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Reply } from "../../runtime/results.ts";
import type { Call } from "../calls.ts";
import { hostName } from "../site.ts";
import { hashApiKey } from "./authentication.ts";
import { programName } from "./client-name.ts";
import type { VerifiedLogin } from "./password-login.ts";
import { newSecret } from "./secrets.ts";

/**
 * No caller waits for the record: if it is rejected, because the disk is full or much is to do, a later use is
 * recorded.
 */
export function recordUse({ realm, caller, keyHash }: Call): void {
  if (caller === null || keyHash === null) return;
  const session = realm.view.session(keyHash);
  if (session === undefined || realm.view.now - session.lastUsedAt < limits.session_use_recorded_ms) return;
  const to = { actor: "user", id: caller.id } as const;
  void realm.dispatcher.ask(command(to, "user.session.used", { hash: keyHash }, caller.id));
}

/** The origin of the request. */
interface SessionRequest {
  /** The server's address as the client wrote it. */
  readonly siteUrl: string;
  readonly userAgent: string;
  readonly address: string;
}

interface SessionUser {
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
}

/** @returns the user, and the token as the session of the answer */
export async function startSession(
  realm: Realm,
  { user, passwordHash }: VerifiedLogin,
  { siteUrl, userAgent, address }: SessionRequest,
): Promise<Reply<SessionUser>> {
  const token = newSecret();
  const client = programName(userAgent);
  const params = {
    hash: hashApiKey(token),
    client,
    host: hostName(siteUrl.replace(/^https?:\/\//, "")),
    login: loginFrom(client, address),
    passwordHash,
  };
  const started = await realm.dispatcher.ask(
    command({ actor: "user", id: user.id }, "user.session.start", params, user.id),
  );
  if (started.kind === "refused") return started;
  return { ...started, session: token };
}

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
