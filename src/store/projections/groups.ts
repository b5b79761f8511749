/**
 * User groups by id and name, and their members and subgroups (spec 2.5). Membership of role-based system groups is a
 * rule and not rows: domain/permissions.ts. The transitive contents of a group are computed once and dropped when
 * subgroups change. Each membership costs the same, however many groups a user is in: one account can create channels
 * whose permissions name every user thousands of times.
 */

import { fold } from "../../../schemas/fold.ts";
import { type GroupScope, namesIn, scopeOf } from "../../../schemas/group-scope.ts";
import { limits } from "../../../schemas/limits.ts";
import type { GroupRecord } from "../../../schemas/user-groups.ts";
import { addAscending, type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

const none: ReadonlySet<number> = new Set();
const noGroups: readonly number[] = [];

/** Shorter lists of groups are copied when they grow, because an array that grows in place reserves as much again. */
const exactLists_max = 16;

export class GroupsProjection implements Projection {
  readonly tables = ["groups", "groupMembers"] as const;
  readonly #byId = new Map<number, GroupRecord>();
  readonly #byName = new Map<string, number>();
  readonly #byFoldedName = new Map<string, number[]>();
  /** The members of named groups. */
  readonly #members = new Map<number, Set<number>>();
  /**
   * Named groups, indexed by user id: an array access costs half of a map lookup, and every permission check needs one.
   * A set per user would cost more than the few ids it holds.
   */
  readonly #groupsOf: (number[] | undefined)[] = [];
  /** Number of anonymous groups of which a user is a direct member, indexed by user id. */
  readonly #timesNamed: (number | undefined)[] = [];
  /** Direct members and subgroups of named groups. */
  #memberships = 0;
  /** Named groups, and the memberships in them, by their creator. */
  readonly #createdBy = new Map<number, { groups: number; memberships: number }>();
  #namesInPermissions = 0;
  /** By the person who named them. */
  readonly #namesBy = new Map<number, number>();
  /** Derived data; not part of the snapshot. */
  readonly #scopes = new Map<number, GroupScope>();
  #scopeIds = 0;
  #version = 0;

  apply(delta: Delta<"groups" | "groupMembers">): void {
    this.#version++;
    if (delta.table === "groupMembers") {
      const [groupId, userId] = delta.key;
      this.#setMember(groupId, userId, delta.row !== null);
    } else {
      this.#applyGroup(delta.key, delta.row);
    }
  }

  get version(): number {
    return this.#version;
  }

  #applyGroup(id: number, after: GroupRecord | null): void {
    const before = this.#byId.get(id);
    if (!isSameList(before?.subgroupIds, after?.subgroupIds)) this.#forgetScopes(id, before ?? after);
    if (before?.name !== after?.name) this.#rename(id, before?.name ?? null, after?.name ?? null);
    // Members of a named group have rows of their own; those of an anonymous group are in its row.
    if (before !== undefined && before.name !== null) this.#countNamedGroup(before, -1);
    if (after !== null && after.name !== null) this.#countNamedGroup(after, 1);
    if (before?.name === null) this.#countNames(before, -1);
    if (after?.name === null) this.#countNames(after, 1);
    for (const userId of before?.memberIds ?? []) this.#countNamed(userId, -1);
    for (const userId of after?.memberIds ?? []) this.#countNamed(userId, 1);
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
  }

  /** Scopes that do not contain the group stay cached. An anonymous group is in no other group's scope. */
  #forgetScopes(id: number, group: GroupRecord | null): void {
    if (group?.name === null) this.#forgetScope(id);
    else for (const [containerId, scope] of this.#scopes) if (scope.ids.has(id)) this.#forgetScope(containerId);
  }

  #forgetScope(id: number): void {
    this.#scopeIds -= this.#scopes.get(id)?.ids.size ?? 0;
    this.#scopes.delete(id);
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
    const namesakes = this.#byFoldedName.get(fold(after));
    if (namesakes === undefined) this.#byFoldedName.set(fold(after), [id]);
    else addAscending(namesakes, id);
  }

  #countNamedGroup({ id, creatorId, subgroupIds }: GroupRecord, sign: 1 | -1): void {
    const size = (this.#members.get(id)?.size ?? 0) + subgroupIds.length;
    this.#countMemberships(creatorId, sign * size, sign);
  }

  #countMemberships(creatorId: number | null, change: number, groups = 0): void {
    this.#memberships += change;
    if (creatorId === null) return;
    const own = this.createdBy(creatorId);
    const after = { groups: own.groups + groups, memberships: own.memberships + change };
    if (after.groups === 0 && after.memberships === 0) this.#createdBy.delete(creatorId);
    else this.#createdBy.set(creatorId, after);
  }

  #countNames(group: GroupRecord, sign: 1 | -1): void {
    const change = sign * namesIn(group);
    this.#namesInPermissions += change;
    if (group.creatorId === null) return;
    const names = this.namesInPermissionsBy(group.creatorId) + change;
    if (names === 0) this.#namesBy.delete(group.creatorId);
    else this.#namesBy.set(group.creatorId, names);
  }

  #countNamed(userId: number, change: 1 | -1): void {
    const times = (this.#timesNamed[userId] ?? 0) + change;
    this.#timesNamed[userId] = times === 0 ? undefined : times;
  }

  #setMember(groupId: number, userId: number, isIn: boolean): void {
    const members = this.#members.get(groupId);
    if (isIn === (members?.has(userId) === true)) return;
    const group = this.#byId.get(groupId);
    // The members of a group that is not known yet count when it is.
    if (group !== undefined) this.#countMemberships(group.creatorId, isIn ? 1 : -1);
    const own = this.#groupsOf[userId] ?? [];
    if (isIn) {
      if (members === undefined) this.#members.set(groupId, new Set([userId]));
      else members.add(userId);
      // A spread would allocate more than it needs.
      if (own.length < exactLists_max) this.#groupsOf[userId] = own.concat(groupId);
      else own.push(groupId);
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

  *allNamed(): Iterable<GroupRecord> {
    for (const id of this.#byName.values()) yield this.#byId.get(id) as GroupRecord;
  }

  scope(id: number): GroupScope | undefined {
    const known = this.#scopes.get(id);
    if (known !== undefined || !this.#byId.has(id)) return known;
    const scope = scopeOf(id, (each) => this.#byId.get(each));
    if (this.#scopeIds + scope.ids.size > limits.group_scope_ids_kept_max) {
      this.#scopes.clear();
      this.#scopeIds = 0;
    }
    this.#scopes.set(id, scope);
    this.#scopeIds += scope.ids.size;
    return scope;
  }

  membersOf(id: number): ReadonlySet<number> {
    const known = this.#members.get(id);
    if (known !== undefined) return known;
    const group = this.#byId.get(id);
    return group === undefined || group.memberIds.length === 0 ? none : new Set(group.memberIds);
  }

  ofMember(userId: number): readonly number[] {
    return this.#groupsOf[userId] ?? noGroups;
  }

  get memberships(): number {
    return this.#memberships;
  }

  createdBy(creatorId: number): { readonly groups: number; readonly memberships: number } {
    return this.#createdBy.get(creatorId) ?? { groups: 0, memberships: 0 };
  }

  get namesInPermissions(): number {
    return this.#namesInPermissions;
  }

  namesInPermissionsBy(personId: number): number {
    return this.#namesBy.get(personId) ?? 0;
  }

  isNamedInPermissions(userId: number): boolean {
    return this.#timesNamed[userId] !== undefined;
  }

  snapshot(): unknown {
    return {
      byId: sortedEntries(this.#byId),
      byName: sortedEntries(this.#byName),
      byFoldedName: sortedEntries(this.#byFoldedName),
      members: sortedEntries(this.#members).map(([id, members]) => [id, sortedNumbers(members)]),
      groupsOf: this.#groupsOf.flatMap((groups, id) => (groups === undefined ? [] : [[id, sortedNumbers(groups)]])),
      memberships: this.#memberships,
      createdBy: sortedEntries(this.#createdBy),
      namesInPermissions: this.#namesInPermissions,
      namesBy: sortedEntries(this.#namesBy),
      timesNamed: this.#timesNamed.flatMap((times, id) => (times === undefined ? [] : [[id, times]])),
    };
  }
}

function isSameList(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && a.every((id, index) => id === b[index]);
}
