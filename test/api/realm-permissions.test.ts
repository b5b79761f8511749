/**
 * Permissions of the organization (spec 2.2, D5, D16; behaviour 1.9, 3.2 to 3.5): the allowed groups in both forms, who
 * may change them, and that a change takes effect at once. The expected table is written independently of the code.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { expects, outcome, refusal, success } from "../support/client.ts";
import { createGroup, people } from "../support/groups.ts";
import { stateOf } from "../support/realm-state.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const {
  server,
  owner,
  administrator: admin,
  member,
  guest,
} = await startServerWithUsers(t, ["administrator", "member", "guest"]);
const id = (name: string) => server.group(`role:${name}`);
const ownerNeeded = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");

/**
 * Behaviour 1.9: default; whether everyone and nobody are allowed; o: only owners change it; or the list of allowed
 * groups.
 */
const table = `
create_multiuse_invite_group administrators - n o
can_access_all_users_group everyone only:everyone,members
can_add_subscribers_group members - n
can_add_custom_emoji_group members - n
can_create_bots_group members - n
can_create_write_only_bots_group members - n
can_create_groups members - n o
can_create_public_channel_group members - n
can_create_private_channel_group members - n
can_create_web_public_channel_group owners only:moderators,administrators,owners,nobody
can_delete_any_message_group administrators - n
can_delete_own_message_group everyone e n
can_invite_users_group members - n o
can_manage_all_groups owners - - o
can_manage_billing_group administrators - - o
can_mention_many_users_group administrators e n
can_move_messages_between_channels_group members - n
can_move_messages_between_topics_group everyone e n
can_resolve_topics_group everyone e n
can_set_delete_message_policy_group moderators - n
can_set_topics_policy_group members e n
can_summarize_topics_group everyone e n
direct_message_initiator_group everyone e n
direct_message_permission_group everyone e n`;

interface Permission {
  readonly name: string;
  readonly first: string;
  readonly only: readonly string[] | null;
  readonly everyone: boolean;
  readonly nobody: boolean;
  readonly byOwner: boolean;
}

const permissions: readonly Permission[] = table
  .trim()
  .split("\n")
  .map((line) => {
    const [name = "", first = "", ...rest] = line.split(" ");
    const only =
      rest
        .find((word) => word.startsWith("only:"))
        ?.slice(5)
        .split(",") ?? null;
    return {
      name,
      first,
      only,
      everyone: only === null ? rest[0] === "e" : only.includes("everyone"),
      nobody: only === null ? rest[1] === "n" : only.includes("nobody"),
      byOwner: rest.includes("o"),
    };
  });
const groupNames = [
  "nobody",
  "owners",
  "administrators",
  "moderators",
  "fullmembers",
  "members",
  "everyone",
  "internet",
];

function mayHold({ only, everyone, nobody }: Permission, group: string): boolean {
  if (only !== null) return only.includes(group);
  if (group === "internet") return false;
  return group === "everyone" ? everyone : group === "nobody" ? nobody : true;
}

async function held(name: string): Promise<unknown> {
  return (await stateOf(owner))[`realm_${name}`];
}

function receivedEvents(data: Record<string, unknown>) {
  return { type: "realm", op: "update_dict", property: "default", data };
}

const groupId = await createGroup(owner, "team", [member]);

t.test("[behaviour 1.9] each permission accepts or rejects each system group, with one event per change", async (t) => {
  const follower = await member.follow();
  const firsts = await stateOf(owner);
  const events: unknown[] = [];
  for (const permission of permissions) {
    const { name, first } = permission;
    t.equal(firsts[`realm_${name}`], id(first), `${name} until set`);
    // The next `old` proves that the value is stored.
    let current = first;
    for (const group of [...groupNames, first]) {
      const answer = outcome(await owner.patch("/realm", { [name]: { new: id(group), old: id(current) } }));
      const may = mayHold(permission, group);
      t.strictSame(
        answer,
        may || group === current ? success() : refusal(`'${name}' setting cannot be set to 'role:${group}' group.`),
        `${name} ${group}`,
      );
      if (!may || group === current) continue;
      current = group;
      events.push(receivedEvents({ [name]: id(group) }));
    }
  }
  await follower.settled();
  t.strictSame(follower.ofType("realm"), events);
  t.strictSame(await stateOf(owner), firsts);
});

t.test("[spec 2.2] other permissions take named groups and lists of users, normalized", async (t) => {
  const named = { direct_members: [], direct_subgroups: [groupId] };
  const anonymous = { direct_members: [guest.userId, member.userId, member.userId], direct_subgroups: [groupId] };
  const shown = { direct_members: [member.userId, guest.userId], direct_subgroups: [groupId] };
  for (const { name } of permissions.filter(({ only }) => only !== null)) {
    const needed = refusal(`'${name}' must be a system user group.`, "SYSTEM_GROUP_REQUIRED", 400, {
      setting_name: name,
    });
    for (const value of [groupId, named, anonymous]) {
      await expects(t, owner.patch("/realm", { [name]: { new: value } }), needed, name);
    }
  }
  const others = permissions.filter(({ only }) => only === null);
  const all = (form: (permission: Permission) => unknown) =>
    Object.fromEntries(others.map((permission) => [permission.name, form(permission)]));
  const follower = await member.follow();
  const change = async (form: (permission: Permission) => unknown) =>
    t.strictSame(outcome(await owner.patch("/realm", all(form))), success());
  await change(() => ({ new: named }));
  await change(() => ({ new: anonymous, old: groupId }));
  t.match(await stateOf(owner), { realm_can_create_groups: shown, realm_can_invite_users_group: shown });
  await change(() => ({ new: shown, old: anonymous }));
  await change(() => ({ new: people(admin), old: shown }));
  await change(({ first }) => ({ new: id(first), old: people(admin) }));
  await follower.settled();
  t.strictSame(follower.ofType("realm"), [
    receivedEvents(all(() => groupId)),
    receivedEvents(all(() => shown)),
    receivedEvents(all(() => people(admin))),
    receivedEvents(all(({ first }) => id(first))),
  ]);
  const anonymousGroups = [...server.realm.view.groups.all()].filter((group) => group.name === null);
  t.equal(anonymousGroups.length, 2, "no anonymous group is left except the one that the test group's creator holds");
});

t.test("[D16] if `old` does not match, nothing changes; it is checked first", async (t) => {
  const mismatch = refusal("'old' value does not match the expected value.", "EXPECTATION_MISMATCH", 400, {
    field_name: "old",
  });
  for (const { name, first } of permissions) {
    const other = first === "members" ? "everyone" : "members";
    for (const old of [id(other), people(admin), 4711]) {
      await expects(t, owner.patch("/realm", { [name]: { new: id(first), old } }), mismatch, name);
    }
    await expects(t, owner.patch("/realm", { [name]: { new: id(first), old: null } }), success(), name);
  }
  const both = { description: "half", can_create_bots_group: { new: id("owners"), old: id("owners") } };
  await expects(t, owner.patch("/realm", both), mismatch);
  t.equal(await held("description"), "");
});

t.test("[behaviour 3.4] an invalid value rejects the valid ones in the same request", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const closed = await createGroup(owner, "closed");
  await owner.post(`/user_groups/${closed}/deactivate`);
  const members = (ids: number[]) => ({ direct_members: ids, direct_subgroups: [] });
  const within = (ids: number[]) => ({ direct_members: [owner.userId], direct_subgroups: ids });
  const name = "can_create_bots_group";
  const cases: [value: unknown, msg: string][] = [
    [4711, "Invalid user group"],
    [closed, "User group is deactivated."],
    [members([4711]), "Invalid user ID: 4711"],
    [members([gone.userId]), "User is deactivated"],
    [within([4711]), "Invalid user group ID: 4711"],
    [within([closed]), "User group is deactivated."],
  ];
  for (const [value, msg] of cases) {
    const params = { can_add_subscribers_group: { new: id("owners") }, [name]: { new: value } };
    await expects(t, owner.patch("/realm", params), msg, JSON.stringify(value));
  }
  for (const value of ["members", { old: 1 }, 6, [], null]) {
    const answer = await owner.patch("/realm", { [name]: value === null ? "null" : value });
    t.equal(answer.status, 400, JSON.stringify(value));
  }
  t.equal(await held("can_add_subscribers_group"), id("members"));
});

t.test("[D5] owners change all permissions, administrators some, and other users none", async (t) => {
  const moderator = await server.user("moderator", roles.moderator);
  for (const { name, first, only, byOwner } of permissions) {
    const other = only === null ? "moderators" : (only.find((group) => group !== first) ?? "");
    const change = { [name]: { new: id(other) } };
    for (const client of [guest, member, moderator]) {
      await expects(
        t,
        client.patch("/realm", change),
        refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"),
      );
    }
    await expects(t, admin.patch("/realm", change), byOwner ? ownerNeeded : success(), name);
    await expects(t, owner.patch("/realm", change), success(), name);
    await expects(t, owner.patch("/realm", { [name]: { new: id(first) } }), success(), name);
  }
});

t.test("[behaviour 3.9] /register publishes the groups that each permission allows", async (t) => {
  const state = await stateOf(guest);
  const { realm, stream, group } = state.server_supported_permission_settings;
  t.strictSame(Object.keys(realm).sort(), permissions.map(({ name }) => name).sort());
  for (const { name, first, only, everyone, nobody } of permissions) {
    const { allowed_system_groups: allowed, ...flags } = realm[name];
    t.strictSame(
      flags,
      {
        require_system_group: only !== null,
        allow_internet_group: false,
        allow_nobody_group: nobody,
        allow_everyone_group: everyone,
        default_group_name: `role:${first}`,
        default_for_system_groups: null,
      },
      name,
    );
    t.strictSame([...allowed].sort(), (only ?? []).map((each) => `role:${each}`).sort(), name);
  }
  t.equal(Object.keys(stream).length, 10);
  t.match(stream, { can_administer_channel_group: { default_group_name: "stream_creator_or_nobody" } });
  t.strictSame(
    group.can_mention_group.allowed_system_groups.includes("role:owners"),
    false,
    "the flags cannot express that owners are excluded",
  );
  t.match(group, {
    can_manage_group: { default_group_name: "group_creator", default_for_system_groups: "role:nobody" },
  });
});
