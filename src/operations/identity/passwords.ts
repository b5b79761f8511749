/**
 * Password hashing (S2) with Argon2id on the thread pool, a few at a time because LMDB shares the pool (pitfalls 1.1).
 * An unknown address takes as long as a wrong password.
 */
import { hash, verify } from "@node-rs/argon2";
import { limits } from "../../../schemas/limits.ts";
import { BoundedWork } from "../../runtime/bounded-work.ts";

/** OWASP's first recommendation for Argon2id: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export class Passwords {
  readonly #work = new BoundedWork(limits.password_hashes_concurrent_max, limits.password_hashes_waiting_max);
  /** Created by the first check and shared by all others. */
  #decoy: Promise<string> | null = null;

  /** Returns null if too many are waiting. */
  hash(password: string): Promise<string | null> {
    return this.#work.run(() => hash(password, cost));
  }

  /**
   * @param stored null if there is no such account
   * @returns null if too many are waiting
   */
  async verify(stored: string | null, password: string): Promise<boolean | null> {
    this.#decoy ??= hash("a decoy, so that unknown addresses take as long", cost);
    const decoy = await this.#decoy;
    const against = stored ?? decoy;
    const matches = await this.#work.run(() => verify(against, password));
    return matches === null ? null : matches && stored !== null;
  }
}
