/**
 * The cookie of a session (D256). With TLS its name has the prefix `__Host-`, which keeps other hosts of the domain
 * from setting it. Only requests of the server's own pages are accepted with it.
 *
 * HTTP Basic authentication (spec 5, D2). Credentials that were verified are remembered by their header, because
 * decoding and hashing it costs more than the rest of the lookup.
 */

import { LRUCache } from "lru-cache";
import { isForgeable, isFromOwnPage, type PageHeaders } from "../../../domain/foreign-page.ts";
import { sessionEnd } from "../../../domain/sessions.ts";
import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import type { Authenticated } from "../../operations/calls.ts";
import { type Credentials, hashApiKey, verifyKey } from "../../operations/identity/authentication.ts";
import { hostName } from "../../operations/site.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Credentials as they were verified, and the rows from which their validity followed. */
interface VerifiedKey {
  readonly credentials: Authenticated;
  readonly key: ApiKeyRecord;
}

/**
 * Verified headers, in memory only (S2). A header counts only while the rows of its key and its user are the objects
 * from which it was verified: a new key, role, password, address or owner, and a deactivation, replace or remove one of
 * them. Invalid credentials are never remembered, so each attempt is verified and counted (D28).
 *
 * Comparing headers reveals nothing about a key: V8 compares two strings only if their hashes are equal, and the seed
 * of its hashes is known only inside the process.
 */
export class RememberedCredentials {
  readonly #headers: RememberedHeaders<VerifiedKey>;

  constructor(bytesMax: number = limits.credentials_remembered_bytes_max) {
    this.#headers = new RememberedHeaders(bytesMax);
  }

  /** @param header the Authorization header, or "" */
  authenticate(view: View, header: string): Credentials {
    const known = this.#headers.get(header);
    if (known !== undefined && view.realm.deactivatedAt === null) {
      const { credentials, key } = known;
      const { caller } = credentials;
      if (view.apiKey(key.hash) === key && view.users.get(caller.id) === caller) return credentials;
    }
    return this.#verify(view, header);
  }

  /** Number of headers that are remembered. */
  get count(): number {
    return this.#headers.count;
  }

  #verify(view: View, header: string): Credentials {
    const credentials = authenticate(view, header);
    const key = "caller" in credentials ? view.apiKey(credentials.keyHash) : undefined;
    if (!("caller" in credentials) || key === undefined) this.#headers.delete(header);
    else this.#headers.set(header, { credentials, key });
    return credentials;
  }
}

/** @param header the Authorization header, or "" */
export function authenticate(view: View, header: string): Credentials {
  if (header === "") return refuse.notLoggedIn();
  if (header.length > limits.header_value_bytes_max) return refuse.malformedAuthorization();
  if (!/^basic /i.test(header)) return refuse.basicRequired();
  const decoded = decodeBasic(header.slice(6).trim());
  if (decoded === null) return refuse.malformedAuthorization();
  return verifyKey(view, decoded.email, decoded.key);
}

function decodeBasic(encoded: string): { email: string; key: string } | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null;
  let text: string;
  try {
    text = strictUtf8.decode(Buffer.from(encoded, "base64"));
  } catch {
    return null;
  }
  const colon = text.indexOf(":");
  if (colon < 0 || text.indexOf(":", colon + 1) >= 0) return null;
  return { email: text.slice(0, colon), key: text.slice(colon + 1) };
}

/**
 * The users and keys that verified headers stand for: in memory only (S2), bounded in bytes for the process (S3). An
 * entry knows no realm: it counts only where the rows from which it follows are the realm's present ones (S1).
 */
export class RememberedHeaders<V extends object> {
  /** Least recently used first out. Each entry has a size above zero, so the bound on bytes also bounds their number. */
  readonly #known: LRUCache<string, V>;

  constructor(bytesMax: number) {
    this.#known = new LRUCache<string, V>({
      maxSize: bytesMax,
      sizeCalculation: (_value, header) => header.length + limits.credentials_remembered_overhead_bytes,
    });
  }

  get(header: string): V | undefined {
    return this.#known.get(header);
  }

  set(header: string, value: V): void {
    this.#known.set(header, value);
  }

  delete(header: string): void {
    this.#known.delete(header);
  }

  get count(): number {
    return this.#known.size;
  }
}

/** Both names in one pattern, because a proxy that tells nothing about TLS must not hide that there is a session. */
const anySession = /(?:^|;\s*)(?:__Host-)?session=/;

function nameOfCookie(isSecure: boolean): string {
  return isSecure ? "__Host-session" : "session";
}

/**
 * The header that sets it.
 * @param token null makes the browser forget its session
 * @param isSecure whether the browser's connection is encrypted, as far as the server knows
 */
export function sessionCookie(token: string | null, isSecure: boolean): readonly [string, string] {
  const maxAgeS = token === null ? 0 : Math.floor(limits.session_lifetime_ms / 1000);
  const attributes = `Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return ["Set-Cookie", `${nameOfCookie(isSecure)}=${token ?? ""}; ${attributes}`];
}

/** The token in a Cookie header; null without one, or with several, since one of them must be from somebody else. */
function tokenIn(header: string, isSecure: boolean): string | null {
  if (header.length > limits.cookie_header_bytes_max) return null;
  const start = `${nameOfCookie(isSecure)}=`;
  const found = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return found.length === 1 ? (found[0]?.slice(start.length) ?? null) : null;
}

/** A write with credentials that a page of another site made a browser send (D203). */
export function isForged(head: PageHeaders & CookieRequest & { readonly authorization: string }): boolean {
  if (!isForgeable(head) || /^(?:GET|HEAD|OPTIONS)$/.test(head.method)) return false;
  return head.authorization !== "" || anySession.test(head.cookie);
}

/** The part of a request that decides whether its session counts. */
export interface CookieRequest {
  readonly cookie: string;
  readonly method: string;
  readonly host: string;
  readonly origin: string;
  readonly referer: string;
  readonly fetchSite: string;
}

interface Verified {
  readonly credentials: Authenticated;
  readonly session: SessionRecord;
  readonly isSecure: boolean;
}

/** Verified Cookie headers, remembered like Authorization headers (authentication.ts) and on the same conditions. */
export class SessionCookies {
  readonly #headers = new RememberedHeaders<Verified>(limits.credentials_remembered_bytes_max);

  /**
   * @param allowsTyped also accept an address that the user typed or opened from another program: for files only, which
   *   a request does not change
   * @returns null if the request has no session cookie that counts
   */
  authenticate(view: View, request: CookieRequest, isSecure: boolean, allowsTyped = false): Credentials | null {
    const isTyped = allowsTyped && request.fetchSite === "none";
    if (!isTyped && !isFromOwnPage(request, isSecure)) return null;
    return this.verify(view, request, isSecure);
  }

  /** The same for a request that is known to come from the server's own page. */
  verify(view: View, { cookie, host }: Pick<CookieRequest, "cookie" | "host">, isSecure: boolean): Credentials | null {
    const known = this.#headers.get(cookie);
    if (known !== undefined && known.isSecure === isSecure && view.realm.deactivatedAt === null) {
      const { credentials, session } = known;
      const { caller } = credentials;
      const isSame = view.session(session.hash) === session && view.users.get(caller.id) === caller;
      if (isSame && view.now < sessionEnd(session) && session.host === hostName(host)) return credentials;
    }
    const token = tokenIn(cookie, isSecure);
    return token === null ? null : this.#look(view, { cookie, host: hostName(host), token, isSecure });
  }

  #look(
    view: View,
    { cookie, host, token, isSecure }: { cookie: string; host: string; token: string; isSecure: boolean },
  ): Credentials {
    const session = view.session(hashApiKey(token));
    const caller = session === undefined ? undefined : view.users.get(session.userId);
    this.#headers.delete(cookie);
    if (session === undefined || caller === undefined) return refuse.notLoggedIn();
    if (session.host !== host || sessionEnd(session) <= view.now) return refuse.notLoggedIn();
    if (view.realm.deactivatedAt !== null) return refuse.realmDeactivated();
    if (!caller.isActive) return refuse.userDeactivated();
    const credentials = { caller, keyHash: session.hash, isSession: true };
    this.#headers.set(cookie, { credentials, session, isSecure });
    return credentials;
  }
}
