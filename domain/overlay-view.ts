/**
 * A view with overrides: the current data plus what a decision is about to write. The same permission checks
 * (permissions.ts) run before and after a change, so that users who gain or lose visibility get events.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { scopeOf } from "../schemas/group-scope.ts";
import type { RealmRecord } from "../schemas/realm-settings.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { View } from "./view.ts";

/** The overrides; null means removed. Everything else is unchanged. */
export interface Overrides {
  /** A different time, in milliseconds. */
  readonly now?: number;
  readonly realm?: RealmRecord;
  readonly users?: ReadonlyMap<number, UserRecord>;
  readonly channels?: ReadonlyMap<number, ChannelRecord>;
  readonly groups?: ReadonlyMap<number, GroupRecord | null>;
  /** All direct members of named groups, by group id. */
  readonly members?: ReadonlyMap<number, ReadonlySet<number>>;
}

export function withOverrides(view: View, overrides: Overrides): View {
  const { now, realm, users, channels } = overrides;
  return over(view, {
    ...(now === undefined ? {} : { now }),
    ...(realm === undefined ? {} : { realm }),
    ...(users === undefined ? {} : { users: over(view.users, replacing(view.users, users)) }),
    ...(channels === undefined ? {} : { channels: over(view.channels, replacing(view.channels, channels)) }),
    ...(overrides.groups === undefined && overrides.members === undefined ? {} : { groups: groupsOf(view, overrides) }),
  });
}

/** Rows by id, some of them overridden; null means removed. */
function replacing<T extends { readonly id: number }>(
  base: { get(id: number): T | undefined; all(): Iterable<T> },
  overrides: ReadonlyMap<number, T | null>,
) {
  const get = (id: number) => {
    const row = overrides.get(id);
    return row === undefined ? base.get(id) : (row ?? undefined);
  };
  return {
    get,
    *all() {
      for (const row of base.all()) if (!overrides.has(row.id)) yield row;
      for (const row of overrides.values()) if (row !== null) yield row;
    },
  };
}

const none: ReadonlySet<number> = new Set();

function isNamed(group: GroupRecord | undefined): boolean {
  return group !== undefined && group.name !== null;
}

function groupsOf(view: View, { groups = new Map(), members = new Map() }: Overrides): View["groups"] {
  const { get, all } = replacing(view.groups, groups);
  const scopes = new Map<number, ReturnType<typeof scopeOf>>();
  const membersOf = (id: number): ReadonlySet<number> => {
    const group = groups.get(id);
    if (group === null) return none;
    // Members of a named group have rows of their own; those of an anonymous group are in its row.
    if (group !== undefined && group.name === null) return new Set(group.memberIds);
    return members.get(id) ?? view.groups.membersOf(id);
  };
  const changed = [...new Set([...groups.keys(), ...members.keys()])];
  return over(view.groups, {
    get,
    all,
    allNamed: () => [...all()].filter(isNamed),
    membersOf,
    scope(id) {
      if (get(id) === undefined) return undefined;
      // A scope without changed groups is already known.
      const before = view.groups.scope(id);
      if (before !== undefined && !changed.some((other) => before.ids.has(other))) return before;
      const scope = scopes.get(id) ?? scopeOf(id, get);
      scopes.set(id, scope);
      return scope;
    },
    ofMember: (userId) => [
      ...view.groups.ofMember(userId).filter((id) => !changed.includes(id)),
      ...changed.filter((id) => isNamed(get(id)) && membersOf(id).has(userId)),
    ],
  });
}

/**
 * An object with some members replaced; all others delegate to the original object. Built once from plain members,
 * because a Proxy costs more per call than the call itself.
 */
function over<T extends object>(base: T, replaced: Partial<T>): T {
  const made: object = {};
  for (let from: object | null = base; from !== null && from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Reflect.ownKeys(from)) {
      if (name === "constructor" || Object.hasOwn(made, name)) continue;
      const own: unknown = Object.getOwnPropertyDescriptor(from, name)?.value;
      if (Object.hasOwn(replaced, name)) Object.defineProperty(made, name, { value: Reflect.get(replaced, name) });
      else if (typeof own === "function") Object.defineProperty(made, name, { value: own.bind(base) });
      else Object.defineProperty(made, name, { get: () => Reflect.get(base, name, base) });
    }
  }
  return made as T; // `made` has the same members as `base`, by construction.
}
