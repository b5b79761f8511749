/**
 * HTTP Basic authentication (spec 5, D2): a lookup in memory by hash (S2). Credentials that were verified are remembered
 * by their header, because decoding and hashing it costs more than the rest of the lookup.
 */
import crypto from "node:crypto";
import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import { botTypes } from "../../../schemas/bots.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { fold } from "../../../schemas/fold.ts";
import { limits } from "../../../schemas/limits.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Authenticated } from "../calls.ts";
import { RememberedHeaders } from "./remembered-headers.ts";

export type Credentials = Authenticated | Refusal;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Credentials as they were verified, and the rows from which their validity followed. */
interface Verified {
  readonly credentials: Authenticated;
  readonly key: ApiKeyRecord;
}

/**
 * Verified headers, in memory only (S2). A header counts only while the rows of its key and its user are the objects
 * from which it was verified: a new key, role, password, address or owner, and a deactivation, replace or remove one of
 * them. Invalid credentials are never remembered, so each attempt is verified and counted (D28).
 *
 * Comparing headers reveals nothing about a key: V8 compares two strings only if their hashes are equal, and nobody
 * outside the process knows the seed of its hashes.
 */
export class RememberedCredentials {
  readonly #headers: RememberedHeaders<Verified>;

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
 * The key identifies the user; the email address must match the account. The lookup uses the SHA-256 of a random key,
 * so its timing reveals nothing that helps to guess a key.
 */
export function verifyKey(view: View, email: string, key: string): Credentials {
  const keyHash = hashApiKey(key);
  const record = view.apiKey(keyHash);
  const user = record === undefined ? undefined : view.users.get(record.userId);
  if (user === undefined || !isSameAddress(user.email, email)) return refuse.invalidApiKey();
  if (view.realm.deactivatedAt !== null) return refuse.realmDeactivated();
  // Returns the stored hash string, which a socket keeps as long as it is open.
  return user.isActive
    ? { caller: user, keyHash: record?.hash ?? keyHash, isSession: false }
    : refuse.userDeactivated();
}

/** Clients nearly always send it as it is stored. */
function isSameAddress(stored: string, shown: string): boolean {
  return stored === shown || fold(stored) === fold(shown);
}

/**
 * Every request has a key: the one-call hash takes 0.5 us, the older hash object 1.4 us. Node has the former since
 * 20.12.
 */
export const hashApiKey: (key: string) => string =
  crypto.hash === undefined
    ? (key) => crypto.createHash("sha256").update(key).digest("hex")
    : (key) => crypto.hash("sha256", key, "hex");

/** Bots that may only send are rejected by every other operation, and by sockets (behaviour 1.5). */
export function isWriteOnly(caller: UserRecord | null): boolean {
  return caller?.botType === botTypes.incomingWebhook;
}
