/**
 * The state of POST /register in passes (S3): encoded in pieces that readers share, it equals the state that is built
 * as one object; it belongs to one instant (E2), and a pass of the event loop encodes a bounded part of it.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { longRegisterSections, registerSections } from "../../src/app/areas.ts";
import { ChannelPieces, KeptChannels } from "../../src/queries/encoded-channels.ts";
import { EncodedPeople, peopleCache } from "../../src/queries/encoded-users.ts";
import { passes } from "../../src/queries/passes.ts";
import { registerState, type StateChoice, StateInPasses } from "../../src/queries/register-state.ts";
import type { StateRequest } from "../../src/queries/state-section.ts";
import type { Client } from "../support/client.ts";
import { fieldTypes, makeField } from "../support/profiles.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

const { server } = await startClockedServer(t);
const { owner, realm } = server;
const { view } = realm;
const member = await server.user("member");
const guest = await server.user("guest", roles.guest);
const shy = await server.user("shy");
await server.bot("robot", member);
const crowd = await server.users("crowd", 2 * limits.encoded_users_per_piece);
for (const [index, id] of crowd.slice(0, 5).entries()) server.setUser(id, { email_address_visibility: index + 1 });
server.setUser(shy.userId, { email_address_visibility: 4 });
await owner.delete(`/users/${crowd[3]}`);
await owner.createChannel("crowded", [owner, member], {});
await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "crowded" }], principals: crowd.slice(10, 300) });
await owner.createChannel("private", [owner, guest], { invite_only: true });
await owner.createChannel("left", [owner, member]);
await member.delete("/users/me/subscriptions", { subscriptions: ["left"] });
await owner.createChannel("others", [owner]);
const field = await makeField(owner, "Cheese", fieldTypes.short);
await owner.patch(`/users/${crowd[7]}`, { profile_data: [{ id: field, value: "Käse" }] });
for (const client of [owner, member, shy]) await client.post("/users/me/presence", { status: "active" });
await member.post("/users/me/status", { status_text: "🦊" });

function requestOf(more: Partial<StateRequest> = {}): StateRequest {
  return {
    clientGravatar: true,
    slimPresence: true,
    subscriberLists: "false",
    presenceHistoryDays: 14,
    allowsNullNotifications: true,
    allowsEmptyTopicName: false,
    extraEmojiType: "service_extra_emoji",
    takesSettingsObject: false,
    allowsIncompleteUserList: true,
    takesUrlTemplates: true,
    includesDeactivatedGroups: true,
    showsArchived: true,
    siteUrl: "http://localhost",
    limitsPresence: false,
    webPublicStreamsEnabled: false,
    sendsEmail: false,
    uploads: { maxFileMib: 1, quotaMib: null },
    startedAt: 0,
    presences: realm.projections.presence,
    ...more,
  };
}

const requests: readonly Partial<StateRequest>[] = [
  {},
  { clientGravatar: false, slimPresence: false, allowsNullNotifications: false },
  { subscriberLists: "true", showsArchived: false },
  { subscriberLists: "partial", presenceHistoryDays: 0 },
];

function choiceOf(request: StateRequest): StateChoice {
  return { sections: registerSections, longSections: longRegisterSections, types: null, request };
}

function recordOf(client: Client) {
  const user = view.users.get(client.userId);
  if (user === undefined) throw new Error("there is no such user");
  return user;
}

/** @param meanwhile runs between the instant of the state and its encoding */
async function states(client: Client, request: StateRequest, meanwhile = async () => undefined as unknown) {
  const state = new StateInPasses(view, recordOf(client), choiceOf(request));
  await state.prepare();
  state.collect(recordOf(client));
  const whole = JSON.parse(JSON.stringify(registerState(registerSections, view, recordOf(client), null, request)));
  await meanwhile();
  const parts = await state.encode({ queue_id: "q" });
  const { queue_id: _queue, ...inPasses } = JSON.parse(`{${parts.map(String).join("")}}`);
  return { whole, inPasses };
}

async function checkAll(t: Test, title: string): Promise<void> {
  for (const client of [owner, member, guest, shy]) {
    for (const more of requests) {
      const { whole, inPasses } = await states(client, requestOf(more));
      t.strictSame(inPasses, whole, `${title}, ${client.account?.email}, ${JSON.stringify(more)}`);
    }
  }
}

t.test(
  "[behaviour 4.1] a state in passes equals one built as an object, for each reader, after each change",
  async (t) => {
    await checkAll(t, "at first");
    await checkAll(t, "from cached pieces");
    await owner.patch(`/users/${crowd.at(-1)}`, { full_name: "🦊 ß \\u2028 {\\" });
    await owner.patch(`/users/${crowd[100]}`, { role: roles.moderator });
    await owner.delete(`/users/${crowd[20]}`);
    await server.reactivate(owner, member);
    await member.post("/users/me/subscriptions", { subscriptions: [{ name: "others" }] });
    const id = view.channels.byName("crowded")?.id;
    const group = { direct_members: [member.userId, crowd[21]], direct_subgroups: [] };
    await owner.patch(`/streams/${id}`, { description: "changed", can_send_message_group: { new: group } });
    await checkAll(t, "after changes");
    await owner.delete(`/users/${crowd[21]}`);
    await checkAll(t, "without a member of a permission");
    await owner.delete(`/realm/profile_fields/${field}`);
    await owner.delete(`/streams/${id}`);
    await checkAll(t, "without a field, and with an archived channel");
  },
);

t.test("[E2] what turns change while a state is encoded is not in it", async (t) => {
  const request = requestOf({ subscriberLists: "true" });
  const { whole, inPasses } = await states(owner, request, async () => {
    await owner.patch(`/users/${crowd[200]}`, { full_name: "Later", role: roles.moderator });
    await owner.delete(`/users/${crowd[201]}`);
    await owner.createChannel("later", [owner, member]);
    await owner.post("/users/me/subscriptions", {
      subscriptions: [{ name: "others" }],
      principals: crowd.slice(30, 40),
    });
    await owner.patch("/realm", { description: "later" });
  });
  t.strictSame(inPasses, whole);
  t.notOk(JSON.stringify(inPasses).includes("Later"));
});

t.test("[S3] state_characters_per_pass_max: a pass encodes this much and one step more", async (t) => {
  await server.users("many", 3000);
  const state = new StateInPasses(view, recordOf(owner), choiceOf(requestOf()));
  await state.prepare();
  state.collect(recordOf(owner));
  const shares: number[] = [];
  const { leave } = passes;
  passes.leave = (share) => {
    shares.push(share);
    leave.call(passes, share);
  };
  t.teardown(() => {
    passes.leave = leave;
  });
  let turns = 0;
  let isOver = false;
  const encoding = state.encode({ queue_id: "q" }).finally(() => {
    isOver = true;
  });
  for (; !isOver; turns++) await new Promise<void>((resolve) => setImmediate(resolve));
  await encoding;
  const [largest, sum] = [Math.max(...shares), shares.reduce((a, b) => a + b, 0)];
  // A step encodes the users of a piece, about 600 characters each.
  const step = (600 * limits.encoded_users_per_piece) / limits.state_characters_per_pass_max;
  t.ok(largest < 1 + step, `${largest} of a pass`);
  t.ok(sum > 2, `${sum} passes of work`);
  t.ok(turns >= shares.length, `${shares.length} passes in ${turns} turns of the event loop`);
});

t.test("[S3] a state from cached pieces encodes only what has changed", async (t) => {
  const encoded = async () => {
    const state = new StateInPasses(view, recordOf(owner), choiceOf(requestOf({ subscriberLists: "true" })));
    const counts = new Map<string, number>();
    const { stringify } = JSON;
    await state.prepare();
    state.collect(recordOf(owner));
    JSON.stringify = (value: unknown) => {
      const text = stringify(value);
      const name = typeof value === "object" && value !== null && "delivery_email" in value ? "people" : "others";
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return text;
    };
    try {
      await state.encode({ queue_id: "q" });
    } finally {
      JSON.stringify = stringify;
    }
    return counts.get("people") ?? 0;
  };
  await encoded();
  t.equal(await encoded(), 0, "nobody has changed");
  await owner.patch(`/users/${crowd[50]}`, { full_name: "Changed again" });
  const again = await encoded();
  t.ok(again > 0 && again <= limits.encoded_users_per_piece, `${again} people of one piece`);
});

t.test("[S3] encoded_people_bytes_max: without room for a piece, each state encodes it anew", async (t) => {
  const pieces = (people: EncodedPeople) => {
    const { active, inactive } = people.collect(recordOf(owner), true);
    const parts: (string | Buffer)[] = [];
    const made = [...active(parts), ...inactive(parts)].reduce((a, b) => a + b, 0);
    return { made, text: parts.map(String).join("") };
  };
  const roomy = new EncodedPeople(view, peopleCache(limits.encoded_people_bytes_max));
  const tight = new EncodedPeople(view, peopleCache(1));
  const first = pieces(roomy);
  t.strictSame(pieces(roomy), { made: 0, text: first.text });
  t.strictSame([pieces(tight), pieces(tight)], [first, first]);
});

t.test(
  "[S3] encoded_channels_characters_max, encoded_subscribers_bytes_max: without room, each state encodes channels anew",
  async (t) => {
    const channels = [...view.channels.all()];
    const encode = (kept: KeptChannels) => {
      const pieces = new ChannelPieces(view, "true", kept);
      return [...pieces.prepare(channels)].reduce((a, b) => a + b, 0);
    };
    const roomy = new KeptChannels(limits.encoded_channels_characters_max, limits.encoded_subscribers_bytes_max);
    const all = encode(roomy);
    t.ok(all > 0);
    t.equal(encode(roomy), 0);
    const tight = new KeptChannels(1, 1);
    t.strictSame([encode(tight), encode(tight)], [all, all]);
    t.strictSame([tight.channels.calculatedSize, tight.lists.calculatedSize], [0, 0]);
    const withoutLists = new KeptChannels(limits.encoded_channels_characters_max, 1);
    encode(withoutLists);
    const lists = encode(withoutLists);
    t.ok(lists > 0 && lists < all, `${lists} of ${all}: the lists alone`);
  },
);

t.test("[S3] of clients that come back together, one answer is built at a time", async (t) => {
  const order: string[] = [];
  const build = async (name: string, client: Client) => {
    const state = new StateInPasses(view, recordOf(client), choiceOf(requestOf()));
    await state.prepare();
    await state.enter();
    order.push(`${name} begins`);
    state.collect(recordOf(client));
    await state.encode({ queue_id: name });
    order.push(`${name} ends`);
    state.leave();
  };
  await Promise.all([build("first", owner), build("second", member), build("third", shy)]);
  t.strictSame(
    order.map((step) => step.split(" ")[1]),
    ["begins", "ends", "begins", "ends", "begins", "ends"],
    order.join(", "),
  );
  const answers = await Promise.all(Array.from({ length: 10 }, () => owner.post("/register", {})));
  t.ok(
    answers.every(({ status, body }) => status === 200 && body.realm_users.length > crowd.length / 2),
    "all of them are answered",
  );
});
