/**
 * Logins to the operator's page over TCP. A browser sends its cookies to every port of a host, so a cookie alone proves
 * nothing here: a request also needs the token that only scripts of this page's origin, port included, can read.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { limits } from "../../../schemas/limits.ts";

const { admin_sessions_max: sessionsMax, admin_session_ms: sessionMs } = limits;

interface PageSession {
  readonly cookieHash: Buffer;
  readonly endsAt: number;
}

export interface OpenedSession {
  /** The header that sets the cookie. */
  readonly cookie: string;
  /** For the header of requests. */
  readonly token: string;
}

export class PageSessions {
  readonly #monotonic: () => number;
  /** Servers on one host share its cookies. */
  readonly #cookieName = `colloquy_admin_${randomBytes(4).toString("hex")}`;
  /** By hash of the token, the oldest first. */
  readonly #sessions = new Map<string, PageSession>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  open(): OpenedSession {
    const now = this.#monotonic();
    for (const [key, { endsAt }] of this.#sessions) if (endsAt <= now) this.#sessions.delete(key);
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size >= sessionsMax) this.#sessions.delete(oldest);
    const [secret, token] = [randomBytes(24).toString("base64url"), randomBytes(24).toString("base64url")];
    this.#sessions.set(hashOf(token).toString("hex"), { cookieHash: hashOf(secret), endsAt: now + sessionMs });
    return { cookie: this.#cookie(secret, sessionMs / 1000), token };
  }

  /** @returns the header that removes the cookie */
  end(token: string): string {
    this.#sessions.delete(hashOf(token).toString("hex"));
    return this.#cookie("", 0);
  }

  isOpen(cookies: string, token: string): boolean {
    const session = this.#sessions.get(hashOf(token).toString("hex"));
    if (session === undefined || session.endsAt <= this.#monotonic()) return false;
    const prefix = `${this.#cookieName}=`;
    return cookies
      .split(";")
      .map((pair) => pair.trim())
      .some(
        (pair) => pair.startsWith(prefix) && timingSafeEqual(hashOf(pair.slice(prefix.length)), session.cookieHash),
      );
  }

  #cookie(value: string, seconds: number): string {
    return `${this.#cookieName}=${value}; Path=/admin; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  }
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
