/**
 * Membership through nested groups (behaviour 3.1, 3.5), compared with an evaluator that implements only the rules:
 * random graphs with cycles, groups that are created and removed, system groups by role, deactivated users and groups.
 * The overlay view (domain/overlay-view.ts) must give the same result before a change as the view after it.
 */
import fc from "fast-check";
import t from "tap";
import { everybodyWithin } from "../../domain/group-permissions.ts";
import { type Overrides, withOverrides } from "../../domain/overlay-view.ts";
import { isMember } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { isWithin } from "../../schemas/group-scope.ts";
import { limits } from "../../schemas/limits.ts";
import type { RealmRecord } from "../../schemas/realm-settings.ts";
import type { TableName } from "../../schemas/records.ts";
import { type Role, roles } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { GroupsProjection } from "../../src/store/projections/groups.ts";
import type { Delta } from "../../src/store/projections/projection.ts";
import { createUsers, type OpenRealm, openNewRealm, startedAt } from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";

const dayMs = 24 * 60 * 60 * 1000;
const waitingDays = 3;
const namedIds = [100, 101, 102, 103, 104] as const;
/** Anonymous groups hold permissions and are subgroups of no group. */
const groupIds = [...namedIds, 105, 106] as const;
const isNamed = (id: number) => namedIds.some((named) => named === id);
const systemIds = [1, 2, 3, 4, 5, 6, 7, 8] as const;
const userIds = [2, 3, 4, 5] as const;

interface Person {
  readonly role: Role;
  readonly isActive: boolean;
  readonly ageDays: number;
}

/** A group of the model, from which the rows are derived. */
interface Group {
  readonly isActive: boolean;
  readonly members: readonly number[];
  readonly subgroups: readonly number[];
}

interface Model {
  readonly people: Map<number, Person>;
  readonly groups: Map<number, Group>;
}

type Step =
  | { readonly kind: "group"; readonly id: number; readonly group: Group | null }
  | { readonly kind: "person"; readonly id: number; readonly person: Person }
  | { readonly kind: "member"; readonly id: number; readonly userId: number; readonly isIn: boolean };

const person = fc.record({
  role: fc.constantFrom<Role>(...Object.values(roles)),
  isActive: fc.boolean(),
  ageDays: fc.constantFrom(0, waitingDays - 1, waitingDays, 100),
});
const group = fc.record({
  isActive: fc.boolean(),
  members: fc.uniqueArray(fc.constantFrom(...userIds), { maxLength: 2 }),
  // Including itself, unknown ids and system groups.
  subgroups: fc.uniqueArray(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...namedIds) }, fc.constantFrom(...systemIds, 999)),
    { maxLength: 3 },
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("group" as const),
      id: fc.constantFrom(...groupIds),
      group: fc.option(group, { freq: 5 }),
    }),
  },
  fc.record({ kind: fc.constant("person" as const), id: fc.constantFrom(...userIds), person }),
  fc.record({
    kind: fc.constant("member" as const),
    id: fc.constantFrom(...groupIds),
    userId: fc.constantFrom(...userIds),
    isIn: fc.boolean(),
  }),
);

/** Behaviour 3.1: the members of each system group, by its id. */
const byRole: readonly ((person: Person) => boolean)[] = [
  () => false,
  ({ role }) => role === 100,
  ({ role }) => role === 100 || role === 200,
  ({ role }) => role === 100 || role === 200 || role === 300,
  ({ role, ageDays }) => role < 400 || (role === 400 && ageDays >= waitingDays),
  ({ role }) => role !== 600,
  () => true,
  () => true,
];

function isIn(model: Model, userId: number, groupId: number, seen: ReadonlySet<number> = new Set()): boolean {
  const who = model.people.get(userId);
  if (who === undefined || !who.isActive || seen.has(groupId)) return false;
  const rule = byRole[groupId - 1];
  if (rule !== undefined) return rule(who);
  const here = model.groups.get(groupId);
  if (here === undefined) return false;
  const further = new Set([...seen, groupId]);
  return here.members.includes(userId) || here.subgroups.some((id) => isIn(model, userId, id, further));
}

function changed(model: Model, change: Step): Model {
  const after = { people: new Map(model.people), groups: new Map(model.groups) };
  if (change.kind === "person") after.people.set(change.id, change.person);
  else if (change.kind === "group" && change.group === null) after.groups.delete(change.id);
  else if (change.kind === "group" && change.group !== null) after.groups.set(change.id, change.group);
  else if (change.kind === "member") {
    const before = after.groups.get(change.id);
    const others = before?.members.filter((id) => id !== change.userId) ?? [];
    if (before !== undefined) {
      after.groups.set(change.id, { ...before, members: change.isIn ? [...others, change.userId] : others });
    }
  }
  return after;
}

function groupRow(id: number, { isActive, members, subgroups }: Group): GroupRecord {
  return {
    id,
    name: isNamed(id) ? `group ${id}` : null,
    description: "",
    isSystem: false,
    isActive,
    creatorId: null,
    createdAt: null,
    memberIds: isNamed(id) ? [] : members.toSorted((a, b) => a - b),
    subgroupIds: subgroups,
    settings: {},
  };
}

function userRow(before: UserRecord, { role, isActive, ageDays }: Person): UserRecord {
  return { ...before, role, isActive, joinedAt: startedAt - ageDays * dayMs };
}

/** Rows that turn one model into the other, as commands write them. */
function deltas(view: View, before: Model, after: Model): Delta[] {
  const all: Delta[] = [];
  const put = (table: TableName, key: unknown, row: unknown) => all.push({ table, key, row } as Delta);
  for (const [id, who] of after.people) {
    const row = view.users.get(id);
    if (row !== undefined && who !== before.people.get(id)) put("users", id, userRow(row, who));
  }
  for (const id of groupIds) {
    const [was, is] = [before.groups.get(id), after.groups.get(id)];
    if (was === is) continue;
    const rows = (from: Group | undefined) => (from !== undefined && isNamed(id) ? from.members : []);
    for (const userId of rows(was)) if (!rows(is).includes(userId)) put("groupMembers", [id, userId], null);
    put("groups", id, is === undefined ? null : groupRow(id, is));
    for (const userId of rows(is)) if (!rows(was).includes(userId)) put("groupMembers", [id, userId], {});
  }
  return all;
}

function overridesOf(view: View, before: Model, after: Model): Overrides {
  const users = [...after.people].flatMap(([id, who]) => {
    const row = view.users.get(id);
    return row === undefined || who === before.people.get(id) ? [] : [[id, userRow(row, who)] as const];
  });
  const other = groupIds.filter((id) => before.groups.get(id) !== after.groups.get(id));
  const groups = other.map((id) => {
    const is = after.groups.get(id);
    return [id, is === undefined ? null : groupRow(id, is)] as const;
  });
  const members = other.map((id) => {
    const is = after.groups.get(id);
    return [id, new Set(is !== undefined && isNamed(id) ? is.members : [])] as const;
  });
  return { users: new Map(users), groups: new Map(groups), members: new Map(members) };
}

/** @throws Error where view and model differ */
function compare(view: View, model: Model, what: string): void {
  for (const groupId of [...groupIds, ...systemIds, 999]) {
    const expected = userIds.filter((id) => isIn(model, id, groupId));
    const found = userIds.filter((id) => {
      const user = view.users.get(id);
      return user !== undefined && isMember(view, user, groupId);
    });
    if (expected.join() !== found.join()) throw new Error(`${what}: ${groupId} contains ${found}, not ${expected}`);
    const within = [...everybodyWithin(view, groupId)].filter((id) => model.people.has(id)).sort((a, b) => a - b);
    if (view.groups.get(groupId) !== undefined && expected.join() !== within.join()) {
      throw new Error(`${what}: within ${groupId} are ${within}, not ${expected}`);
    }
  }
}

async function peopled(): Promise<OpenRealm> {
  const opened = await openNewRealm(t);
  await createUsers(opened, userIds.length - 1);
  const realm = opened.realm.view.realm;
  const row: RealmRecord = { ...realm, settings: { ...realm.settings, waiting_period_threshold: waitingDays } };
  opened.realm.projections.apply({ table: "realm", key: "realm", row });
  return opened;
}

const opened = await peopled();
const { view } = opened.realm;
const newcomer: Person = { role: 400, isActive: true, ageDays: 100 };
let model: Model = { people: new Map(userIds.map((id) => [id, newcomer])), groups: new Map() };

function become(next: Model): void {
  for (const delta of deltas(view, model, next)) opened.realm.projections.apply(delta);
  model = next;
}

t.test("[behaviour 3.5] membership follows the rules after every change of a random graph", async (t) => {
  let members = 0;
  let cycles = 0;
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
    become({ people: new Map(userIds.map((id) => [id, { ...newcomer }])), groups: new Map() });
    for (const change of steps) {
      become(changed(model, change));
      compare(view, model, JSON.stringify(change));
    }
    for (const id of groupIds) {
      members += userIds.filter((userId) => isIn(model, userId, id)).length;
      if (reaches(model, id, id)) cycles++;
    }
  });
  fc.assert(property, { seed: seedOf(t), numRuns: 300 });
  t.comment({ members, cycles });
  t.ok(members > 500 && cycles > 20, "the runs had an effect");
});

function reaches(from: Model, id: number, target: number, seen: Set<number> = new Set()): boolean {
  return (from.groups.get(id)?.subgroups ?? []).some((sub) => {
    if (sub === target) return true;
    if (seen.has(sub)) return false;
    seen.add(sub);
    return reaches(from, sub, target, seen);
  });
}

t.test("the overlay view gives the membership after a change", async (t) => {
  let shifts = 0;
  const property = fc.property(
    fc.array(step, { maxLength: 15 }),
    fc.array(step, { minLength: 1, maxLength: 4 }),
    (steps, last) => {
      become({ people: new Map(userIds.map((id) => [id, { ...newcomer }])), groups: new Map() });
      become(steps.reduce(changed, model));
      const next = last.reduce(changed, model);
      const before = JSON.stringify(userIds.map((id) => groupIds.map((groupId) => isIn(model, id, groupId))));
      const after = withOverrides(view, overridesOf(view, model, next));
      compare(after, next, "supposed");
      for (const id of userIds) {
        const overlaid = [...after.groups.ofMember(id)].sort((a, b) => a - b).join();
        const members = namedIds.filter((groupId) => next.groups.get(groupId)?.members.includes(id) === true).join();
        if (overlaid !== members) throw new Error(`${id} is predicted to be in ${overlaid}, not ${members}`);
      }
      compare(view, model, "and the view itself is unchanged");
      become(next);
      compare(view, model, "there");
      if (before !== JSON.stringify(userIds.map((id) => groupIds.map((groupId) => isIn(next, id, groupId))))) shifts++;
    },
  );
  fc.assert(property, { seed: seedOf(t), numRuns: 200 });
  t.ok(shifts > 40, "the runs had an effect");
});

t.test("[S3] group_scope_ids_kept_max: cached scopes of groups that are nested in a row are bounded", async (t) => {
  const count = 2000;
  const projection = new GroupsProjection();
  for (let id = count; id >= 1; id--) {
    const row = groupRow(100, { isActive: true, members: [], subgroups: id === count ? [] : [id + 1] });
    projection.apply({ table: "groups", key: id, row: { ...row, id, name: `g${id}` } });
  }
  // The scope of group 1 has all groups, that of group 2 one less, and so on.
  const first = projection.scope(1);
  let kept = count;
  let next = 2;
  while (kept + count - next + 1 <= limits.group_scope_ids_kept_max) {
    kept += projection.scope(next)?.ids.size ?? 0;
    next++;
  }
  t.equal(projection.scope(1), first, "at the bound all are kept");
  t.equal(projection.scope(next)?.ids.size, count - next + 1);
  t.not(projection.scope(1), first, "one more: they are made again");
  t.strictSame(projection.scope(1)?.ids.size, count);
});

t.test("a user named by more groups than a short list holds is in each of them, until removed", async (t) => {
  const projection = new GroupsProjection();
  const ids = Array.from({ length: 40 }, (_, index) => index + 1);
  for (const id of ids) {
    const row = groupRow(100, { isActive: true, members: [], subgroups: [] });
    projection.apply({ table: "groups", key: id, row: { ...row, id, name: `g${id}` } });
    projection.apply({ table: "groupMembers", key: [id, 2], row: {} });
    projection.apply({ table: "groupMembers", key: [id, 3], row: {} });
  }
  t.strictSame([...projection.ofMember(2)], ids);
  for (const id of ids.slice(0, 30)) projection.apply({ table: "groupMembers", key: [id, 2], row: null });
  t.strictSame([...projection.ofMember(2)], ids.slice(30));
  t.strictSame([...projection.ofMember(3)], ids);
});

t.test(
  "[behaviour 3.6] a group is a subgroup of none that it contains at any depth; each is looked at once",
  async (t) => {
    const count = 3000;
    let looks = 0;
    const groupOf = (id: number) => {
      looks++;
      const subgroups = id === count ? [] : [id + 1];
      return { ...groupRow(100, { isActive: true, members: [], subgroups }), id };
    };
    const all = Array.from({ length: count - 1 }, (_, index) => index + 2);
    t.equal(isWithin(1, all, groupOf), false);
    t.equal(looks, count - 1);
    t.equal(isWithin(count, [1], groupOf), true);
  },
);
