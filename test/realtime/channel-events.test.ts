/**
 * Events of a changed channel (behaviour 2.4; OpenAPI, stream): their shapes and recipients, live and replayed (E2,
 * S1). channel-state.test.ts checks that state and events agree.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { roles } from "../../schemas/types.ts";
import { named, startChannelServer } from "../support/channels.ts";
import type { Client, Event, Params } from "../support/client.ts";
import { restart } from "../support/restart.ts";

const { server, owner, administrator, member, guest, group, channel, patch, record } = await startChannelServer(t);
const holder = await server.user("holder");
const guestIn = await server.user("guestin", roles.guest);

const types = { event_types: ["stream", "subscription", "default_streams", "message"] };

async function followAll(people: Readonly<Record<string, Client>>) {
  const entries = Object.entries(people);
  const followers = await Promise.all(entries.map(([, client]) => client.follow(types)));
  return async () => {
    for (const follower of followers) await follower.settled();
    return Object.fromEntries(entries.map(([name], index) => [name, followers[index]?.events ?? []]));
  };
}

/** The channel events in order: `create`, `delete`, or the name of the updated property. */
function summary(events: readonly Event[]): string[] {
  return events.flatMap(({ type, op, property }) => {
    if (type === "message") return [];
    return [op === "update" ? property : (op ?? type)];
  });
}

function summaries(all: Readonly<Record<string, readonly Event[]>>) {
  return Object.fromEntries(Object.entries(all).map(([name, events]) => [name, summary(events)]));
}

t.test("[behaviour 2.4] each property has its own event, in a fixed order, with the channel's name then", async (t) => {
  const id = await channel();
  const { name } = await record(id);
  const follower = await member.follow(types);
  await patch(id, {
    description: "a *new* one",
    new_name: `${name} renamed`,
    is_private: false,
    is_web_public: true,
    message_retention_days: "unlimited",
    topics_policy: "disable_empty_topic",
    can_send_message_group: { new: group("administrators") },
    can_remove_subscribers_group: { new: named(member, owner) },
  });
  await follower.settled();
  const update = (property: string, value: unknown, more: Params = {}, called = name) => ({
    type: "stream",
    op: "update",
    stream_id: id,
    name: called,
    property,
    value,
    ...more,
  });
  const renamed = `${name} renamed`;
  t.strictSame(follower.ofType("stream"), [
    update("invite_only", false, { history_public_to_subscribers: true, is_web_public: true }),
    update("topics_policy", "disable_empty_topic"),
    update("message_retention_days", -1),
    update("description", "a *new* one", { rendered_description: "<p>a <em>new</em> one</p>" }),
    update("name", renamed),
    update("can_remove_subscribers_group", named(owner, member), {}, renamed),
    update("can_send_message_group", group("administrators"), {}, renamed),
    update("stream_post_policy", 2, {}, renamed),
    update("is_announcement_only", true, {}, renamed),
  ]);
});

t.test("an update that changes nothing, or is rejected, sends no event", async (t) => {
  const id = await channel({ description: "the same", message_retention_days: 5 });
  const { can_administer_channel_group: holders } = await record(id);
  const follower = await owner.follow(types);
  const same = {
    description: "the same",
    is_private: false,
    is_web_public: false,
    is_default_stream: false,
    message_retention_days: 5,
    topics_policy: "inherit",
    folder_id: null,
    can_administer_channel_group: { new: holders },
    can_send_message_group: { new: group("everyone"), old: group("everyone") },
  };
  t.equal((await patch(id, same)).status, 200);
  t.equal((await patch(id, { description: "another", folder_id: 999 })).status, 400);
  t.equal((await patch(id, {})).status, 200);
  t.strictSame(summary(await follower.settled()), []);
});

t.test("[behaviour 3.8] changes of a public channel are sent to all except unsubscribed guests", async (t) => {
  const id = await channel({}, [owner, guestIn]);
  const seen = await followAll({ owner, administrator, member, guest, guestIn });
  await patch(id, { description: "news" });
  const received = ["description"];
  t.strictSame(summaries(await seen()), {
    owner: received,
    administrator: received,
    member: received,
    guest: [],
    guestIn: received,
  });
});

t.test(
  "[behaviour 3.8, S1] changes of a private channel are sent to subscribers, administrators and users with a permission on it",
  async (t) => {
    const seen = { owner, administrator, member, guest, guestIn, holder };
    for (const setting of ["can_administer_channel_group", "can_add_subscribers_group", "can_subscribe_group"]) {
      const id = await channel({ invite_only: true, [setting]: named(holder) }, [owner, guestIn]);
      const follow = await followAll(seen);
      await patch(id, { new_name: `hidden ${id}` });
      const received = ["name"];
      t.strictSame(
        summaries(await follow()),
        { owner: received, administrator: received, member: [], guest: [], guestIn: received, holder: received },
        setting,
      );
    }
  },
);

t.test("[S1] when a public channel becomes private, subscribers get the change, others its deletion", async (t) => {
  const id = await channel({}, [owner, guestIn]);
  const seen = await followAll({ owner, administrator, member, guest, guestIn });
  await patch(id, { is_private: true, new_name: `secret ${id}` });
  const received = ["invite_only", "name"];
  const all = await seen();
  t.strictSame(summaries(all), {
    owner: received,
    administrator: received,
    member: ["delete"],
    guest: [],
    guestIn: received,
  });
  t.match(all["member"], [{ type: "stream", op: "delete", stream_ids: [id], streams: [{ stream_id: id }] }]);
});

t.test(
  "[behaviour 2.4] when a private channel becomes public, users to whom it becomes visible receive the channel and its subscribers, not the update",
  async (t) => {
    const id = await channel({ invite_only: true, can_subscribe_group: named(holder) }, [owner, guestIn]);
    const seen = await followAll({ owner, administrator, member, guest, guestIn, holder });
    await patch(id, { is_private: false, description: "for all" });
    const received = ["invite_only", "description"];
    const all = await seen();
    t.strictSame(summaries(all), {
      owner: received,
      administrator: received,
      member: ["create", "peer_add"],
      guest: [],
      guestIn: received,
      holder: received,
    });
    const [created, peers] = all["member"] ?? [];
    t.strictSame(created.streams, [{ ...(await record(id)), subscriber_count: 0 }]);
    t.match(peers, { stream_ids: [id], user_ids: [owner.userId, guestIn.userId] });
  },
);

t.test(
  "[behaviour 3.8] a channel that becomes web-public becomes visible to guests, and hidden again afterwards unless they are subscribed",
  async (t) => {
    const id = await channel({}, [owner, guestIn]);
    const seen = await followAll({ member, guest, guestIn });
    await patch(id, { is_web_public: true });
    await patch(id, { is_web_public: false });
    t.strictSame(summaries(await seen()), {
      member: ["invite_only", "invite_only"],
      guest: ["delete"],
      guestIn: ["invite_only", "invite_only"],
    });
    await patch(id, { is_web_public: true });
    const again = await followAll({ guest });
    await patch(id, { is_private: true, is_web_public: false });
    t.strictSame(summaries(await again()), { guest: ["delete"] });
  },
);

t.test("[behaviour 2.4] granting and revoking permissions shows and hides a private channel", async (t) => {
  const id = await channel({ invite_only: true }, [owner]);
  const seen = await followAll({ owner, member, holder, guest });
  await patch(id, { can_subscribe_group: { new: named(member, guest) } });
  await patch(id, { can_subscribe_group: { new: group("members") } });
  await patch(id, { can_administer_channel_group: { new: named(member) } });
  await patch(id, { can_subscribe_group: { new: group("nobody") } });
  const given = ["can_subscribe_group", "can_subscribe_group", "can_administer_channel_group", "can_subscribe_group"];
  const live = summaries(await seen());
  t.strictSame(live["owner"], given);
  t.strictSame(live["guest"], [], "guests never gain access by a permission");
  t.equal(live["member"]?.filter((what) => what === "delete").length, 0);
  t.strictSame(live["member"]?.slice(0, 2), ["create", "peer_add"]);
  t.equal(live["holder"]?.at(-1), "delete");
});

t.test("[E2, S1] a user to whom a private channel becomes visible receives no earlier events", async (t) => {
  const id = await channel({ invite_only: true }, [owner, guestIn]);
  const promoted = await server.user("promoted");
  const people = { member, promoted, administrator };
  const queues = await Promise.all(
    Object.values(people).map((client) => client.register({ ...types, fetch_event_types: [] })),
  );
  // All later reads are replays from the log.
  await owner.say("general", "before", "to all");
  await patch(id, { new_name: `hushed ${id}`, description: "hush" });
  await patch(id, { new_name: `whispered ${id}`, can_administer_channel_group: { new: named(member) } });
  await owner.patch(`/users/${promoted.userId}`, { role: roles.administrator });
  await patch(id, { description: "known" });
  const repeated = await Promise.all(
    Object.values(people).map((client, index) => client.readNow(queues[index] as never)),
  );
  const isHere = ({ type, streams = [], ...event }: Event) =>
    type !== "default_streams" &&
    [event.stream_id, ...(event.stream_ids ?? []), ...streams.map((s: Event) => s.stream_id)].includes(id);
  const received = Object.fromEntries(
    Object.keys(people).map((who, index) => [who, (repeated[index] ?? []).filter(isHere)]),
  );
  const all = ["description", "name", "name", "can_administer_channel_group", "description"];
  const fresh = ["create", "peer_add", "description"];
  t.strictSame(summaries(received), { member: fresh, promoted: fresh, administrator: all });
  t.notMatch(JSON.stringify([received["member"], received["promoted"]]), /hush/);
});

t.test(
  "[E2] a user deactivated between two slices of a large departure is reported as removed once, so clients count correctly",
  async (t) => {
    const [gone, other] = [await server.user("gone"), await server.user("other")];
    const id = await channel({}, [owner, gone, other]);
    const follower = await owner.follow(types);
    await owner.delete(`/users/${gone.userId}`);
    // The second slice.
    const target = { kind: "leave", channelId: id, userIds: [gone.userId, other.userId], color: null } as const;
    const slice = { targets: [target], waiting: null, after: [] };
    await server.realm.dispatcher.ask(command({ actor: "realm" }, "members.change", slice, null));
    await follower.settled();
    const received = follower.ofType("subscription").filter((event: Event) => event.op === "peer_remove");
    t.strictSame(
      received.filter((event: Event) => event.stream_ids.includes(id)).map((event: Event) => event.user_ids),
      [[gone.userId], [other.userId]],
    );
  },
);

t.test("[E2, S1] a guest who becomes a member receives a public channel once, in its current form", async (t) => {
  const follower = await server.user("grown guest", roles.guest);
  const queue = await follower.register({ ...types, fetch_event_types: [] });
  await owner.say(await channel({}, [owner, follower]), "before", "everything from here on is read from the log");
  const id = await channel({ description: "hush" }, [owner]);
  await patch(id, { description: "known" });
  await owner.patch(`/users/${follower.userId}`, { role: roles.member });
  await patch(id, { description: "known to members" });
  const isHere = ({ streams = [], ...event }: Event) =>
    [event.stream_id, ...(event.stream_ids ?? []), ...streams.map((s: Event) => s.stream_id)].includes(id);
  const received = (await follower.readNow(queue as never)).filter(isHere);
  t.strictSame(summary(received), ["create", "peer_add", "description"]);
});

t.test("[E2, S1] a replay matches the live events: nothing from the hidden period, everything after it", async (t) => {
  const leaver = await server.user("leaver");
  const id = await channel({ invite_only: true, description: "a secret" }, [owner, guestIn, leaver]);
  const people = { member, administrator, guestIn, guest };
  const queues = await Promise.all(
    Object.values(people).map((client) => client.register({ ...types, fetch_event_types: [] })),
  );
  await patch(id, { new_name: `secret name ${id}`, description: "another secret" });
  const { name } = await record(id);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [holder.userId] });
  await owner.delete(`/users/${leaver.userId}`);
  await patch(id, { is_private: false, new_name: `open name ${id}`, description: "open" });
  await patch(id, { description: "wide open" });
  // After a restart the server has no record of live deliveries, so every read uses the log. Keep this test last in the
  // file.
  const { as } = await restart(t, server);
  const repeated = await Promise.all(
    Object.values(people).map((client, index) => as(client).readNow(queues[index] as never)),
  );
  const isHere = (event: Event) => event.stream_ids === undefined || event.stream_ids.includes(id);
  const received = Object.fromEntries(
    Object.keys(people).map((who, index) => [who, (repeated[index] ?? []).filter(isHere)]),
  );
  const all = ["description", "name", "peer_add", "peer_remove", "invite_only", "description", "name", "description"];
  t.strictSame(summaries(received), {
    member: ["create", "peer_add", "description"],
    administrator: all,
    guestIn: all,
    guest: [],
  });
  t.notMatch(JSON.stringify(received["member"]), /secret/);
});
