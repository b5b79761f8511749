/**
 * The permissions of a user group (spec 2.2, 2.5, 4.6; behaviour 3.2 to 3.4, 3.6): both forms of a value, `{new, old}`,
 * and the allowed groups.
 */
import t from "tap";
import { expects, outcome, refusal, success } from "../support/client.ts";
import { createGroup, expectedSettings, groupSeenBy, people } from "../support/groups.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const group = (name: string) => server.group(`role:${name}`);

let made = 0;
const freshName = () => `group ${++made}`;

const settings = expectedSettings(group);

t.test("[spec 2.2, 2.5] every setting takes both forms, directly and as {new, old}", async (t) => {
  for (const name of Object.keys(settings)) {
    const id = await createGroup(member, freshName(), [], { [name]: group("moderators") });
    t.equal((await groupSeenBy(owner, id))[name], group("moderators"), name);
    const forms: [unknown, unknown][] = [
      [people(other, member), people(other, member)],
      [{ direct_members: [other.userId], direct_subgroups: [group("owners"), group("owners")] }, undefined],
      [{ direct_members: [], direct_subgroups: [group("members")] }, group("members")],
      [{ direct_members: [], direct_subgroups: [] }, group("nobody")],
      [group("fullmembers"), group("fullmembers")],
      [id, id],
    ];
    for (const [sent, shown] of forms) {
      await expects(t, owner.patch(`/user_groups/${id}`, { [name]: { new: sent } }), success(), name);
      const given = (await groupSeenBy(owner, id))[name];
      t.strictSame(given, shown ?? { direct_members: [other.userId], direct_subgroups: [group("owners")] });
    }
  }
});

t.test("[spec 2.5] each setting allows only certain system groups", async (t) => {
  const id = await createGroup(owner, freshName());
  for (const [name, { allowsEveryone }] of Object.entries(settings)) {
    const cannot = (role: string) => refusal(`'${name}' setting cannot be set to 'role:${role}' group.`);
    const tried = async (role: string) => {
      const created = await owner.post("/user_groups/create", {
        name: freshName(),
        description: "",
        members: [],
        [name]: group(role),
      });
      const changed = await owner.patch(`/user_groups/${id}`, { [name]: { new: group(role) } });
      t.equal(created.status, changed.status, "the same on creation");
      return outcome(changed);
    };
    t.strictSame(await tried("internet"), cannot("internet"));
    t.strictSame(await tried("everyone"), allowsEveryone ? success() : cannot("everyone"));
    t.strictSame(await tried("owners"), name === "can_mention_group" ? cannot("owners") : success());
    for (const role of ["nobody", "administrators", "moderators", "fullmembers", "members"]) {
      t.strictSame(await tried(role), success(), `${name} ${role}`);
    }
  }
});

t.test("[spec 2.2, D16] `old` must match, the same value succeeds, and one error rejects all", async (t) => {
  const id = await createGroup(owner, freshName());
  const path = `/user_groups/${id}`;
  const mismatch = refusal("'old' value does not match the expected value.", "EXPECTATION_MISMATCH", 400, {
    field_name: "old",
  });
  const wrong = {
    can_join_group: { new: group("members"), old: group("owners") },
    name: "never",
    description: "never",
  };
  await expects(t, owner.patch(path, wrong), mismatch);
  t.not((await groupSeenBy(owner, id)).name, "never", "nothing of the request was applied");
  const right = { can_join_group: { new: group("members"), old: group("nobody") } };
  await expects(t, owner.patch(path, right), success());
  await expects(t, owner.patch(path, right), mismatch, "once");
  const sets = {
    new: { direct_members: [other.userId, member.userId], direct_subgroups: [] },
    old: { direct_members: [], direct_subgroups: [group("members")] },
  };
  await expects(t, owner.patch(path, { can_join_group: sets }), success(), "compared in normalized form");
  const same = { new: sets.new, old: { direct_members: [member.userId, other.userId], direct_subgroups: [] } };
  await expects(t, owner.patch(path, { can_join_group: same }), success(), "as sets");
  await expects(t, owner.patch(path, { can_join_group: { new: 9999, old: null } }), "Invalid user group");
  for (const value of [{}, { old: 1 }, { new: "x" }, 5, null]) {
    t.match((await owner.patch(path, { can_join_group: value })).body, {
      code: "BAD_REQUEST",
      msg: /can_join_group/,
    });
  }
});

t.test("[behaviour 3.2] the anonymous group behind a list of users is reused, deleted, never shared", async (t) => {
  const { view } = server.realm;
  const id = await createGroup(owner, freshName());
  const path = `/user_groups/${id}`;
  const behind = () => view.groups.get(id)?.settings.can_manage_group ?? 0;
  const [first, count] = [behind(), [...view.groups.all()].length];
  await owner.patch(path, { can_manage_group: { new: people(owner, other) } });
  t.equal(behind(), first, "used again");
  await expects(t, owner.patch(path, { can_join_group: { new: first } }), "Invalid user group");
  await expects(t, owner.get(`/user_groups/${first}/members`), "Invalid user group");
  await expects(t, owner.patch(`/user_groups/${first}`, { name: "x" }), "Invalid user group");
  await owner.patch(path, { can_manage_group: { new: group("owners") } });
  t.equal([...view.groups.all()].length, count - 1, "removed");
  const both = { can_manage_group: { new: people(other) }, can_leave_group: { new: people(member) } };
  await expects(t, owner.patch(path, both), success(), "two in one request get two ids");
  t.match(await groupSeenBy(owner, id), { can_manage_group: people(other), can_leave_group: people(member) });
});
