/**
 * A view of how things will be: what is there, and on top what a decision is about to write. With it the same questions
 * (permissions.ts) are asked before and after a change, so that whoever gains or loses sight is told.
 */

import { scopeOf } from "../../schemas/group-scope.ts";
import type { ChannelRecord, GroupRecord, RealmRecord, UserRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

/** What is supposed to be there; null: gone. What is not named stays as it is. */
export interface Supposition {
  /** Another time, in milliseconds. */
  readonly now?: number;
  readonly realm?: RealmRecord;
  readonly users?: ReadonlyMap<number, UserRecord>;
  readonly channels?: ReadonlyMap<number, ChannelRecord>;
  readonly groups?: ReadonlyMap<number, GroupRecord | null>;
  /** Direct members of named groups, whole, by group id. */
  readonly members?: ReadonlyMap<number, ReadonlySet<number>>;
}

export function supposing(view: View, supposed: Supposition): View {
  const { now, realm, users, channels } = supposed;
  return over(view, {
    ...(now === undefined ? {} : { now }),
    ...(realm === undefined ? {} : { realm }),
    ...(users === undefined ? {} : { users: over(view.users, replacing(view.users, users)) }),
    ...(channels === undefined ? {} : { channels: over(view.channels, replacing(view.channels, channels)) }),
    ...(supposed.groups === undefined && supposed.members === undefined ? {} : { groups: groupsOf(view, supposed) }),
  });
}

/** Rows by id, some of them as they are supposed to be; null: gone. */
function replacing<T extends { readonly id: number }>(
  base: { get(id: number): T | undefined; all(): Iterable<T> },
  supposed: ReadonlyMap<number, T | null>,
) {
  const get = (id: number) => {
    const row = supposed.get(id);
    return row === undefined ? base.get(id) : (row ?? undefined);
  };
  return {
    get,
    *all() {
      for (const row of base.all()) if (!supposed.has(row.id)) yield row;
      for (const row of supposed.values()) if (row !== null) yield row;
    },
  };
}

const none: ReadonlySet<number> = new Set();

function groupsOf(view: View, { groups = new Map(), members = new Map() }: Supposition): View["groups"] {
  const { get, all } = replacing(view.groups, groups);
  const scopes = new Map<number, ReturnType<typeof scopeOf>>();
  const membersOf = (id: number): ReadonlySet<number> => {
    const group = groups.get(id);
    if (group === null) return none;
    // Members of a named group have rows of their own; those of an anonymous one stand in its row.
    if (group !== undefined && group.name === null) return new Set(group.memberIds);
    return members.get(id) ?? view.groups.membersOf(id);
  };
  const changed = [...new Set([...groups.keys(), ...members.keys()])];
  return over(view.groups, {
    get,
    all,
    membersOf,
    scope(id) {
      if (get(id) === undefined) return undefined;
      // What holds nothing that changes is known already.
      const before = view.groups.scope(id);
      if (before !== undefined && !changed.some((other) => before.ids.has(other))) return before;
      const scope = scopes.get(id) ?? scopeOf(id, get);
      scopes.set(id, scope);
      return scope;
    },
    ofMember: (userId) => [
      ...view.groups.ofMember(userId).filter((id) => !changed.includes(id)),
      ...changed.filter((id) => get(id) !== undefined && membersOf(id).has(userId)),
    ],
  });
}

/**
 * An object with some of its members replaced; all others are the object's own, as they are when they are asked for. Built of
 * plain members once, because a Proxy would cost more at each question than the question itself.
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
  return made as T; // the same members, by construction
}
