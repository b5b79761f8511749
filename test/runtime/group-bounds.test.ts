/** How many named groups and memberships one person and one organization have (S3, D130). */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { answerOf, createUsers, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";

const to = { actor: "realm" } as const;
const outcome = (reply: Reply) => (reply.kind === "ok" ? "ok" : reply.msg);

const groupsOfPerson = `You have created too many user groups (maximum ${limits.user_groups_per_person_max}).`;
const membershipsOfPerson = `The groups of their creator have too many members (maximum ${limits.group_memberships_per_person_max}).`;
const membershipsOfRealm = "The groups of this organization have too many members.";

function creation(name: string, by: number, memberIds: readonly number[] = []): Command<"group.create"> {
  return command(to, "group.create", { name, description: "", memberIds, subgroupIds: [], settings: {} }, by);
}

function change(groupId: number, by: number, addIds: readonly number[], removeIds: readonly number[] = []) {
  return command(
    to,
    "group.change-members",
    { groupId, addIds, removeIds, addSubgroupIds: [], removeSubgroupIds: [] },
    by,
  );
}

function named(id: number, creatorId: number | null): readonly [number, GroupRecord] {
  const none = { description: "", isSystem: false, isActive: true, createdAt: null, memberIds: [], subgroupIds: [] };
  return [id, { ...none, id, name: `filler ${id}`, creatorId, settings: {} }];
}

/** Memberships of users who do not exist, in memory alone: two million rows would take the disk seconds. */
function join(bench: OpenRealm, groupId: number, count: number): void {
  for (let index = 0; index < count; index++) {
    bench.realm.projections.apply({ table: "groupMembers", key: [groupId, 1000 + index], row: {} });
  }
}

t.test("[S3, D130] user_groups_per_person_max: a person creates no more groups; an administrator does", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0] = await createUsers(bench, 2);
  fill(
    bench.realm,
    "groups",
    rowsFor<"groups">(limits.user_groups_per_person_max - 1, (id) => named(id, person), 10_000),
  );
  const last = answerOf(await bench.ask(creation("last", person)))["group_id"] as number;
  t.equal(outcome(await bench.ask(creation("beyond", person))), groupsOfPerson);
  await bench.ask(command(to, "group.deactivate", { groupId: last }, person));
  t.equal(outcome(await bench.ask(creation("beyond", person))), groupsOfPerson, "a deactivated group counts");
  t.equal(outcome(await bench.ask(creation("another's", other))), "ok");
  const promoted = bench.realm.view.users.get(person);
  if (promoted === undefined) throw new Error("there is no such user");
  fill(bench.realm, "users", [[person, { ...promoted, role: roles.administrator }]]);
  t.equal(outcome(await bench.ask(creation("by an administrator", person))), "ok");
});

t.test("[S3, D130] group_memberships_per_person_max: the groups of one person have no more members", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0, third = 0] = await createUsers(bench, 3);
  const id = answerOf(await bench.ask(creation("own", person)))["group_id"] as number;
  fill(bench.realm, "groups", [named(10_000, person)]);
  join(bench, 10_000, limits.group_memberships_per_person_max - 2);
  t.equal(outcome(await bench.ask(creation("large", person, [person, other, third]))), membershipsOfPerson);
  t.equal(bench.realm.view.groups.byName("large"), undefined, "nothing is written");
  t.equal(outcome(await bench.ask(creation("small", person, [other]))), "ok");
  t.equal(outcome(await bench.ask(change(id, person, [person, other]))), membershipsOfPerson);
  t.equal(outcome(await bench.ask(change(id, person, [other]))), "ok", "at the bound");
  t.equal(outcome(await bench.ask(change(id, person, [third]))), membershipsOfPerson);
  t.equal(outcome(await bench.ask(change(id, person, [third], [other]))), "ok", "no more members than before");
  const nest = (addSubgroupIds: number[]) => ({
    groupId: id,
    addIds: [],
    removeIds: [],
    addSubgroupIds,
    removeSubgroupIds: [],
  });
  t.equal(outcome(await bench.ask(command(to, "group.change-members", nest([10_000]), person))), membershipsOfPerson);
  const containing = { name: "nested", description: "", memberIds: [], subgroupIds: [id], settings: {} };
  t.equal(outcome(await bench.ask(command(to, "group.create", containing, person))), membershipsOfPerson);
  t.equal(outcome(await bench.ask(creation("empty", person))), "ok");
  t.equal(outcome(await bench.ask(creation("another's", other, [person, other, third]))), "ok");
  t.equal(outcome(await bench.ask(creation("an owner's", ownerId, [person, other, third]))), "ok");
});

t.test("[S3, D130] group_memberships_per_realm_max: beyond it nobody adds a member", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0] = await createUsers(bench, 2);
  const size = 10_000;
  const count = limits.group_memberships_per_realm_max / size;
  fill(
    bench.realm,
    "groups",
    rowsFor<"groups">(count, (id) => named(id, null), 10_000),
  );
  // System groups contain each other.
  const before = [...bench.realm.view.groups.allNamed()].reduce((sum, { subgroupIds }) => sum + subgroupIds.length, 0);
  for (let index = 0; index < count; index++) join(bench, 10_000 + index, index === 0 ? size - before - 2 : size);
  t.equal(outcome(await bench.ask(creation("large", ownerId, [ownerId, person, other]))), membershipsOfRealm);
  const created = await bench.ask(creation("last", ownerId, [person]));
  const id = answerOf(created)["group_id"] as number;
  t.equal(outcome(await bench.ask(change(id, ownerId, [other, ownerId]))), membershipsOfRealm);
  t.equal(outcome(await bench.ask(change(id, ownerId, [other]))), "ok", "at the bound");
  for (const by of [ownerId, person]) {
    t.equal(outcome(await bench.ask(creation(`beyond ${by}`, by, [by]))), membershipsOfRealm);
  }
  t.equal(outcome(await bench.ask(change(id, ownerId, [], [other]))), "ok");
  t.equal(outcome(await bench.ask(change(id, ownerId, [ownerId]))), "ok", "a member who left makes room");
});
