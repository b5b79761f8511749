/**
 * The effect of the organization's permissions (behaviour 1.9, 3.5): a change applies at once, to the operation and to
 * the rights that clients see.
 */
import t from "tap";
import { type Client, type Event, outcome, refusal } from "../support/client.ts";
import { people } from "../support/groups.ts";
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

async function held(name: string): Promise<unknown> {
  return (await stateOf(owner))[`realm_${name}`];
}

function receivedEvents(data: Record<string, unknown>) {
  return { type: "realm", op: "update_dict", property: "default", data };
}

async function rights(client: Client): Promise<Event> {
  return stateOf(client, ["realm_user", "realm"]);
}

t.test("the state has the user's permissions, and the older numeric settings agree with them", async (t) => {
  const cases: [group: unknown, may: boolean[], policy: number][] = [
    [id("members"), [true, true, false], 1],
    [id("fullmembers"), [true, true, false], 3],
    [id("moderators"), [true, false, false], 4],
    [id("administrators"), [true, false, false], 2],
    [id("owners"), [false, false, false], 2],
    [id("nobody"), [false, false, false], 2],
    [people(member, guest), [false, true, false], 1],
  ];
  await owner.patch("/realm", { enable_spectator_access: true });
  for (const [value, [forAdmin, forMember, forGuest], policy] of cases) {
    await owner.patch("/realm", {
      can_create_public_channel_group: { new: value },
      can_create_private_channel_group: { new: value },
      can_add_subscribers_group: { new: value },
      can_invite_users_group: { new: value },
    });
    for (const [client, may] of [
      [admin, forAdmin],
      [member, forMember],
      [guest, forGuest],
    ] as const) {
      t.match(await rights(client), {
        can_create_public_streams: may,
        can_create_private_streams: may,
        can_create_streams: may,
        can_subscribe_other_users: may,
        can_invite_others_to_realm: may,
        realm_create_public_stream_policy: policy,
        realm_create_private_stream_policy: policy,
      });
    }
  }
  await owner.patch("/realm", { can_create_private_channel_group: { new: id("members") } });
  t.match(await rights(admin), { can_create_public_streams: false, can_create_streams: true });
  for (const [group, policy] of [
    ["owners", 7],
    ["administrators", 2],
    ["moderators", 4],
    ["nobody", 6],
  ] as const) {
    await owner.patch("/realm", { can_create_web_public_channel_group: { new: id(group) } });
    t.match(await rights(admin), {
      can_create_web_public_streams: group === "administrators" || group === "moderators",
      realm_create_web_public_stream_policy: policy,
    });
  }
  await owner.patch("/realm", {
    enable_spectator_access: false,
    can_create_web_public_channel_group: { new: id("moderators") },
  });
  t.match(await rights(admin), { can_create_web_public_streams: false });
  for (const [group, policy] of [
    ["everyone", 1],
    ["members", 2],
    ["fullmembers", 3],
    ["moderators", 7],
    ["administrators", 5],
    ["owners", 5],
    ["nobody", 6],
  ] as const) {
    await owner.patch("/realm", { can_mention_many_users_group: { new: id(group) } });
    t.equal(await held("wildcard_mention_policy"), policy, group);
  }
  await owner.patch("/realm", {
    can_create_public_channel_group: { new: id("members") },
    can_add_subscribers_group: { new: id("members") },
    can_invite_users_group: { new: id("members") },
  });
});

t.test("[behaviour 3.5] a permission applies at once, and guests never hold one that excludes everyone", async (t) => {
  const insufficient = refusal("Insufficient permission");
  let count = 0;
  const acts: readonly (readonly [name: string, act: (client: Client) => Promise<unknown>])[] = [
    [
      "can_create_public_channel_group",
      async (client) => outcome(await client.post("/channels/create", { name: `c${count++}`, subscribers: [] })),
    ],
    [
      "can_create_private_channel_group",
      async (client) =>
        outcome(await client.post("/channels/create", { name: `p${count++}`, subscribers: [], invite_only: true })),
    ],
    [
      "can_create_bots_group",
      async (client) => outcome(await client.post("/bots", { full_name: `bot ${count}`, short_name: `bot${count++}` })),
    ],
    [
      "can_create_groups",
      async (client) =>
        outcome(await client.post("/user_groups/create", { name: `g${count++}`, description: "", members: [] })),
    ],
  ];
  for (const [name, act] of acts) {
    await owner.patch("/realm", { [name]: { new: people(member, guest) } });
    t.match(await act(member), { status: 200 }, `${name}: named`);
    t.strictSame(await act(admin), insufficient, `${name}: administrators do not bypass it`);
    t.notMatch(await act(guest), { status: 200 }, `${name}: a guest, although named`);
    await owner.patch("/realm", { [name]: { new: id("nobody") } });
    t.strictSame(await act(member), insufficient, `${name}: nobody`);
    await owner.patch("/realm", { [name]: { new: id("members") } });
    t.match(await act(member), { status: 200 }, `${name}: members`);
  }
  const direct = (client: Client, to: Client) =>
    client.post("/messages", { type: "direct", to: [to.userId], content: "hello" });
  await owner.patch("/realm", { direct_message_initiator_group: { new: id("administrators") } });
  t.equal(
    (await direct(member, admin)).body.msg,
    "You do not have permission to initiate direct message conversations.",
  );
  await owner.patch("/realm", { direct_message_initiator_group: { new: people(guest) } });
  t.equal((await direct(guest, member)).status, 200, "everyone is allowed, so guests are");
  await owner.patch("/realm", { direct_message_permission_group: { new: id("nobody") } });
  t.equal((await direct(guest, member)).body.msg, "Direct messages are disabled in this organization.");
  await owner.patch("/realm", {
    direct_message_permission_group: { new: id("everyone") },
    direct_message_initiator_group: { new: id("everyone") },
  });
});

t.test("a deactivated user holds no permission and regains it on reactivation, with events", async (t) => {
  const leaver = await server.user("leaver");
  await owner.patch("/realm", { can_create_bots_group: { new: people(leaver, admin) } });
  const follower = await member.follow();
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame(await held("can_create_bots_group"), people(admin));
  await follower.settled();
  t.strictSame(follower.ofType("realm"), [], "clients derive it from the deactivation");
  await owner.post(`/users/${leaver.userId}/reactivate`);
  await follower.settled();
  t.strictSame(follower.ofType("realm"), [receivedEvents({ can_create_bots_group: people(admin, leaver) })]);
  await owner.patch("/realm", { can_access_all_users_group: { new: id("members") } });
  const restricted = await guest.follow();
  const others = await member.follow();
  await owner.delete(`/users/${leaver.userId}`);
  await restricted.settled();
  await others.settled();
  t.strictSame(
    restricted.ofType("realm"),
    [receivedEvents({ can_create_bots_group: people(admin) })],
    "a client that cannot see it receives an event",
  );
  t.strictSame(others.ofType("realm"), []);
});
