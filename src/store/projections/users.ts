/** Users and bots by id and by folded address, API keys and sessions by hash, so that authentication is a lookup in memory. */

import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import { fold } from "../../../schemas/fold.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import { roles } from "../../../schemas/types.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

export class UsersProjection implements Projection {
  readonly tables = ["users"] as const;
  readonly #byId = new Map<number, UserRecord>();
  readonly #byEmail = new Map<string, number>();
  /** A single id if the name is unique: a set of one would cost more than everything else stored for a name. */
  readonly #byName = new Map<string, number | Set<number>>();
  #activeOwners = 0;
  /** Derived data; not part of the snapshot. */
  #activityVersion = 0;

  check({ row: user }: Delta<"users">): void {
    if (user === null) return;
    fold(user.email);
    fold(user.fullName);
  }

  apply(delta: Delta<"users">): void {
    const id = delta.key;
    const before = this.#byId.get(id);
    if (before !== undefined) {
      this.#byEmail.delete(fold(before.email));
      this.#unname(before);
      if (isActiveOwner(before)) this.#activeOwners--;
    }
    const after = delta.row;
    if (before?.isActive !== after?.isActive) this.#activityVersion++;
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
    this.#byEmail.set(fold(after.email), id);
    const name = fold(after.fullName);
    const namesakes = this.#byName.get(name);
    if (namesakes === undefined) this.#byName.set(name, id);
    else if (typeof namesakes === "number") this.#byName.set(name, new Set([namesakes, id]));
    else namesakes.add(id);
    if (isActiveOwner(after)) this.#activeOwners++;
  }

  #unname(user: UserRecord): void {
    const name = fold(user.fullName);
    const namesakes = this.#byName.get(name);
    if (typeof namesakes === "object") namesakes.delete(user.id);
    if (namesakes === user.id || (typeof namesakes === "object" && namesakes.size === 0)) this.#byName.delete(name);
  }

  get(id: number): UserRecord | undefined {
    return this.#byId.get(id);
  }

  byEmail(email: string): UserRecord | undefined {
    const id = this.#byEmail.get(fold(email));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  named(fullName: string): ReadonlySet<number> {
    return idsOf(this.#byName.get(fold(fullName)));
  }

  all(): Iterable<UserRecord> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  get activeOwners(): number {
    return this.#activeOwners;
  }

  get activityVersion(): number {
    return this.#activityVersion;
  }

  snapshot(): unknown {
    return {
      byId: sortedEntries(this.#byId),
      byEmail: sortedEntries(this.#byEmail),
      byName: sortedEntries(this.#byName).map(([name, ids]) => [name, sortedNumbers(idsOf(ids))]),
      owners: this.#activeOwners,
    };
  }
}

function isActiveOwner(user: UserRecord): boolean {
  return user.isActive && user.role === roles.owner && user.botType === null;
}

const nobody: ReadonlySet<number> = new Set();

function idsOf(ids: number | ReadonlySet<number> | undefined): ReadonlySet<number> {
  if (ids === undefined) return nobody;
  return typeof ids === "number" ? new Set([ids]) : ids;
}

/** The common fields of a user's credentials of one kind. */
interface Credential {
  readonly hash: string;
  readonly userId: number;
  readonly createdAt: number;
}

class CredentialsProjection<T extends "apiKeys" | "sessions", R extends Credential> implements Projection {
  readonly tables: readonly [T];
  readonly #byHash = new Map<string, R>();
  readonly #byUser = new Map<number, Map<string, R>>();

  constructor(table: T) {
    this.tables = [table];
  }

  apply(delta: Delta): void {
    const hash = delta.key as string;
    const before = this.#byHash.get(hash);
    if (before !== undefined) this.#forget(before);
    const after = delta.row as R | null;
    if (after === null) return;
    this.#byHash.set(hash, after);
    const keys = this.#byUser.get(after.userId);
    if (keys === undefined) this.#byUser.set(after.userId, new Map([[hash, after]]));
    else keys.set(hash, after);
  }

  #forget(record: R): void {
    this.#byHash.delete(record.hash);
    const keys = this.#byUser.get(record.userId);
    keys?.delete(record.hash);
    if (keys?.size === 0) this.#byUser.delete(record.userId);
  }

  get(hash: string): R | undefined {
    return this.#byHash.get(hash);
  }

  /** Oldest first. */
  ofUser(userId: number): readonly R[] {
    const keys = this.#byUser.get(userId);
    return keys === undefined ? [] : [...keys.values()].sort((a, b) => a.createdAt - b.createdAt);
  }

  snapshot(): unknown {
    return {
      byHash: sortedEntries(this.#byHash),
      users: sortedEntries(this.#byUser).map(([id, keys]) => [id, sortedEntries(keys)]),
    };
  }
}

export const apiKeysProjection = () => new CredentialsProjection<"apiKeys", ApiKeyRecord>("apiKeys");
export const sessionsProjection = () => new CredentialsProjection<"sessions", SessionRecord>("sessions");
