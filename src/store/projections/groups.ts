/**
 * User groups by id and name, and their members and subgroups (spec 2.5). Membership of role-based system groups is a
 * rule and not rows: domain/permissions.ts. The transitive contents of a group are computed once and dropped when
 * subgroups change.
 */

import { fold } from "../../../schemas/fold.ts";
import { type GroupScope, scopeOf } from "../../../schemas/group-scope.ts";
import type { GroupRecord } from "../../../schemas/user-groups.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

const none: ReadonlySet<number> = new Set();
const noGroups: readonly number[] = [];

export class GroupsProjection implements Projection {
  readonly tables = ["groups", "groupMembers"] as const;
  readonly #byId = new Map<number, GroupRecord>();
  readonly #byName = new Map<string, number>();
  readonly #byFoldedName = new Map<string, readonly number[]>();
  readonly #members = new Map<number, Set<number>>();
  /**
   * Indexed by user id: an array access costs half of a map lookup, and every permission check needs one. A set per
   * user would cost more than the few ids it holds.
   */
  readonly #groupsOf: (readonly number[] | undefined)[] = [];
  /** Derived data; not part of the snapshot. */
  readonly #scopes = new Map<number, GroupScope>();

  apply(delta: Delta): void {
    if (delta.table === "groupMembers") {
      const [groupId, userId] = delta.key as [number, number];
      this.#setMember(groupId, userId, delta.row !== null);
    } else {
      this.#applyGroup(delta.key as number, delta.row as GroupRecord | null);
    }
  }

  #applyGroup(id: number, after: GroupRecord | null): void {
    const before = this.#byId.get(id);
    if (!isSameList(before?.subgroupIds, after?.subgroupIds)) this.#forgetScopes(id);
    if (before?.name !== after?.name) this.#rename(id, before?.name ?? null, after?.name ?? null);
    // Members of a named group have rows of their own; those of an anonymous group are in its row.
    for (const userId of before?.memberIds ?? []) this.#setMember(id, userId, false);
    for (const userId of after?.memberIds ?? []) this.#setMember(id, userId, true);
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
  }

  /** Scopes that do not contain the group stay cached: a new channel's anonymous groups affect no others. */
  #forgetScopes(id: number): void {
    for (const [containerId, scope] of this.#scopes) if (scope.ids.has(id)) this.#scopes.delete(containerId);
  }

  #rename(id: number, before: string | null, after: string | null): void {
    if (before !== null) {
      if (this.#byName.get(before) === id) this.#byName.delete(before);
      const left = this.named(before).filter((other) => other !== id);
      if (left.length === 0) this.#byFoldedName.delete(fold(before));
      else this.#byFoldedName.set(fold(before), left);
    }
    if (after === null) return;
    this.#byName.set(after, id);
    this.#byFoldedName.set(fold(after), sortedNumbers([...this.named(after), id]));
  }

  #setMember(groupId: number, userId: number, isIn: boolean): void {
    const members = this.#members.get(groupId);
    if (isIn === (members?.has(userId) === true)) return;
    const own = this.ofMember(userId);
    if (isIn) {
      if (members === undefined) this.#members.set(groupId, new Set([userId]));
      else members.add(userId);
      // A spread would allocate more than it needs.
      this.#groupsOf[userId] = own.concat(groupId);
      return;
    }
    members?.delete(userId);
    if (members?.size === 0) this.#members.delete(groupId);
    const left = own.filter((id) => id !== groupId);
    this.#groupsOf[userId] = left.length === 0 ? undefined : left;
  }

  get(id: number): GroupRecord | undefined {
    return this.#byId.get(id);
  }

  system(name: string): GroupRecord | undefined {
    const group = this.byName(name);
    return group?.isSystem === true ? group : undefined;
  }

  byName(name: string): GroupRecord | undefined {
    const id = this.#byName.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  named(name: string): readonly number[] {
    return this.#byFoldedName.get(fold(name)) ?? [];
  }

  get size(): number {
    return this.#byName.size;
  }

  all(): Iterable<GroupRecord> {
    return this.#byId.values();
  }

  scope(id: number): GroupScope | undefined {
    const known = this.#scopes.get(id);
    if (known !== undefined || !this.#byId.has(id)) return known;
    const scope = scopeOf(id, (each) => this.#byId.get(each));
    this.#scopes.set(id, scope);
    return scope;
  }

  membersOf(id: number): ReadonlySet<number> {
    return this.#members.get(id) ?? none;
  }

  ofMember(userId: number): readonly number[] {
    return this.#groupsOf[userId] ?? noGroups;
  }

  snapshot(): unknown {
    return {
      byId: sortedEntries(this.#byId),
      byName: sortedEntries(this.#byName),
      byFoldedName: sortedEntries(this.#byFoldedName),
      members: sortedEntries(this.#members).map(([id, members]) => [id, sortedNumbers(members)]),
      groupsOf: this.#groupsOf.flatMap((groups, id) => (groups === undefined ? [] : [[id, sortedNumbers(groups)]])),
    };
  }
}

function isSameList(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && a.every((id, index) => id === b[index]);
}
