/**
 * Permissions of a new channel: both forms of group-setting values (spec 2.2, 2.4; behaviour 3.2 to 3.7), the
 * permissions that the caller needs, and the order of the checks in POST /channels/create (behaviour 2.3).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { expects, outcome, type Params, refusal } from "../support/client.ts";
import { plainChannel } from "../support/plain-channel.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, moderator, guest } = await startServerWithUsers(t, ["member", "moderator", "guest"]);
const group = (name: string) => server.group(`role:${name}`);

let made = 0;
async function create(params: Params, by = owner) {
  made++;
  return by.post("/channels/create", { name: `channel ${made}`, subscribers: [], ...params });
}

/** The settings of spec 2.4, and whether role:everyone is allowed for each (behaviour 3.7). */
const settings: Readonly<Record<string, boolean>> = {
  can_add_subscribers_group: false,
  can_administer_channel_group: false,
  can_delete_any_message_group: true,
  can_delete_own_message_group: true,
  can_move_messages_out_of_channel_group: true,
  can_move_messages_within_channel_group: true,
  can_remove_subscribers_group: true,
  can_send_message_group: true,
  can_subscribe_group: false,
  can_resolve_topics_group: true,
};

t.test("[spec 2.2] a value is a group id or a list of users and groups, and is returned normalized", async (t) => {
  const people = [owner.userId, member.userId];
  const forms: [string, unknown, unknown][] = [
    ["the id of a group", group("moderators"), group("moderators")],
    ["one subgroup alone", { direct_members: [], direct_subgroups: [group("members")] }, group("members")],
    ["nobody at all", { direct_members: [], direct_subgroups: [] }, group("nobody")],
    [
      "people",
      { direct_members: [...people].reverse(), direct_subgroups: [] },
      { direct_members: people, direct_subgroups: [] },
    ],
    [
      "users and groups, each named twice",
      {
        direct_members: [member.userId, member.userId],
        direct_subgroups: [group("moderators"), group("owners"), group("moderators")],
      },
      { direct_members: [member.userId], direct_subgroups: [group("owners"), group("moderators")] },
    ],
  ];
  for (const setting of Object.keys(settings)) {
    for (const [what, sent, given] of forms) {
      const answer = await create({ [setting]: sent });
      t.equal(answer.status, 200, `${setting}: ${what}`);
      t.strictSame((await owner.channel(answer.body.id))[setting], given, `${setting}: ${what}`);
    }
  }
});

t.test("[spec 2.4, behaviour 3.7] role:internet is never allowed, role:everyone as the table says", async (t) => {
  for (const [setting, allowsEveryone] of Object.entries(settings)) {
    await expects(
      t,
      create({ [setting]: group("internet") }),
      `'${setting}' setting cannot be set to 'role:internet' group.`,
    );
    const toAll = await create({ [setting]: group("everyone") });
    if (allowsEveryone) t.equal(toAll.status, 200, setting);
    else t.strictSame(outcome(toAll), refusal(`'${setting}' setting cannot be set to 'role:everyone' group.`));
  }
});

t.test("[spec 2.2] the groups and users in a value must exist and be active", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const sleeping = 5000;
  server.write("groups", sleeping, {
    id: sleeping,
    name: "sleeping",
    description: "",
    isSystem: false,
    isActive: false,
    creatorId: null,
    createdAt: null,
    memberIds: [],
    subgroupIds: [],
    settings: {},
  });
  const refused: [unknown, string][] = [
    [9999, "Invalid user group"],
    [sleeping, "User group is deactivated."],
    [{ direct_members: [9999], direct_subgroups: [] }, "Invalid user ID: 9999"],
    [{ direct_members: [gone.userId], direct_subgroups: [] }, "User is deactivated"],
    [{ direct_members: [member.userId], direct_subgroups: [9999] }, "Invalid user group ID: 9999"],
    [{ direct_members: [member.userId], direct_subgroups: [sleeping] }, "User group is deactivated."],
  ];
  for (const [value, msg] of refused) {
    await expects(t, create({ can_send_message_group: value }), msg, msg);
  }
  for (const value of [{ direct_members: [2] }, { direct_members: [2], direct_subgroups: [], more: 1 }, '"2"', null]) {
    const answer = await create({ can_send_message_group: value });
    t.match(answer, {
      status: 400,
      body: { code: "BAD_REQUEST", msg: /can_send_message_group/ },
    });
  }
});

t.test("[spec 2.2] the anonymous group behind a list of users cannot be used as a group id", async (t) => {
  const first = await create({ can_send_message_group: { direct_members: [member.userId, 2], direct_subgroups: [] } });
  t.equal(first.status, 200);
  for (let id = 9; id < 40; id++) {
    await expects(t, create({ can_send_message_group: id }), "Invalid user group", String(id));
  }
});

t.test("[spec 2.2] a deactivated user is no longer listed in a value", async (t) => {
  const leaver = await server.user("leaver");
  const answer = await create({
    can_send_message_group: { direct_members: [member.userId, leaver.userId], direct_subgroups: [] },
  });
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame((await owner.channel(answer.body.id)).can_send_message_group, {
    direct_members: [member.userId],
    direct_subgroups: [],
  });
});

t.test("[behaviour 2.3] only moderators set who may delete messages; anybody may set it to nobody", async (t) => {
  for (const setting of ["can_delete_any_message_group", "can_delete_own_message_group"]) {
    await expects(t, create({ [setting]: group("members") }, member), "Insufficient permission");
    t.equal((await create({ [setting]: group("members") }, moderator)).status, 200);
    t.equal((await create({ [setting]: group("nobody") }, member)).status, 200);
  }
});

t.test("[behaviour 2.3] guests cannot create channels, and get the same answer whatever they send", async (t) => {
  await expects(t, create({}, guest), "Not allowed for guest users");
  await expects(t, create({ name: "general" }, guest), "Not allowed for guest users");
  await expects(t, guest.post("/channels/create"), "Not allowed for guest users");
});

t.test("a user who became a guest after sending the request is rejected in the turn, too", async (t) => {
  const request = command({ actor: "realm" }, "channel.create", plainChannel("late"), guest.userId);
  t.match(await server.realm.dispatcher.ask(request), { kind: "refused", msg: "Not allowed for guest users" });
});

t.test("[behaviour 2.3] if a request breaks several rules, the first in order is reported", async (t) => {
  const rules: [Params, RegExp][] = [
    [{ name: "x".repeat(61) }, /^Channel name too long/],
    [{ name: "general" }, /^Channel 'general' already exists$/],
    [{ folder_id: 1 }, /^Invalid channel folder ID$/],
    [{ message_retention_days: 0 }, /^Bad value for 'message_retention_days'/],
    [{ is_default_stream: true }, /^Insufficient permission$/],
    [{ is_web_public: true }, /^Web-public channels are not enabled\.$/],
    [{ can_send_message_group: 9999 }, /^Invalid user group$/],
    [{ subscribers: [9999] }, /^No such user$/],
  ];
  for (const [index, [broken, msg]] of rules.entries()) {
    const later = Object.assign({}, ...rules.slice(index + 1).map(([params]) => params));
    const answer = await create({ ...later, ...broken }, member);
    t.match(answer.body.msg, msg, JSON.stringify(broken));
  }
});

t.test("[spec 4.3] organization settings decide who creates channels and sets a topics policy", async (t) => {
  const strict = await startTestServer(t);
  const somebody = await strict.user("somebody");
  const changes: [string, Params][] = [
    ["can_create_public_channel_group", {}],
    ["can_create_private_channel_group", { invite_only: true }],
    ["can_set_topics_policy_group", { topics_policy: "allow_empty_topic" }],
  ];
  const administrators = strict.group("role:administrators");
  const members = strict.group("role:members");
  for (const [setting, params] of changes) {
    strict.setRealm(Object.fromEntries(changes.map(([name]) => [name, members])));
    strict.setRealm({ [setting]: administrators });
    await expects(t, create(params, somebody), "Insufficient permission", setting);
    t.equal((await create(params, strict.owner)).status, 200);
    for (const [other, allowed] of changes) {
      if (other === setting) continue;
      const needsPublic = setting === "can_create_public_channel_group" && allowed["invite_only"] === undefined;
      if (!needsPublic) t.equal((await create(allowed, somebody)).status, 200, `${setting} does not concern ${other}`);
    }
  }
});

t.test("[behaviour 3.5] a guest never holds a permission that role:everyone may not hold, even if named", async (t) => {
  const value = { direct_members: [guest.userId], direct_subgroups: [] };
  const name = `for the guest ${made}`;
  const answer = await create({
    name,
    invite_only: true,
    can_subscribe_group: value,
    can_add_subscribers_group: value,
  });
  t.equal(answer.status, 200);
  t.equal(await guest.channel(answer.body.id), undefined);
  const tried = await guest.post("/users/me/subscriptions", { subscriptions: [{ name }] });
  t.equal(tried.status, 400);
  const run = await create({ subscribers: [guest.userId, member.userId], can_administer_channel_group: value });
  const { name: ran } = await guest.channel(run.body.id);
  const removal = await guest.delete("/users/me/subscriptions", { subscriptions: [ran], principals: [member.userId] });
  t.strictSame(outcome(removal), refusal("Insufficient permission"));
});
