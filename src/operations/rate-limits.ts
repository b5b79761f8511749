/**
 * Request limits (D28): token buckets per user, and per address for failed logins and anonymous calls. Their number is
 * bounded, least recently used first out. `RATE_LIMITS=off` disables them.
 */

import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { boundedMap } from "../runtime/caches.ts";
import { clientNetwork } from "../runtime/client-network.ts";

export interface RateRule {
  /** Tokens added per second. */
  readonly perSecond: number;
  readonly burst: number;
}

export type RateKind = "api" | "login" | "anonymous";
export type RateRules = Readonly<Record<RateKind, RateRule | null>>;

export const defaultRates: RateRules = {
  api: { perSecond: limits.rate_api_per_minute / 60, burst: limits.rate_api_burst },
  login: { perSecond: limits.rate_failed_logins_per_minute / 60, burst: limits.rate_failed_logins_per_minute },
  anonymous: { perSecond: limits.rate_anonymous_per_minute / 60, burst: limits.rate_anonymous_per_minute },
};

export const noRates: RateRules = { api: null, login: null, anonymous: null };

/** The key of a user's limits, shared by REST and sockets. */
export function personName(realmEpoch: string, userId: number): string {
  return `${realmEpoch}:${userId}`;
}

const names = new WeakMap<UserRecord, string>();

/** The same for a user's record, made once: V8 remembers the hash of a string that it has looked up. */
export function nameOf(realmEpoch: string, user: UserRecord): string {
  const known = names.get(user);
  if (known !== undefined) return known;
  const name = personName(realmEpoch, user.id);
  names.set(user, name);
  return name;
}

export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetS: number;
  /** Seconds to wait; 0 if the request may pass. */
  readonly retryAfterS: number;
}

export type FailedLogin = (by: "key" | "password", address: string) => void;

const roundingError = 1e-6;

interface Bucket {
  tokens: number;
  at: number;
}

export class RateLimits {
  readonly #rules: RateRules;
  readonly #monotonic: () => number;
  readonly #reportFailure: FailedLogin;
  readonly #buckets = boundedMap<string, Bucket>(limits.rate_buckets_max);

  /** @param reportFailure called for each failed login */
  constructor(rules: RateRules, monotonic: () => number, reportFailure: FailedLogin = () => undefined) {
    this.#rules = rules;
    this.#reportFailure = reportFailure;
    this.#monotonic = monotonic;
  }

  isLimited(kind: RateKind): boolean {
    return this.#rules[kind] !== null;
  }

  /** Takes `cost` tokens if available; a rejected request takes none. Returns null if this kind is not limited. */
  take(kind: RateKind, who: string, cost = 1): RateState | null {
    const rule = this.#rules[kind];
    if (rule === null) return null;
    const now = this.#monotonic();
    const key = keyOf(kind, who);
    const known = this.#buckets.get(key);
    const bucket = known ?? { tokens: rule.burst, at: now };
    if (known === undefined) this.#buckets.set(key, bucket);
    bucket.tokens = Math.min(rule.burst, bucket.tokens + ((now - bucket.at) / 1000) * rule.perSecond);
    bucket.at = now;
    // A client that waits as long as it was told must pass: the sum of many small refills is not exact.
    const isAllowed = bucket.tokens >= cost - roundingError;
    if (isAllowed) bucket.tokens = Math.max(0, bucket.tokens - cost);
    return {
      limit: rule.burst,
      remaining: Math.floor(bucket.tokens),
      resetS: (rule.burst - bucket.tokens) / rule.perSecond,
      retryAfterS: isAllowed ? 0 : Math.ceil(((cost - bucket.tokens) / rule.perSecond) * 1000) / 1000,
    };
  }

  /** Tells the operator about a wrong key or password. */
  failed(by: "key" | "password", address: string): void {
    this.#reportFailure(by, address);
  }

  /** Returns a token taken in advance for an attempt that does not count. */
  giveBack(kind: RateKind, who: string): void {
    const rule = this.#rules[kind];
    const bucket = this.#buckets.get(keyOf(kind, who));
    if (rule !== null && bucket !== undefined) bucket.tokens = Math.min(rule.burst, bucket.tokens + 1);
  }
}

/** The `api` limit applies to users, whose names equal no other key; the others apply to networks. */
function keyOf(kind: RateKind, who: string): string {
  return kind === "api" ? who : `${kind}:${clientNetwork(who)}`;
}

/**
 * Parses `off`, or rules such as `api=200/60,login=10/60,anonymous=100/60`: count per seconds; the burst is the count.
 * @returns null if the text is invalid
 */
export function parseRates(text: string): RateRules | null {
  if (text === "off") return noRates;
  if (text === "") return defaultRates;
  const rules: Record<RateKind, RateRule | null> = { ...defaultRates };
  for (const part of text.split(",")) {
    const match = /^(api|login|anonymous)=(\d{1,9})\/(\d{1,6})$/.exec(part.trim());
    if (match === null) return null;
    const [, kind, count, seconds] = match;
    if (Number(count) === 0 || Number(seconds) === 0) return null;
    rules[kind as RateKind] = { perSecond: Number(count) / Number(seconds), burst: Number(count) };
  }
  return rules;
}

/**
 * Counts an invalid key as a failed login of its address, so that keys cannot be guessed in bulk (D28).
 * @returns the credentials, or a rejection once the limit is reached
 */
export function countFailedKey<T extends object>(
  rates: RateLimits,
  credentials: T | Refusal,
  address: string,
): T | Refusal {
  if (!("code" in credentials) || credentials.code !== "INVALID_API_KEY") return credentials;
  const state = rates.take("login", address);
  // Over the limit a guess is answered without a word in the log, or it could be flooded.
  if (state !== null && state.retryAfterS > 0) return refuse.rateLimitHit(state.retryAfterS);
  rates.failed("key", address);
  return credentials;
}
