/**
 * Decides which caller may use which operation of the admin listener. On a Unix socket its mode decides about programs;
 * on TCP they send the key as Bearer token. Every request must name the listener by an address, as localhost or by a
 * name of the operator: a GET of a page whose name was rebound to this address has nothing else that tells it from a
 * program's (DNS rebinding). A page in a browser is answered only if it is this listener's own: no foreign page can
 * read from it (no CORS) or send its header (CSRF).
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { PageSessions } from "./page-sessions.ts";

/** The file in the data folder with the key for operations over TCP. */
export const adminKeyName = "admin.key";

/** The operator's page sends its token in this header; on a Unix socket anything. */
export const tokenHeader = "colloquy-admin-token";

/**
 * - `everybody`: who can connect, but no page of another site
 * - `document`: the same, and a link of another site may lead there
 * - `programs`: never a page in a browser
 * - `page`: programs, and the operator's page with a session
 * - `login`: the operator's page, before it has one
 */
export type Audience = "everybody" | "document" | "programs" | "page" | "login";

export interface AccessRefusal {
  readonly status: 401 | 403;
  readonly message: string;
}

interface Caller {
  readonly headers: IncomingHttpHeaders;
}

export class Access {
  readonly #sessions: PageSessions;
  /** The key that a caller on TCP must send; null on a Unix socket, whose mode decides. */
  #key: string | null = null;
  readonly #names: ReadonlySet<string>;

  /** @param names host names of the listener, in lower case, besides localhost */
  constructor(sessions: PageSessions, names: readonly string[] = []) {
    this.#sessions = sessions;
    this.#names = new Set(["localhost", ...names]);
  }

  requireKey(key: string): void {
    this.#key = key;
  }

  /** On a Unix socket there is no key to know. */
  isKey(given: string): boolean {
    return this.#key !== null && isSame(given, this.#key);
  }

  /** @returns null if the caller may */
  refusal(audience: Audience, caller: Caller): AccessRefusal | null {
    const { headers } = caller;
    if (!this.#isOwnHost(headers.host)) return foreignHost;
    if (isFromOtherSite(headers) && !(audience === "document" && headers["sec-fetch-dest"] === "document")) {
      return { status: 403, message: "pages of other sites may not read this" };
    }
    if (audience === "everybody" || audience === "document") return null;
    const isPage = headers[tokenHeader] !== undefined;
    return audience === "programs" || (audience === "page" && !isPage)
      ? this.#programRefusal(caller)
      : this.#pageRefusal(caller, audience === "login");
  }

  /** A browser sends Origin with every POST, and programs of the operator do not. */
  #programRefusal({ headers }: Caller): AccessRefusal | null {
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
      return { status: 403, message: "operations are not for pages in a browser" };
    }
    if (this.#key === null) return null;
    if (isSame(headers.authorization ?? "", `Bearer ${this.#key}`)) return null;
    return { status: 403, message: `send the key in ${adminKeyName} of the data folder as Bearer token` };
  }

  #pageRefusal({ headers }: Caller, isLogin: boolean): AccessRefusal | null {
    const { host = "", origin, cookie = "" } = headers;
    if (origin !== undefined && !isOriginOf(origin, host)) {
      return { status: 403, message: "pages of other origins may not use this" };
    }
    if (isLogin || this.#key === null || this.#sessions.isOpen(cookie, String(headers[tokenHeader]))) return null;
    return { status: 401, message: "log in with the key" };
  }

  /** Only a name can be rebound, and only HTTP/1.0 has no header, which no browser speaks. */
  #isOwnHost(header: string | undefined): boolean {
    if (header === undefined) return true;
    const host = header
      .toLowerCase()
      .replace(/:\d*$/, "")
      .replace(/^\[(.*)\]$/, "$1");
    return isIP(host) > 0 || this.#names.has(host);
  }
}

const foreignHost: AccessRefusal = {
  status: 403,
  message: "the Host header must be an address in numbers, localhost, or a name in ADMIN_HOSTS",
};

function isFromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "none" && site !== "same-origin";
}

function isOriginOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
