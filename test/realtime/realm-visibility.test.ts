/**
 * Changes of visibility by settings and roles (S1; public API: realm_user add and remove, stream create and delete),
 * for guests whose access to users is restricted or opened, and for users whose role shows or hides channels.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Role, roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, Follower, success } from "../support/client.ts";
import { createGroup } from "../support/groups.ts";
import { Mirror, mirroredTypes, snapshotOf } from "../support/mirror.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const variant = { includesSubscribers: true, isModern: true };
const params = {
  event_types: [...mirroredTypes, "user_status"],
  fetch_event_types: mirroredTypes,
  include_subscribers: "true",
  slim_presence: true,
  client_capabilities: {
    notification_settings_null: true,
    simplified_presence_events: true,
    user_list_incomplete: true,
    archived_channels: true,
  },
};

/** Follows the state with a mirror; a check compares the mirror's state with a fresh fetch. */
class Watcher {
  readonly #client: Client;
  readonly #follower: Follower;
  readonly #mirror: Mirror;
  #applied = 0;

  private constructor(client: Client, state: Event) {
    this.#client = client;
    this.#follower = new Follower(client, state);
    this.#mirror = new Mirror(state, variant);
  }

  static async of(client: Client): Promise<Watcher> {
    return new Watcher(client, await client.register(params));
  }

  /** @returns the events since the last check */
  async check(t: Test, title: string): Promise<Event[]> {
    const { body } = await this.#client.post("/messages", {
      type: "direct",
      to: [this.#client.userId],
      content: "fence",
    });
    await this.#follower.until((event) => event.type === "message" && event.message.id === body.id);
    const news = this.#follower.events.slice(this.#applied);
    this.#applied = this.#follower.events.length;
    this.#mirror.apply(news);
    const fresh = await this.#client.register(params);
    await this.#client.delete("/events", { queue_id: fresh.queue_id });
    const picture = this.#mirror.snapshot();
    for (const [key, expected] of Object.entries(snapshotOf(fresh)))
      t.strictSame(picture[key], expected, `${title}: ${key}`);
    return news.filter(({ type }) => type !== "message");
  }
}

function setAccess(server: TestServer, group: "everyone" | "members") {
  const value = { new: server.group(`role:${group}`) };
  return server.owner.patch("/realm", { can_access_all_users_group: value });
}

t.test(
  "[D5] restricting guests removes users from their list, opening restores them; others get nothing",
  async (t) => {
    const server = await startTestServer(t);
    const { owner } = server;
    const [peer, writer, outsider, gone] = await Promise.all(
      ["peer", "writer", "outsider", "gone"].map((name) => server.user(name)),
    );
    const guest = await server.user("guest", roles.guest);
    const other = await server.user("other.guest", roles.guest);
    if (peer === undefined || writer === undefined || outsider === undefined || gone === undefined) throw new Error();
    await owner.createChannel("room", [peer, guest]);
    await writer.post("/messages", { type: "direct", to: [guest.userId], content: "hello" });
    await outsider.post("/users/me/status", { status_text: "away" });
    await owner.delete(`/users/${gone.userId}`);
    const watchers = { guest: await Watcher.of(guest), other: await Watcher.of(other), peer: await Watcher.of(peer) };
    const personal = (events: readonly Event[]) =>
      events.flatMap(({ type, op, person, user_id: id }) =>
        type === "realm" ? [] : [[type, op, person?.user_id ?? id]],
      );
    const strangers = [owner.userId, outsider.userId, gone.userId, other.userId].sort((a, b) => a - b);

    await expects(t, setAccess(server, "members"), success());
    t.strictSame(
      personal(await watchers.guest.check(t, "guest, restricted")),
      strangers.map((id) => ["realm_user", "remove", id]),
    );
    t.equal(
      personal(await watchers.other.check(t, "other guest, restricted")).length,
      6,
      "this guest sees no other user",
    );
    t.strictSame(personal(await watchers.peer.check(t, "member, restricted")), []);

    await expects(t, setAccess(server, "everyone"), success());
    t.strictSame(personal(await watchers.guest.check(t, "guest, opened")), [
      ...strangers.map((id) => ["realm_user", "add", id]),
      ["user_status", undefined, outsider.userId],
      ["realm_user", "update", gone.userId],
    ]);
    await watchers.other.check(t, "other guest, opened");
    t.strictSame(personal(await watchers.peer.check(t, "member, opened")), []);
  },
);

t.test("[S3] a guest whose visible users change by more than visibility_events_max registers again", async (t) => {
  const server = await startTestServer(t);
  const guest = await server.user("guest", roles.guest);
  // The owner is one of them.
  await server.users("crowd", limits.visibility_events_max - 1);
  const isOver = (queue: Event) => server.realm.view.queue(queue.queue_id) === undefined;
  const at = await guest.register();
  await setAccess(server, "members");
  t.notOk(isOver(at), "at the bound");
  await server.users("one more", 1);
  const over = await guest.register();
  const ownerQueue = await server.owner.register();
  await setAccess(server, "everyone");
  t.ok(isOver(over), "one over");
  t.notOk(isOver(ownerQueue), "members see everyone all the time");
});

interface Place {
  readonly name: string;
  readonly privacy: Readonly<Record<string, unknown>>;
  /** Whether a user of that role who is not subscribed sees the channel. */
  readonly seenBy: (role: Role) => boolean;
}

t.test("[behaviour 2.8, 3.8] every change of role shows, hides or keeps each kind of channel", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const group = (name: string) => server.group(`role:${name}`);
  const nested = await createGroup(owner, "nested");
  await owner.post(`/user_groups/${nested}/subgroups`, { add: [group("moderators")] });
  const held = (setting: string, by: number) => ({ invite_only: true, [setting]: by });
  await owner.patch("/realm", { enable_spectator_access: true });
  const places: readonly Place[] = [
    { name: "public", privacy: {}, seenBy: (role) => role < roles.guest },
    { name: "web-public", privacy: { is_web_public: true }, seenBy: () => true },
    { name: "private", privacy: { invite_only: true }, seenBy: (role) => role <= roles.administrator },
    {
      name: "of moderators",
      privacy: held("can_administer_channel_group", group("moderators")),
      seenBy: (role) => role <= roles.moderator,
    },
    {
      name: "with a group that contains moderators",
      privacy: held("can_add_subscribers_group", nested),
      seenBy: (role) => role <= roles.moderator,
    },
    {
      name: "of members",
      privacy: held("can_subscribe_group", group("members")),
      seenBy: (role) => role <= roles.member,
    },
    {
      name: "of owners",
      privacy: held("can_subscribe_group", group("owners")),
      seenBy: (role) => role <= roles.administrator,
    },
  ];
  const person = await server.user("person");
  const ids = new Map<string, number>();
  for (const { name, privacy } of places) ids.set(name, await owner.createChannel(name, [owner], privacy));
  const kept = await owner.createChannel("kept", [owner, person], { invite_only: true });
  const watcher = await Watcher.of(person);
  const bystander = await Watcher.of(await server.user("bystander"));
  const order: readonly Role[] = [600, 400, 300, 600, 200, 400, 100, 300, 400, 200, 600, 100, 400];
  let before: Role = roles.member;
  for (const role of order) {
    const title = `${before} to ${role}`;
    await expects(t, owner.patch(`/users/${person.userId}`, { role }), success(), title);
    const events = await watcher.check(t, title);
    const expectedEvent = (op: string) =>
      events
        .filter((event) => event.type === "stream" && event.op === op)
        .flatMap((event) => event.stream_ids ?? event.streams.map(({ stream_id: id }: Event) => id))
        .sort((a: number, b: number) => a - b);
    const shifted = (isGained: boolean) =>
      places
        .filter(({ seenBy }) => seenBy(role) !== seenBy(before) && seenBy(role) === isGained)
        .map(({ name }) => ids.get(name));
    t.strictSame(expectedEvent("create"), shifted(true), `${title}: appearing`);
    // General is a public channel to which they were subscribed from the start.
    t.strictSame(expectedEvent("delete"), shifted(false), `${title}: vanishing`);
    t.notOk([...expectedEvent("create"), ...expectedEvent("delete")].includes(kept), "subscribed channels stay");
    t.notOk(
      (await bystander.check(t, `bystander, ${title}`)).some(({ type }) => type === "stream"),
      "other users receive no channel events",
    );
    before = role;
  }
});
