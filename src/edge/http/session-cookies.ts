/**
 * The cookie of a session (D256). With TLS its name has the prefix `__Host-`, which keeps other hosts of the domain from
 * setting it. Only requests of the server's own pages are accepted with it.
 */

import { isForgeable, isFromOwnPage, type PageHeaders } from "../../../domain/foreign-page.ts";
import { sessionEnd } from "../../../domain/sessions.ts";
import type { View } from "../../../domain/view.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import type { Authenticated } from "../../operations/calls.ts";
import { type Credentials, hashApiKey } from "../../operations/identity/authentication.ts";
import { hostName } from "../../operations/site.ts";
import { RememberedHeaders } from "./remembered-headers.ts";

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
