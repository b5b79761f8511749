/**
 * HTTP Basic authentication (spec 5, D2). Credentials that were verified are remembered by their header, because decoding
 * and hashing it costs more than the rest of the lookup.
 */
import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Authenticated } from "../../operations/calls.ts";
import { type Credentials, verifyKey } from "../../operations/identity/authentication.ts";
import { RememberedHeaders } from "./remembered-headers.ts";

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
