/**
 * Members and subgroups of user groups (behaviour 2.6, 3.5, 3.6; public API: get-user-group-members,
 * get-is-user-group-member, update-user-group-members, get- and update-user-group-subgroups).
 */
import t from "tap";
import { hasGroupPermission } from "../../domain/group-permissions.ts";
import { limits } from "../../schemas/limits.ts";
import { type Client, outcome, type Params, refusal, success } from "../support/client.ts";
import { createGroup, groupSeenBy, membersOf, people } from "../support/groups.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, third, moderator, guest } = await startServerWithUsers(t, [
  "member",
  "other",
  "third",
  "moderator",
  "guest",
]);
const bot = await server.bot("bot", owner);
const group = (name: string) => server.group(`role:${name}`);
const insufficient = refusal("Insufficient permission");
const ids = (...clients: readonly Client[]) => clients.map(({ userId }) => userId).sort((a, b) => a - b);

let made = 0;
const freshName = () => `group ${++made}`;
const change = async (by: Client, id: number, params: Params) =>
  outcome(await by.post(`/user_groups/${id}/members`, params));
const changeSubgroups = async (by: Client, id: number, params: Params) =>
  outcome(await by.post(`/user_groups/${id}/subgroups`, params));
const isIn = async (id: number, who: Client, more: Params = {}): Promise<boolean> =>
  (await owner.get(`/user_groups/${id}/members/${who.userId}`, more)).body.is_user_group_member;

t.test("members are added and removed, and listed by id", async (t) => {
  const id = await createGroup(owner, freshName(), [third]);
  t.strictSame(await change(owner, id, { add: [member.userId, bot.userId, guest.userId, other.userId] }), success());
  t.strictSame(await membersOf(owner, id), ids(third, member, bot, guest, other));
  t.strictSame((await groupSeenBy(owner, id)).members, ids(third, member, bot, guest, other));
  t.strictSame(await change(owner, id, { delete: [third.userId, bot.userId, third.userId] }), success());
  t.strictSame(await membersOf(owner, id), ids(member, guest, other));
  t.strictSame(await change(owner, id, { add: [third.userId], delete: [third.userId, member.userId] }), success());
  t.strictSame(await membersOf(owner, id), ids(guest, other), "first added, then removed");
});

t.test("[behaviour 2.6] an invalid change is rejected with its message and whole request", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const inner = await createGroup(owner, freshName());
  const asleep = await createGroup(owner, freshName());
  await owner.post(`/user_groups/${asleep}/deactivate`);
  const id = await createGroup(owner, freshName(), [other], { subgroups: [inner] });
  const nothing = 'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or "delete_subgroups".';
  const refused: [Params, string][] = [
    [{}, nothing],
    [{ add: [], delete: [] }, nothing],
    [{ add: [other.userId] }, `User ${other.userId} is already a member of this group`],
    [{ add: [9999] }, "Invalid user ID: 9999"],
    [{ add: [gone.userId] }, `Invalid user ID: ${gone.userId}`],
    [{ delete: [member.userId] }, `There is no member '${member.userId}' in this user group`],
    [{ delete: [9999] }, "Invalid user ID: 9999"],
    [{ add_subgroups: [inner] }, `User group ${inner} is already a subgroup of this group.`],
    [{ add_subgroups: [9999] }, "Invalid user group ID: 9999"],
    [{ add_subgroups: [asleep] }, "User group is deactivated."],
    [{ add_subgroups: [id] }, `User group ${id} is already a subgroup of one of the passed subgroups.`],
    [{ delete_subgroups: [group("members")] }, `User group ${group("members")} is not a subgroup of this group.`],
    [{ delete_subgroups: [9999] }, "Invalid user group ID: 9999"],
    [{ add: [third.userId], delete: [member.userId] }, `There is no member '${member.userId}' in this user group`],
    [{ add: [third.userId], add_subgroups: [9999] }, "Invalid user group ID: 9999"],
    [{ add: "x" }, "add is not valid JSON"],
    [{ add: [true] }, "add[0] is not an integer"],
    [{ add: 5 }, "add is not a list"],
  ];
  for (const [params, msg] of refused) {
    t.strictSame(await change(owner, id, params), refusal(msg), JSON.stringify(params));
  }
  t.strictSame(await membersOf(owner, id), ids(other));
  t.strictSame(await change(owner, 9999, { add: [member.userId] }), refusal("Invalid user group"));
  t.strictSame(
    await changeSubgroups(owner, id, {}),
    refusal('Nothing to do. Specify at least one of "add" or "delete".'),
  );
});

/** A table of settings against the four kinds of change that their holder may make. */
t.test("[behaviour 3.6] each setting permits its own change, and can_manage_group permits all", async (t) => {
  const closed = Object.fromEntries(
    ["can_add_members_group", "can_join_group", "can_leave_group", "can_manage_group", "can_remove_members_group"].map(
      (name) => [name, group("nobody")],
    ),
  );
  const may = {
    join: async (id: number) => change(third, id, { add: [third.userId] }),
    add: async (id: number) => change(third, id, { add: [member.userId] }),
    addBoth: async (id: number) => change(third, id, { add: [third.userId, member.userId] }),
    leave: async (id: number) => change(third, id, { delete: [third.userId] }),
    remove: async (id: number) => change(third, id, { delete: [other.userId] }),
    addGroup: async (id: number) => change(third, id, { add_subgroups: [group("moderators")] }),
    removeGroup: async (id: number) => change(third, id, { delete_subgroups: [group("owners")] }),
  };
  const table: Readonly<Record<string, readonly (keyof typeof may)[]>> = {
    nothing: [],
    can_join_group: ["join"],
    can_leave_group: ["leave"],
    can_add_members_group: ["join", "add", "addBoth", "addGroup"],
    can_remove_members_group: ["leave", "remove"],
    can_manage_group: ["join", "add", "addBoth", "leave", "remove", "addGroup", "removeGroup"],
    can_manage_all_groups: ["join", "add", "addBoth", "leave", "remove", "addGroup", "removeGroup"],
    can_mention_group: [],
  };
  for (const [setting, allowed] of Object.entries(table)) {
    const isOwn = setting.endsWith("_group");
    const holder = await createGroup(owner, freshName(), [third]);
    if (setting === "can_manage_all_groups") server.setRealm({ can_manage_all_groups: holder });
    for (const [action, act] of Object.entries(may)) {
      const isInside = action === "leave";
      const id = await createGroup(owner, freshName(), isInside ? [third, other] : [other], {
        ...closed,
        subgroups: [group("owners")],
        ...(isOwn ? { [setting]: { direct_members: [], direct_subgroups: [holder, group("owners")] } } : {}),
      });
      const expected = allowed.some((each) => each === action) ? success() : insufficient;
      t.strictSame(await act(id), expected, `${setting}: ${action}`);
    }
    server.setRealm({ can_manage_all_groups: group("owners") });
  }
});

t.test("[behaviour 3.5] permissions apply through nested groups, also on a deactivated group", async (t) => {
  const inner = await createGroup(owner, freshName(), [member]);
  const middle = await createGroup(owner, freshName(), [], { subgroups: [inner] });
  const outer = await createGroup(owner, freshName(), [], { subgroups: [middle, group("moderators")] });
  const id = await createGroup(owner, freshName(), [], { can_join_group: outer });
  for (const by of [member, moderator, owner]) t.strictSame(await change(by, id, { add: [by.userId] }), success());
  t.strictSame(await change(other, id, { add: [other.userId] }), insufficient);
  await change(owner, inner, { add: [other.userId] });
  t.strictSame(await change(other, id, { add: [other.userId] }), success());
  t.strictSame(await changeSubgroups(owner, middle, { delete: [inner] }), success());
  t.strictSame(await change(third, id, { add: [third.userId] }), insufficient);
  await owner.post(`/user_groups/${id}/deactivate`);
  t.strictSame(await change(owner, id, { delete: [other.userId], add: [third.userId] }), success(), "also deactivated");
  t.strictSame(await membersOf(owner, id), ids(member, moderator, owner, third));
});

t.test("users are members directly, through subgroups or by role, unless deactivated", async (t) => {
  const inner = await createGroup(owner, freshName(), [member]);
  const id = await createGroup(owner, freshName(), [other], { subgroups: [inner, group("moderators")] });
  const leaver = await server.user("leaver");
  await change(owner, id, { add: [leaver.userId] });
  for (const [who, direct, within] of [
    [other, true, true],
    [member, false, true],
    [moderator, false, true],
    [owner, false, true],
    [guest, false, false],
    [leaver, true, true],
  ] as const) {
    t.equal(await isIn(id, who), within);
    t.equal(await isIn(id, who, { direct_member_only: true }), direct);
  }
  t.strictSame(await membersOf(owner, id), ids(other, member, moderator, owner, leaver));
  t.strictSame(await membersOf(owner, id, { direct_member_only: true }), ids(other, leaver));
  await owner.delete(`/users/${leaver.userId}`);
  t.equal(await isIn(id, leaver), false);
  t.equal(await isIn(id, leaver, { direct_member_only: true }), false);
  t.strictSame(await membersOf(owner, id, { direct_member_only: true }), ids(other));
  await owner.post(`/users/${leaver.userId}/reactivate`);
  t.equal(await isIn(id, leaver), true, "kept during the deactivation");
  t.equal((await owner.get(`/user_groups/${id}/members/9999`)).body.msg, "No such user");
  t.equal((await owner.get(`/user_groups/9999/members/${owner.userId}`)).body.msg, "Invalid user group");
  t.equal((await owner.get(`/user_groups/9999/members`)).body.msg, "Invalid user group");
});

t.test("[behaviour 3.1] the members of system groups follow from roles", async (t) => {
  t.strictSame(await membersOf(owner, group("moderators")), ids(moderator, owner));
  t.strictSame(await membersOf(owner, group("moderators"), { direct_member_only: true }), ids(moderator));
  t.strictSame(await membersOf(owner, group("nobody")), []);
  t.ok((await membersOf(owner, group("everyone"))).includes(guest.userId));
  t.notOk((await membersOf(owner, group("members"))).includes(guest.userId));
  t.equal(await isIn(group("everyone"), guest, { direct_member_only: true }), true);
  t.equal(await isIn(group("everyone"), member, { direct_member_only: true }), false);
  t.equal(await isIn(group("members"), member, { direct_member_only: true }), true);
});

t.test("subgroups are listed directly or recursively, for system groups, too", async (t) => {
  const inner = await createGroup(owner, freshName());
  const middle = await createGroup(owner, freshName(), [], { subgroups: [inner] });
  const id = await createGroup(owner, freshName(), [], { subgroups: [middle, group("administrators")] });
  const read = async (more: Params = {}) => (await owner.get(`/user_groups/${id}/subgroups`, more)).body.subgroups;
  t.strictSame(await read(), [group("owners"), group("administrators"), inner, middle]);
  t.strictSame(await read({ direct_subgroup_only: true }), [group("administrators"), middle]);
  t.equal((await owner.get("/user_groups/9999/subgroups")).body.msg, "Invalid user group");
});

t.test("[behaviour 2.6] a group cannot contain itself, at any depth", async (t) => {
  const first = await createGroup(owner, freshName());
  const second = await createGroup(owner, freshName(), [], { subgroups: [first] });
  const last = await createGroup(owner, freshName(), [], { subgroups: [second] });
  const refused = refusal(`User group ${first} is already a subgroup of one of the passed subgroups.`);
  for (const add of [[first], [second], [last], [group("members"), last]]) {
    t.strictSame(await changeSubgroups(owner, first, { add }), refused, JSON.stringify(add));
  }
  t.strictSame(await changeSubgroups(owner, last, { add: [first] }), success(), "two paths to one group are no cycle");
  const value = { direct_members: [member.userId], direct_subgroups: [last] };
  const permitted = await owner.patch(`/user_groups/${first}`, { can_manage_group: { new: value } });
  t.equal(permitted.status, 200, "a permission held by a containing group is no cycle");
  await changeSubgroups(owner, last, { delete: [first] });
  await changeSubgroups(owner, second, { delete: [first] });
  t.strictSame(
    await changeSubgroups(owner, first, { add: [last] }),
    success(),
    "the other way round, after it was removed",
  );
});

t.test("[S3] the number of users and groups in a request is limited", async (t) => {
  const id = await createGroup(owner, freshName());
  const many = (count: number) => Array.from({ length: count }, (_, index) => 1_000_000 + index);
  const [people_, groups] = [limits.subscribers_per_request_max, limits.user_groups_per_realm_max];
  t.strictSame(await change(owner, id, { add: many(people_) }), refusal("Invalid user ID: 1000000"));
  t.match(await change(owner, id, { add: many(people_ + 1) }), { body: { msg: /^add is too long/ } });
  t.strictSame(await changeSubgroups(owner, id, { add: many(groups) }), refusal("Invalid user group ID: 1000000"));
  t.match(await changeSubgroups(owner, id, { add: many(groups + 1) }), { body: { msg: /^add is too long/ } });
});

t.test("a large change is split, and answered when all of it is done", async (t) => {
  const big = await startTestServer(t);
  const count = 2 * limits.group_members_per_command_max + 1;
  const all = await big.users("hall", count);
  const id = await createGroup(big.owner, "big");
  t.equal((await big.owner.post(`/user_groups/${id}/members`, { add: all })).status, 200);
  t.strictSame(await membersOf(big.owner, id), all);
  const left = all.slice(0, 3);
  const removed = await big.owner.post(`/user_groups/${id}/members`, { add: [2], delete: all.slice(3) });
  t.equal(removed.status, 200);
  t.strictSame(await membersOf(big.owner, id), [2, ...left]);
  const made_ = await big.owner.post("/user_groups/create", { name: "at once", description: "", members: all });
  t.strictSame(await membersOf(big.owner, made_.body.group_id), all);
  await big.stop();
  const again = await startTestServer(t, { dataDir: big.dataDir });
  t.strictSame(await membersOf(again.owner, made_.body.group_id), all, "[M1] after a restart");
});

/** Messages of the notification bot to a user. */
async function notices(client: Client): Promise<string[]> {
  const narrow = [{ operator: "dm", operand: [1] }];
  const params = { anchor: "newest", num_before: 100, num_after: 0, narrow, apply_markdown: false };
  const { body } = await client.get("/messages", params);
  return body.messages.map((message: { content: string }) => message.content);
}

t.test("[behaviour 2.6] the notification bot writes to users whom somebody else added or removed", async (t) => {
  const received = await startTestServer(t);
  const [anna, bert, carla] = await Promise.all(["anna", "bert", "carla"].map((name) => received.user(name)));
  if (anna === undefined || bert === undefined || carla === undefined) throw new Error("nobody there");
  const helper = await received.bot("helper", anna);
  const id = await createGroup(anna, "makers", [bert], { can_join_group: received.group("role:members") });
  t.strictSame(await notices(bert), [], "not on creation");
  await anna.post(`/user_groups/${id}/members`, { add: [anna.userId, carla.userId, helper.userId] });
  await anna.post(`/user_groups/${id}/members`, { delete: [bert.userId] });
  await bert.post(`/user_groups/${id}/members`, { add: [bert.userId] });
  await carla.post(`/user_groups/${id}/members`, { delete: [carla.userId] });
  const by = `@_**anna 0|${anna.userId}**`;
  t.strictSame(await notices(carla), [`${by} added you to the group @_*makers*.`]);
  t.strictSame(await notices(bert), [`${by} removed you from the group @_*makers*.`]);
  t.strictSame(await notices(anna), [], "no message for one's own change");
  const { body } = await carla.get("/messages", {
    anchor: "newest",
    num_before: 1,
    num_after: 0,
    narrow: [{ operator: "dm", operand: [1] }],
  });
  t.match(body.messages[0], {
    sender_id: 1,
    content: new RegExp(`<span class="user-group-mention silent" data-user-group-id="${id}">makers</span>`),
  });
});

t.test("[S3] group_notices_max: beyond it nobody gets a message", async (t) => {
  const quiet = await startTestServer(t);
  const anna = await quiet.user("anna");
  const rest = await quiet.users("hall", limits.group_notices_max);
  const id = await createGroup(quiet.owner, "loud");
  await quiet.owner.post(`/user_groups/${id}/members`, { add: [anna.userId, ...rest] });
  t.strictSame(await notices(anna), []);
  await quiet.owner.post(`/user_groups/${id}/members`, { delete: [anna.userId, ...rest.slice(1)] });
  t.equal((await notices(anna)).length, 1, "at the bound");
});

t.test("[behaviour 3.5] a named guest holds permissions for guests; operations on groups reject guests", async (t) => {
  const id = await createGroup(owner, freshName(), [guest], { can_leave_group: people(guest) });
  t.strictSame(await change(guest, id, { delete: [guest.userId] }), refusal("Not allowed for guest users"));
  const { view } = server.realm;
  const [row, person] = [view.groups.get(id), view.users.get(guest.userId)];
  if (row === undefined || person === undefined) throw new Error("not there");
  const named = { ...row, settings: { ...row.settings, can_manage_group: row.settings.can_leave_group ?? 0 } };
  t.equal(hasGroupPermission(view, person, named, "can_leave_group"), true);
  t.equal(hasGroupPermission(view, person, named, "can_manage_group"), false, "nor where guests hold nothing");
});
