/**
 * Deactivating and reactivating user groups (spec 2.5, 3; behaviour 2.6, 3.5): the effect of a deactivated group, and
 * what prevents a deactivation.
 */
import t from "tap";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { createGroup, groupSeenBy } from "../support/groups.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const group = (name: string) => server.group(`role:${name}`);
const insufficient = refusal("Insufficient permission");

let made = 0;
const freshName = () => `group ${++made}`;

t.test("[spec 3] a group is deactivated and reactivated, together with other changes in the request", async (t) => {
  const name = freshName();
  const id = await createGroup(member, name, [other]);
  const path = `/user_groups/${id}`;
  await expects(t, member.post(`${path}/deactivate`), success());
  t.equal((await groupSeenBy(other, id)).deactivated, true);
  t.strictSame((await groupSeenBy(other, id)).members, [other.userId], "members stay");
  const listed = await other.get("/user_groups");
  t.notOk(
    listed.body.user_groups.some((each: Params) => each["id"] === id),
    "listed on request only",
  );
  await expects(t, member.post(`${path}/deactivate`), "User group is deactivated.");
  await expects(t, member.patch(path, { deactivated: true }), success(), "no effect");
  await expects(
    t,
    member.patch(path, { can_leave_group: { new: group("nobody") }, description: "resting" }),
    success(),
    "[spec 2.5] the settings of a deactivated group may be changed",
  );
  t.match(await groupSeenBy(other, id), {
    can_leave_group: group("nobody"),
    description: "resting",
    deactivated: true,
  });
  await expects(t, other.patch(path, { deactivated: false }), insufficient);
  const woken = { deactivated: false, name: `${name} again`, can_mention_group: { new: id } };
  await expects(t, member.patch(path, woken), success(), "it may hold its own permission again");
  t.match(await groupSeenBy(other, id), { deactivated: false, name: `${name} again`, can_mention_group: id });
});

t.test("[spec 2.5, behaviour 3.5] a deactivated group cannot be used anew and keeps its existing uses", async (t) => {
  const id = await createGroup(owner, freshName(), [other]);
  const manager = await createGroup(owner, freshName(), []);
  await owner.post(`/user_groups/${manager}/deactivate`);
  await owner.patch(`/user_groups/${manager}`, { can_manage_group: { new: id } });
  await expects(t, owner.post(`/user_groups/${id}/deactivate`), success(), "used by a deactivated group only");
  await expects(t, other.patch(`/user_groups/${manager}`, { description: "x" }), success(), "still holds");
  const value = { direct_members: [other.userId], direct_subgroups: [id] };
  const refused = refusal("User group is deactivated.");
  for (const wanted of [id, value]) {
    const path = `/user_groups/${await createGroup(owner, freshName())}`;
    await expects(t, owner.patch(path, { can_join_group: { new: wanted } }), refused);
    await expects(t, owner.post(`${path}/subgroups`, { add: [id] }), refused);
    const channel = { name: freshName(), subscribers: [], can_send_message_group: wanted };
    await expects(t, owner.post("/channels/create", channel), refused);
  }
});

t.test("[behaviour 2.6] a group in use cannot be deactivated, and the error lists its uses", async (t) => {
  const id = await createGroup(owner, freshName());
  const inUse = (objections: unknown) =>
    refusal("Cannot deactivate user group in use.", "CANNOT_DEACTIVATE_GROUP_IN_USE", 400, { objections });
  const named = { direct_members: [member.userId], direct_subgroups: [id] };
  const within = await createGroup(owner, freshName(), [], { subgroups: [id] });
  const channel = await owner.createChannel(freshName(), [], {
    can_send_message_group: id,
    can_subscribe_group: named,
  });
  const managed = await createGroup(owner, freshName(), [], { can_manage_group: named, can_leave_group: id });
  await owner.patch(`/user_groups/${id}`, { can_join_group: { new: id } });
  server.setRealm({ can_create_bots_group: id });
  const used = {
    subgroup: { type: "subgroup", supergroup_ids: [within] },
    channel: { type: "channel", channel_id: channel, settings: ["can_send_message_group", "can_subscribe_group"] },
    own: { type: "user_group", group_id: id, settings: ["can_join_group"] },
    managed: { type: "user_group", group_id: managed, settings: ["can_leave_group", "can_manage_group"] },
    realm: { type: "realm", settings: ["can_create_bots_group"] },
  };
  const deactivate = async () => outcome(await owner.post(`/user_groups/${id}/deactivate`));
  t.strictSame(await deactivate(), inUse([used.subgroup, used.channel, used.own, used.managed, used.realm]));
  server.setRealm({ can_create_bots_group: group("members") });
  t.strictSame(await deactivate(), inUse([used.subgroup, used.channel, used.own, used.managed]));
  await owner.patch(`/user_groups/${id}`, { can_join_group: { new: group("nobody") } });
  await owner.post(`/user_groups/${managed}/deactivate`);
  t.strictSame(await deactivate(), inUse([used.subgroup, used.channel]), "deactivated groups do not count as uses");
  await owner.post(`/user_groups/${within}/deactivate`);
  t.strictSame(await deactivate(), inUse([used.channel]));
  t.equal((await groupSeenBy(owner, id)).deactivated, false);
});

t.test("[S1] the error does not name a private channel that the caller may not see", async (t) => {
  const id = await createGroup(member, freshName());
  await owner.createChannel(freshName(), [owner], { invite_only: true, can_send_message_group: id });
  const answer = await member.post(`/user_groups/${id}/deactivate`);
  t.equal(answer.body.code, "CANNOT_DEACTIVATE_GROUP_IN_USE");
  t.strictSame(answer.body.objections, []);
  t.equal((await owner.post(`/user_groups/${id}/deactivate`)).body.objections.length, 1);
});
