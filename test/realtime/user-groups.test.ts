/**
 * Which events users receive about user groups (public API, user_group events; behaviour 2.6, 4.3), and which private
 * channels membership shows and hides (S1): state before plus events equals fresh state, for clients of both kinds.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client, Event } from "../support/client.ts";
import { createGroup, groupSeenBy, people } from "../support/groups.ts";
import { commands } from "../support/runtime.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";
import { watch } from "../support/watch.ts";

const types = ["user_group", "message", "stream", "subscription"];
const knowing = {
  event_types: types,
  client_capabilities: { include_deactivated_groups: true, notification_settings_null: true },
};
const older = { event_types: types };

const { server, owner, member, other, guest } = await startServerWithUsers(t, ["member", "other", "guest"]);
const group = (name: string) => server.group(`role:${name}`);

/** The group events during `act`, received by an owner's client and by a guest's older one. */
async function receivedEvents(act: () => Promise<unknown>): Promise<{ knowing: Event[]; older: Event[] }> {
  const followers = [await owner.follow(knowing), await guest.follow(older)] as const;
  await act();
  for (const follower of followers) await follower.settled();
  const [first, second] = followers.map((follower) => follower.ofType("user_group"));
  return { knowing: first ?? [], older: second ?? [] };
}

async function bothReceived(act: () => Promise<unknown>): Promise<Event[]> {
  const events = await receivedEvents(act);
  t.strictSame(events.older, events.knowing, "everyone receives the same, guests too");
  return events.knowing;
}

t.test("a new group is sent with its record", async (t) => {
  let id = 0;
  const events = await bothReceived(async () => {
    id = await createGroup(member, "crew", [other], { subgroups: [group("owners")] });
  });
  t.strictSame(events, [{ type: "user_group", op: "add", group: await groupSeenBy(owner, id) }]);
});

t.test("[behaviour 2.6] each changed property has one event, an unchanged property none", async (t) => {
  const id = await createGroup(owner, "changing");
  const update = (data: unknown) => ({ type: "user_group", op: "update", group_id: id, data });
  const events = await bothReceived(() =>
    owner.patch(`/user_groups/${id}`, {
      can_mention_group: { new: people(other, member) },
      can_join_group: { new: { direct_members: [], direct_subgroups: [group("members")] } },
      can_leave_group: { new: group("everyone") },
      description: "new words",
      name: "changed",
    }),
  );
  t.strictSame(events, [
    update({ name: "changed" }),
    update({ description: "new words" }),
    update({ can_join_group: group("members") }),
    update({ can_mention_group: people(other, member) }),
  ]);
  const same = { name: "changed", description: "new words", can_join_group: { new: group("members") } };
  t.strictSame(await bothReceived(() => owner.patch(`/user_groups/${id}`, same)), []);
  const refused = () => owner.patch(`/user_groups/${id}`, { name: "other", can_join_group: { new: 9999 } });
  t.strictSame(await bothReceived(refused), [], "[M2] nor for a rejected request");
});

t.test("added and removed members and subgroups are sent as events", async (t) => {
  const inner = await createGroup(owner, "inner");
  const id = await createGroup(owner, "outer", [guest]);
  const about = { type: "user_group", group_id: id };
  const events = await bothReceived(() =>
    owner.post(`/user_groups/${id}/members`, {
      add: [other.userId, member.userId],
      delete: [guest.userId],
      add_subgroups: [inner, group("owners")],
    }),
  );
  t.strictSame(events, [
    { ...about, op: "add_members", user_ids: [member.userId, other.userId] },
    { ...about, op: "remove_members", user_ids: [guest.userId] },
    { ...about, op: "add_subgroups", direct_subgroup_ids: [group("owners"), inner] },
  ]);
  const removal = () => owner.post(`/user_groups/${id}/subgroups`, { delete: [inner] });
  t.strictSame(await bothReceived(removal), [{ ...about, op: "remove_subgroups", direct_subgroup_ids: [inner] }]);
});

t.test("[behaviour 2.6] only clients with the capability receive events of deactivated groups", async (t) => {
  const id = await createGroup(owner, "sleeper", [other]);
  const path = `/user_groups/${id}`;
  const about = { type: "user_group", group_id: id };
  const asleep = await receivedEvents(() => owner.post(`${path}/deactivate`));
  t.strictSame(asleep.knowing, [{ ...about, op: "update", data: { deactivated: true } }]);
  t.strictSame(asleep.older, [{ ...about, op: "remove" }]);
  const dreaming = await receivedEvents(async () => {
    await owner.patch(path, { description: "zzz", can_leave_group: { new: group("nobody") }, deactivated: true });
    await owner.post(`${path}/members`, {
      add: [member.userId],
      delete: [other.userId],
      add_subgroups: [group("owners")],
    });
  });
  const ops = dreaming.knowing.map(({ op }) => op);
  t.strictSame(ops, ["update", "update", "add_members", "remove_members", "add_subgroups"]);
  t.notOk(
    dreaming.knowing.some((event) => "is_of_deactivated" in event),
    "the flag is our own",
  );
  t.strictSame(dreaming.older, []);
  const awake = await receivedEvents(() =>
    owner.patch(path, { deactivated: false, name: "awake", can_join_group: { new: id } }),
  );
  const data = [{ name: "awake" }, { deactivated: false }, { can_join_group: id }];
  t.strictSame(
    awake.knowing,
    data.map((changed) => ({ ...about, op: "update", data: changed })),
  );
  t.strictSame(awake.older, [
    { type: "user_group", op: "add", group: await groupSeenBy(owner, id) },
    { ...about, op: "update", data: { can_join_group: id } },
  ]);
});

t.test("[behaviour 4.3] /register returns deactivated groups to capable clients, GET on request", async (t) => {
  const id = await createGroup(owner, "hidden");
  await owner.post(`/user_groups/${id}/deactivate`);
  const state = async (more: object) => {
    const { realm_user_groups: groups } = await guest.register({ fetch_event_types: ["realm_user_groups"], ...more });
    return groups as Event[];
  };
  const known = (await state(knowing)).find((each) => each.id === id);
  t.strictSame(known, await groupSeenBy(owner, id));
  t.notOk((await state(older)).some((each) => each.id === id));
  t.strictSame(
    await state(knowing),
    (await owner.get("/user_groups", { include_deactivated_groups: true })).body.user_groups,
  );
  t.strictSame(await state(older), (await owner.get("/user_groups")).body.user_groups);
});

t.test("[behaviour 2.6] membership of a group shows and hides private channels that the group may see", async (t) => {
  for (const setting of ["can_administer_channel_group", "can_add_subscribers_group", "can_subscribe_group"]) {
    const id = await createGroup(owner, `for ${setting}`);
    const outer = await createGroup(owner, `around ${setting}`, [], { subgroups: [id] });
    const holder = { direct_members: [owner.userId], direct_subgroups: [outer] };
    const name = `private ${setting}`.slice(0, 60);
    const channel = await owner.createChannel(name, [owner], { invite_only: true, [setting]: holder });
    await owner.createChannel(`silent ${setting}`.slice(0, 60), [owner], {
      invite_only: true,
      can_send_message_group: holder,
    });
    const seen = await member.follow(knowing);
    const strangers = await other.follow(knowing);
    const asGuest = await guest.follow(knowing);
    await owner.post(`/user_groups/${id}/members`, { add: [member.userId, guest.userId] });
    await owner.post(`/user_groups/${id}/members`, { delete: [member.userId] });
    await owner.post(`/user_groups/${outer}/subgroups`, { delete: [id] });
    await owner.post(`/user_groups/${id}/members`, { add: [member.userId] });
    await owner.post(`/user_groups/${outer}/subgroups`, { add: [id] });
    for (const follower of [seen, strangers, asGuest]) await follower.settled();
    const gone = { type: "stream", op: "delete", streams: [{ stream_id: channel }], stream_ids: [channel] };
    const [came, went, back, ...more] = seen.ofType("stream");
    t.match(came, { op: "create", streams: [{ stream_id: channel, invite_only: true, subscriber_count: 0 }] });
    t.strictSame(went, gone);
    t.match(back, { op: "create", streams: [{ stream_id: channel }] });
    t.strictSame(more, []);
    t.strictSame(seen.ofType("subscription")[0], {
      type: "subscription",
      op: "peer_add",
      stream_ids: [channel],
      user_ids: [owner.userId],
    });
    t.strictSame(strangers.ofType("stream"), [], "[S1] users outside receive nothing");
    t.strictSame(asGuest.ofType("stream"), [], "[behaviour 3.5] a guest gains no access even as a member");
    t.ok(await member.channel(channel));
  }
});

t.test("[behaviour 2.6] a system group as a subgroup shows the channel to every user of the role only", async (t) => {
  const moderator = await server.user("moderator", roles.moderator);
  const id = await createGroup(owner, "by role");
  const channel = await owner.createChannel("known by role", [owner], {
    invite_only: true,
    can_subscribe_group: id,
  });
  const followers = [await moderator.follow(knowing), await member.follow(knowing)] as const;
  await owner.post(`/user_groups/${id}/subgroups`, { add: [group("moderators")] });
  await followers[0].settled();
  await owner.post(`/user_groups/${id}/subgroups`, { delete: [group("moderators")] });
  for (const follower of followers) await follower.settled();
  t.match(followers[0].ofType("stream"), [
    { op: "create", streams: [{ stream_id: channel }] },
    { op: "delete", stream_ids: [channel] },
  ]);
  t.strictSame(followers[1].ofType("stream"), []);
});

t.test("[S1] a user who sees the channel for another reason receives nothing", async (t) => {
  const id = await createGroup(owner, "also");
  const value = { direct_members: [other.userId], direct_subgroups: [id] };
  await owner.createChannel("known twice", [owner, member], { invite_only: true, can_subscribe_group: value });
  const followers = [await member.follow(knowing), await other.follow(knowing)];
  await owner.post(`/user_groups/${id}/members`, { add: [member.userId, other.userId] });
  await owner.post(`/user_groups/${id}/members`, { delete: [member.userId, other.userId] });
  for (const follower of followers) {
    await follower.settled();
    t.strictSame(follower.ofType("stream"), []);
  }
});

t.test("[S3] when a change needs too many events, only the queues of the affected users are closed", async (t) => {
  const full = await startTestServer(t);
  const insider = await full.user("insider");
  const outsider = await full.user("outsider");
  const rest = await full.users("hall", 499);
  const id = await createGroup(full.owner, "wide");
  const channels = Math.floor(limits.visibility_pairs_max / (rest.length + 1)) + 1;
  const { dispatcher } = full.realm;
  const template = (name: string) => ({
    name,
    subscriberIds: [],
    description: "",
    renderedDescription: "",
    isPrivate: true,
    isWebPublic: false,
    isHistoryPublic: null,
    isDefault: false,
    messageRetentionDays: null,
    folderId: null,
    topicsPolicy: "inherit" as const,
    groups: { can_subscribe_group: id },
    announce: false,
    isWebPublicAllowed: false,
  });
  const make = async (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        dispatcher.ask(command({ actor: "realm" }, "channel.create", template(`c ${count} ${index}`), 2)),
      ),
    );
  await make(channels);
  const everybody = [insider.userId, ...rest];
  const pairs = channels * everybody.length;
  t.ok(pairs > limits.visibility_pairs_max && pairs > limits.visibility_pairs_per_command_max);
  const before = await insider.openQueue(types);
  t.equal((await full.owner.post(`/user_groups/${id}/members`, { add: everybody })).status, 200);
  const created = (await insider.readNow(before)).filter((event) => event.type === "stream");
  t.equal(created.length, channels, "a change of members continues in parts, and is sent completely");
  await full.owner.post(`/user_groups/${id}/members`, { delete: everybody });
  const crowded = await createGroup(full.owner, "crowded");
  await full.owner.post(`/user_groups/${crowded}/members`, { add: everybody });
  await Promise.all(rest.map((userId) => dispatcher.ask(commands.register(userId, `queue of ${userId}`))));
  const [inside, outside] = [await insider.openQueue(types), await outsider.openQueue(types)];
  t.equal((await full.owner.post(`/user_groups/${id}/subgroups`, { add: [crowded] })).status, 200);
  const { body } = await insider.get("/events", { queue_id: inside.queue_id, last_event_id: -1, dont_block: true });
  t.equal(body.code, "BAD_EVENT_QUEUE_ID");
  t.equal((await outsider.readNow(outside)).filter((event) => event.type === "stream").length, 0);
  const { streams } = await insider.register({ fetch_event_types: ["stream"] });
  t.equal(
    (streams as Event[]).filter((each) => each.invite_only).length,
    channels,
    "a client that registers again has everything",
  );
});

t.test("state follows changes of groups of all kinds, for clients of both kinds", (t) =>
  watch(
    t,
    async ({ owner, member, other, server: stage }) => {
      const named = async (name: string) => (await groupsOf(owner)).find((each) => each.name === name)?.id;
      const first = await createGroup(member, "made", [other]);
      await owner.patch(`/user_groups/${first}`, { name: "renamed", can_manage_group: { new: people(other, owner) } });
      await owner.post(`/user_groups/${first}/members`, { add: [member.userId], add_subgroups: [await named("old")] });
      await owner.post(`/user_groups/${await named("asleep")}/members`, { add: [member.userId] });
      await owner.patch(`/user_groups/${await named("asleep")}`, { description: "still" });
      await owner.patch(`/user_groups/${await named("woken")}`, { deactivated: false, name: "woken up" });
      await owner.post(`/user_groups/${await named("woken up")}/members`, { add: [other.userId] });
      await owner.post(`/user_groups/${await named("woken up")}/deactivate`);
      await owner.patch(`/user_groups/${await named("woken up")}`, { deactivated: false });
      await owner.delete(`/users/${other.userId}`);
      await owner.patch(`/user_groups/${first}`, { description: "meanwhile" });
      await owner.post(`/users/${other.userId}/reactivate`);
      const many = [...stage.realm.view.users.all()]
        .slice(-limits.group_members_per_command_max - 1)
        .map((user) => user.id);
      await owner.post("/user_groups/create", { name: "crowd", description: "", members: many });
      await owner.post(`/user_groups/${first}/members`, { add: many });
      await owner.post(`/user_groups/${first}/members`, { delete: many.slice(1) });
    },
    async ({ server: stage, owner, other }) => {
      await stage.users("hall", limits.group_members_per_command_max + 1);
      for (const name of ["old", "asleep", "woken"]) {
        const id = await createGroup(owner, name, [other], { can_join_group: people(other) });
        if (name !== "old") await owner.post(`/user_groups/${id}/deactivate`);
      }
    },
  ),
);

t.test("a restricted guest is notified when a deactivated user leaves groups and permissions", (t) =>
  watch(
    t,
    async ({ owner, other, server: stage }) => {
      const [nonMember = 0] = [...stage.realm.view.users.named("nonMember 0")];
      await owner.delete(`/users/${nonMember}`);
      await owner.delete(`/users/${other.userId}`);
      await owner.post(`/users/${nonMember}/reactivate`);
      await owner.delete(`/users/${nonMember}`);
    },
    async ({ server: stage, owner, member, other }) => {
      const nonMember = await stage.user("nonMember");
      for (const name of ["crew", "rested"]) {
        const value = { can_manage_group: people(owner, nonMember), can_join_group: people(other, nonMember) };
        const id = await createGroup(owner, name, [nonMember, other], value);
        if (name === "rested") await owner.post(`/user_groups/${id}/deactivate`);
      }
      await owner.patch(`/users/${member.userId}`, { role: 600 });
      // Both are in a channel that everyone joins; the hidden user leaves it.
      await nonMember.delete("/users/me/subscriptions", { subscriptions: ["general"] });
      stage.setRealm({ can_access_all_users_group: stage.group("role:members") });
    },
  ),
);

async function groupsOf(client: Client): Promise<Event[]> {
  return (await client.get("/user_groups", { include_deactivated_groups: true })).body.user_groups;
}

t.test("[S1] state follows private channels that groups show and hide, for clients of both kinds", (t) =>
  watch(
    t,
    async ({ owner, member, other }) => {
      const [inner, outer] = (await groupsOf(owner)).slice(-2).map((each) => each.id);
      const members = `/user_groups/${inner}/members`;
      await owner.post(members, { add: [member.userId] });
      await other.say("hidden", "t", "while in");
      await other.createChannel("hidden later", [other], { invite_only: true, can_administer_channel_group: outer });
      await owner.post(`/user_groups/${outer}/subgroups`, { delete: [inner] });
      await other.say("hidden", "t", "while out");
      await owner.post(`/user_groups/${outer}/members`, { add: [member.userId], add_subgroups: [inner] });
      await owner.post(members, { delete: [member.userId] });
      await member.post("/users/me/subscriptions", { subscriptions: [{ name: "hidden" }] });
      await owner.post(`/user_groups/${outer}/members`, { delete: [member.userId] });
      await member.delete("/users/me/subscriptions", { subscriptions: ["hidden"] });
    },
    async ({ owner, other }) => {
      const inner = await createGroup(owner, "inner");
      const outer = await createGroup(owner, "outer", [], { subgroups: [inner] });
      const value = { direct_members: [owner.userId], direct_subgroups: [outer] };
      await other.createChannel("hidden", [other], { invite_only: true, can_subscribe_group: value });
      await other.say("hidden", "t", "before");
    },
  ),
);

t.test("[behaviour 2.8] a role change moves the user between system groups", async (t) => {
  server.setRealm({ can_manage_all_groups: group("owners") });
  const somebody = await server.user("climber");
  const events = await bothReceived(() => owner.patch(`/users/${somebody.userId}`, { role: 300 }));
  const found = events.map(({ op, group_id: id }) => [op, id]);
  t.strictSame(found, [
    ["remove_members", group("members")],
    ["remove_members", group("fullmembers")],
    ["add_members", group("moderators")],
  ]);
});
