/**
 * Passwords (S2): Argon2id, on the thread pool, few at a time, since LMDB's neighbours share it (pitfalls 1.1). A wrong
 * address costs as much time as a wrong password.
 */
import { hash, verify } from "@node-rs/argon2";
import { limits } from "../../schemas/limits.ts";
import { BoundedWork } from "./bounded-work.ts";

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export class Passwords {
  readonly #work = new BoundedWork(limits.password_hashes_concurrent_max, limits.password_hashes_waiting_max);
  /** Begun by the first look, and the same for all that come before it is there. */
  #decoy: Promise<string> | null = null;

  /** null: too many are waiting. */
  hash(password: string): Promise<string | null> {
    return this.#work.run(() => hash(password, cost));
  }

  /** @param stored null when there is no such account. @returns null when too many are waiting */
  async verify(stored: string | null, password: string): Promise<boolean | null> {
    this.#decoy ??= hash("a decoy, so that unknown addresses take as long", cost);
    const decoy = await this.#decoy;
    const against = stored ?? decoy;
    const matches = await this.#work.run(() => verify(against, password));
    return matches === null ? null : matches && stored !== null;
  }
}
