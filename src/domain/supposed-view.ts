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
    ...(users === undefined ? {} : { users: over(view.users, { get: (id) => users.get(id) ?? view.users.get(id) }) }),
    ...(channels === undefined
      ? {}
      : { channels: over(view.channels, { get: (id) => channels.get(id) ?? view.channels.get(id) }) }),
    ...(supposed.groups === undefined && supposed.members === undefined ? {} : { groups: groupsOf(view, supposed) }),
  });
}

const none: ReadonlySet<number> = new Set();

function groupsOf(view: View, { groups = new Map(), members = new Map() }: Supposition): View["groups"] {
  const get = (id: number) => {
    const group = groups.get(id);
    return group === undefined ? view.groups.get(id) : (group ?? undefined);
  };
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
    membersOf,
    scope(id) {
      if (get(id) === undefined) return undefined;
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

/** An object with some of its members replaced; all others are the object's own. */
function over<T extends object>(base: T, replaced: Partial<T>): T {
  return new Proxy(base, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
