/**
 * User groups: creation, changes and lists (spec 2.5, 3, 4.6; behaviour 2.6, 3.6; public API: create-user-group,
 * get-user-groups, deactivate-user-group), with permissions and the exact errors.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { createGroup, expectedSettings, groupSeenBy, people } from "../support/groups.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, moderator, administrator, guest } = await startServerWithUsers(t, [
  ...everyRole,
  "other",
]);
const bot = await server.bot("bot", owner);
const group = (name: string) => server.group(`role:${name}`);
const insufficient = refusal("Insufficient permission");

let made = 0;
const freshName = () => `group ${++made}`;

const settings = expectedSettings(group);

t.test("[behaviour 3.6] a new group has its record, with the default settings", async (t) => {
  const before = Math.floor(Date.now() / 1000);
  const id = await createGroup(member, "first", [other, member], { subgroups: [group("moderators"), group("owners")] });
  const { date_created: at, ...record } = await groupSeenBy(other, id);
  t.strictSame(record, {
    id,
    name: "first",
    description: "about first",
    members: [member.userId, other.userId].sort((a, b) => a - b),
    direct_subgroup_ids: [group("owners"), group("moderators")],
    creator_id: member.userId,
    is_system_group: false,
    deactivated: false,
    ...Object.fromEntries(Object.entries(settings).map(([name, row]) => [name, row.default(member.userId)])),
  });
  t.ok(at >= before && at <= Math.ceil(Date.now() / 1000), "seconds");
});

t.test(
  "[behaviour 3.1] system groups have their records, members by role, permissions that nobody holds",
  async (t) => {
    const { body } = await member.get("/user_groups");
    const listed = body.user_groups.map((each: { id: number }) => each.id);
    t.strictSame(
      listed,
      [...listed].sort((a: number, b: number) => a - b),
      "by id",
    );
    const named = Object.fromEntries(body.user_groups.map((each: { name: string }) => [each.name, each]));
    for (const [name, within, direct] of [
      ["nobody", [], []],
      ["owners", [], [owner]],
      ["administrators", ["owners"], [administrator]],
      ["moderators", ["administrators"], [moderator]],
      ["everyone", ["members"], [guest]],
      ["internet", ["everyone"], []],
    ] as const) {
      const record = named[`role:${name}`];
      t.strictSame(
        record.direct_subgroup_ids,
        within.map((each) => group(each)),
        name,
      );
      t.strictSame(
        record.members,
        direct.map((each) => each.userId),
        name,
      );
      t.equal(record.is_system_group, true);
      t.equal(record.creator_id, null);
      for (const setting of Object.keys(settings)) t.equal(record[setting], group("nobody"), `${name} ${setting}`);
    }
  },
);

t.test("[behaviour 3.6] the rules for names apply to creation and renaming, in this order", async (t) => {
  const id = await createGroup(owner, "to be renamed");
  await createGroup(owner, "Taken");
  const asleep = await createGroup(owner, "asleep");
  await expects(t, owner.post(`/user_groups/${asleep}/deactivate`), success());
  const long = limits.group_name_code_points_max;
  const refused: [string, string][] = [
    ["", "User group name can't be empty!"],
    ["  \t", "User group name can't be empty!"],
    ["x".repeat(long + 1), `User group name cannot exceed ${long} characters.`],
    [`@${"x".repeat(long)}`, `User group name cannot exceed ${long} characters.`],
    ["@all", "User group name cannot start with '@'."],
    ["role:kings", "User group name cannot start with 'role:'."],
    ["user:1", "User group name cannot start with 'user:'."],
    ["stream:1", "User group name cannot start with 'stream:'."],
    ["channel:1", "User group name cannot start with 'channel:'."],
    ["Taken", "User group 'Taken' already exists."],
    ["asleep", "User group 'asleep' already exists."],
  ];
  for (const [name, msg] of refused) {
    const created = await owner.post("/user_groups/create", { name, description: "", members: [] });
    t.strictSame(outcome(created), refusal(msg), `create ${name}`);
    await expects(t, owner.patch(`/user_groups/${id}`, { name }), msg, `rename to ${name}`);
  }
  // Case matters, spaces are kept, and length counts code points.
  for (const name of ["taken", " blanks ", "Role:x", "🍎".repeat(long)]) {
    await expects(t, owner.patch(`/user_groups/${id}`, { name }), success(), name);
    t.equal((await groupSeenBy(owner, id)).name, name);
  }
});

t.test("[S3] group_description_code_points_max limits a description", async (t) => {
  const bound = limits.group_description_code_points_max;
  const id = await createGroup(owner, freshName(), [], { description: "🍎".repeat(bound) });
  t.equal((await groupSeenBy(owner, id)).description.length, 2 * bound);
  const long = { description: "x".repeat(bound + 1) };
  const msg = `description is too long (limit: ${bound} characters)`;
  await expects(t, owner.patch(`/user_groups/${id}`, long), msg);
  const created = await owner.post("/user_groups/create", { name: freshName(), members: [], ...long });
  t.strictSame(outcome(created), refusal(msg));
});

t.test("creation needs a name, a description and members that exist", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const asleep = await createGroup(owner, freshName());
  await owner.post(`/user_groups/${asleep}/deactivate`);
  const complete = { name: "complete", description: "", members: [] };
  for (const missing of Object.keys(complete)) {
    const answer = await owner.post("/user_groups/create", { ...complete, [missing]: undefined });
    t.match(answer.body, { code: "REQUEST_VARIABLE_MISSING", var_name: missing });
  }
  const refused: [Params, string | RegExp][] = [
    [{ members: [9999] }, "Invalid user ID: 9999"],
    [{ members: [gone.userId] }, `Invalid user ID: ${gone.userId}`],
    [{ members: "everybody" }, "members is not valid JSON"],
    [{ members: ["2"] }, "members[0] is not an integer"],
    [{ members: { a: 1 } }, "members is not a list"],
    [{ subgroups: [9999] }, "Invalid user group ID: 9999"],
    [{ subgroups: [asleep] }, "User group is deactivated."],
    [{ can_join_group: 9999 }, "Invalid user group"],
    [{ can_join_group: asleep }, "User group is deactivated."],
    [{ can_join_group: { new: 2 } }, /can_join_group/],
  ];
  for (const [broken, msg] of refused) {
    const { body } = await owner.post("/user_groups/create", { ...complete, ...broken });
    t.match(body, { result: "error", code: "BAD_REQUEST", msg }, JSON.stringify(broken));
  }
  t.notOk((await owner.get("/user_groups")).body.user_groups.some((each: Params) => each["name"] === "complete"));
});

t.test("if a request breaks several rules, the first in order is reported", async (t) => {
  const rules: [Params, RegExp][] = [
    [{ members: [9999] }, /^Invalid user ID/],
    [{ name: "@x" }, /cannot start with/],
    [{ can_mention_group: 9999 }, /^Invalid user group$/],
    [{ subgroups: [9999] }, /^Invalid user group ID/],
  ];
  for (const [index, [broken, msg]] of rules.entries()) {
    const later = Object.assign({}, ...rules.slice(index + 1).map(([params]) => params));
    const all = { name: freshName(), description: "", members: [], ...later, ...broken };
    t.match((await owner.post("/user_groups/create", all)).body.msg, msg);
  }
});

t.test("[behaviour 2.6] a request must contain a change, for a group that exists", async (t) => {
  const id = await createGroup(owner, freshName());
  await expects(t, owner.patch(`/user_groups/${id}`), "No new data supplied");
  await expects(t, owner.patch("/user_groups/9999"), "No new data supplied");
  await expects(t, owner.patch("/user_groups/9999", { name: "x" }), "Invalid user group");
  await expects(t, owner.patch(`/user_groups/${id}`, { deactivated: true }), success());
  t.equal((await groupSeenBy(owner, id)).deactivated, false, "true does nothing");
  const unknown = await owner.patch(`/user_groups/${id}`, { name: "known", colour: "red" });
  t.strictSame(outcome(unknown), success({ ignored_parameters_unsupported: ["colour"] }));
  t.match((await owner.patch(`/user_groups/${id}`, { deactivated: "no" })).body.msg, /^deactivated is not/);
});

t.test("[behaviour 2.6, S1] guests and bots are rejected, and nobody may change system groups", async (t) => {
  const id = await createGroup(owner, freshName());
  const calls: ((by: typeof owner) => ReturnType<typeof owner.get>)[] = [
    (by) => by.get("/user_groups"),
    (by) => by.post("/user_groups/create", { name: "x", description: "", members: [] }),
    (by) => by.patch(`/user_groups/${id}`, { name: "x" }),
    (by) => by.post(`/user_groups/${id}/deactivate`),
    (by) => by.get(`/user_groups/${id}/members`),
    (by) => by.get(`/user_groups/${id}/members/${by.userId}`),
    (by) => by.post(`/user_groups/${id}/members`, { add: [by.userId] }),
    (by) => by.get(`/user_groups/${id}/subgroups`),
    (by) => by.post(`/user_groups/${id}/subgroups`, { add: [group("members")] }),
  ];
  for (const call of calls) {
    await expects(t, call(guest), "Not allowed for guest users");
    await expects(t, call(bot), "This endpoint does not accept bot requests.");
    t.equal((await call(owner.anonymous())).status, 401);
  }
  for (const name of ["nobody", "owners", "members", "everyone", "internet"]) {
    const path = `/user_groups/${group(name)}`;
    for (const answer of [
      await owner.patch(path, { description: "x" }),
      await owner.patch(path, { can_mention_group: { new: group("members") } }),
      await owner.post(`${path}/deactivate`),
      await owner.post(`${path}/members`, { add: [member.userId] }),
      await owner.post(`${path}/members`, { delete: [member.userId] }),
      await owner.post(`${path}/subgroups`, { add: [id] }),
      await owner.post(`${path}/subgroups`, { delete: [group("owners")] }),
    ]) {
      t.strictSame(outcome(answer), insufficient, name);
    }
  }
});

t.test("a user who became a guest after sending the request is rejected in the turn, too", async (t) => {
  const id = await createGroup(owner, freshName(), [], { can_manage_group: people(guest) });
  const change = { groupId: id, addIds: [member.userId], removeIds: [], addSubgroupIds: [], removeSubgroupIds: [] };
  const update = { groupId: id, name: "x", description: null, isDeactivated: null, settings: {} };
  const creation = { name: "x", description: "", memberIds: [], subgroupIds: [], settings: {} };
  const { dispatcher } = server.realm;
  const to = { actor: "realm" } as const;
  for (const request of [
    command(to, "group.create", creation, guest.userId),
    command(to, "group.update", update, guest.userId),
    command(to, "group.deactivate", { groupId: id }, guest.userId),
    command(to, "group.change-members", change, guest.userId),
  ]) {
    t.match(await dispatcher.ask(request), { kind: "refused", msg: "Not allowed for guest users" });
  }
});

t.test("[behaviour 1.9] can_create_groups decides who creates groups", async (t) => {
  const strict = await startTestServer(t);
  const callers = {
    member: await strict.user("m"),
    moderator: await strict.user("mod", roles.moderator),
    administrator: await strict.user("adm", roles.administrator),
    owner: strict.owner,
  };
  const make = (by: typeof owner) =>
    by.post("/user_groups/create", { name: freshName(), description: "", members: [] });
  for (const [holder, mayDo] of [
    ["members", ["member", "moderator", "administrator", "owner"]],
    ["moderators", ["moderator", "administrator", "owner"]],
    ["owners", ["owner"]],
    ["nobody", []],
  ] as const) {
    strict.setRealm({ can_create_groups: strict.group(`role:${holder}`) });
    for (const [role, by] of Object.entries(callers)) {
      const answer = await make(by);
      if (mayDo.some((name) => name === role)) t.equal(answer.status, 200, `${role} as one of ${holder}`);
      else t.strictSame(outcome(answer), insufficient, `${role}, not one of ${holder}`);
    }
  }
});

t.test("[behaviour 2.6] managing needs the group's setting or can_manage_all_groups, always", async (t) => {
  const id = await createGroup(member, freshName(), [other]);
  const path = `/user_groups/${id}`;
  const tries = async (by: typeof owner) => [
    outcome(await by.patch(path, { description: freshName() })),
    outcome(await by.patch(path, { can_join_group: { new: group("nobody") } })),
    outcome(await by.patch(path, { deactivated: true })),
  ];
  for (const by of [member, owner]) for (const answer of await tries(by)) t.strictSame(answer, success());
  for (const by of [other, moderator, administrator]) {
    for (const answer of await tries(by)) t.strictSame(answer, insufficient);
    await expects(t, by.post(`${path}/deactivate`), insufficient);
  }
  await owner.patch(path, {
    can_manage_group: { new: { direct_members: [], direct_subgroups: [group("moderators"), id] } },
  });
  for (const by of [moderator, administrator, other]) {
    for (const answer of await tries(by)) t.strictSame(answer, success(), "through a subgroup");
  }
  for (const answer of await tries(member)) t.strictSame(answer, insufficient, "no longer");
});

t.test("[S3] the number of groups in an organization is limited", async (t) => {
  const full = await startTestServer(t);
  const row = (id: number): GroupRecord => ({
    id,
    name: `g${id}`,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: null,
    memberIds: [],
    subgroupIds: [],
    settings: {},
  });
  const missing = limits.user_groups_per_realm_max - full.realm.view.groups.size - 1;
  full.writeMany(
    "groups",
    Array.from({ length: missing }, (_, index) => [100_000 + index, row(100_000 + index)]),
  );
  const create = (name: string) => full.owner.post("/user_groups/create", { name, description: "", members: [] });
  t.equal((await create("last")).status, 200);
  await expects(t, create("one more"), "Too many user groups");
});
