/**
 * Guests under a restricted `can_access_all_users_group` (D5, D118; public API: realm_user events,
 * user_list_incomplete): they see bots and users who share a channel or a direct conversation with them, and get no
 * information about others (S1). test/realtime/state-and-events.test.ts tests that state and events agree.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Event, expects, outcome, refusal, success } from "../support/client.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, guest, peer, writer, outsider, former } = await startServerWithUsers(t, [
  "guest",
  "peer",
  "writer",
  "outsider",
  "former",
]);
const bot = await server.bot("robot", outsider);
const notificationBot = 1;
server.setRealm({ can_access_all_users_group: server.group("role:members") });
await owner.createChannel("room", [peer, guest, former]);
await owner.createChannel("elsewhere", [peer, outsider]);
await former.delete("/users/me/subscriptions", { subscriptions: ["room"] });
await writer.post("/messages", { type: "direct", to: [guest.userId, peer.userId], content: "hello" });
/** The users whom the guest can see, ascending. */
const known = [notificationBot, guest.userId, peer.userId, writer.userId, bot.userId];
const unknown = [owner.userId, outsider.userId, former.userId];
const noSuchUser = refusal("No such user");

function idsOf(users: readonly Event[]): number[] {
  return users.map((user) => user.user_id).sort((a, b) => a - b);
}

t.test("[behaviour 2.15] a guest's list has bots, and peers in channels and conversations", async (t) => {
  t.strictSame(idsOf((await guest.get("/users")).body.members), known);
  const { body } = await guest.get("/users", { user_ids: [...known, ...unknown] });
  t.strictSame(idsOf(body.members), known);
  t.equal((await guest.get("/users")).headers.get("ETag"), null, "a guest's own list is not shared");
  const everybody = await outsider.get("/users");
  t.ok(idsOf(everybody.body.members).length >= known.length + unknown.length, "members know everybody");
});

t.test("[S1] a hidden account is rejected by id, and reported as missing by email", async (t) => {
  for (const id of known) t.equal((await guest.get(`/users/${id}`)).body.user.user_id, id);
  for (const client of [owner, outsider, former]) {
    await expects(t, guest.get(`/users/${client.userId}`), "Insufficient permission");
    await expects(t, guest.get(`/users/${client.account?.email}`), noSuchUser);
    await expects(t, guest.get(`/users/user${client.userId}@colloquy.invalid`), noSuchUser);
    await expects(t, guest.patch(`/users/${client.account?.email}`, { full_name: "X" }), noSuchUser);
  }
});

t.test("/register has placeholders for hidden users, or omits them", async (t) => {
  const fetched = { fetch_event_types: ["realm_user"], event_types: [] };
  const plain: Event = await guest.register(fetched);
  const people: Event[] = plain.realm_users;
  t.strictSame(
    idsOf(people),
    [...known, ...unknown].sort((a, b) => a - b),
  );
  for (const id of unknown) {
    const { avatar_url: url, ...placeholder } = people.find((user) => user.user_id === id);
    t.match(url, /^https:/);
    t.strictSame(placeholder, {
      user_id: id,
      email: `user${id}@colloquy.invalid`,
      delivery_email: null,
      full_name: "Unknown user",
      avatar_version: 1,
      date_joined: "1970-01-01T00:00:00.000Z",
      timezone: "",
      role: roles.member,
      is_admin: false,
      is_owner: false,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      bot_owner_id: null,
      profile_data: {},
    });
  }
  const capable: Event = await guest.register({ ...fetched, client_capabilities: { user_list_incomplete: true } });
  t.strictSame(idsOf(capable.realm_users), known);
});

t.test("[S1] no event reveals a hidden user; a new hidden user is a placeholder if clients need it", async (t) => {
  const types = { event_types: ["realm_user", "message"] };
  const capable = await guest.follow({ ...types, client_capabilities: { user_list_incomplete: true } });
  const plain = await guest.follow(types);
  const others = await peer.follow(types);
  const [newcomer = 0] = await server.users("newcomer", 1);
  await owner.patch(`/users/${newcomer}`, { full_name: "Secret Name", role: roles.moderator });
  await owner.patch(`/users/${outsider.userId}`, { full_name: "Secret, too" });
  await owner.delete(`/users/${newcomer}`);
  await owner.patch(`/users/${peer.userId}`, { full_name: "No secret" });
  const noSecret = { type: "realm_user", op: "update", person: { user_id: peer.userId, full_name: "No secret" } };
  await capable.settled();
  t.strictSame(capable.ofType("realm_user"), [noSecret]);
  await plain.until((event) => event.person?.full_name === "No secret");
  const [placeholder, ...rest] = plain.ofType("realm_user");
  t.match(placeholder, { op: "add", person: { user_id: newcomer, full_name: "Unknown user", delivery_email: null } });
  t.strictSame(rest, [noSecret]);
  t.notMatch(JSON.stringify([...plain.events, ...capable.events]), /Secret|newcomer/);
  await others.settled();
  t.equal(others.ofType("realm_user").length, 6, "all others receive everything");
});

t.test("a user who becomes visible is sent as an add event, one who becomes hidden as a remove event", async (t) => {
  const follower = await guest.follow({ event_types: ["realm_user", "message"] });
  const changing = { subscriptions: [{ name: "room" }], principals: [outsider.userId] };
  await owner.post("/users/me/subscriptions", changing);
  t.equal((await guest.get(`/users/${outsider.userId}`)).status, 200);
  // Read at once: a later read would omit the add event of a user who is hidden again.
  await follower.settled();
  await owner.delete("/users/me/subscriptions", { subscriptions: ["room"], principals: [outsider.userId] });
  t.equal((await guest.get(`/users/${outsider.userId}`)).status, 400);
  await follower.settled();
  t.match(follower.ofType("realm_user"), [
    { op: "add", person: { user_id: outsider.userId, email: outsider.account?.email, is_active: true } },
    { op: "remove", person: { user_id: outsider.userId, full_name: "Unknown user" } },
  ]);
});

t.test("[spec 4.20] a deactivation hides a user seen in channels only, not one seen in conversations", async (t) => {
  const [leaving, corresponding] = [await server.user("leaving"), await server.user("corresponding")];
  const principals = [leaving.userId, corresponding.userId];
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "room" }], principals });
  await corresponding.post("/messages", { type: "direct", to: [guest.userId], content: "hello" });
  const follower = await guest.follow({ event_types: ["realm_user", "message"] });
  for (const id of principals) await owner.delete(`/users/${id}`);
  await follower.settled();
  for (const id of principals) await owner.post(`/users/${id}/reactivate`);
  await follower.settled();
  const found = follower.ofType("realm_user").map(({ op, person }) => [op, person.user_id, person.is_active]);
  t.match(found, [
    ["remove", leaving.userId, undefined],
    ["update", corresponding.userId, false],
    ["add", leaving.userId, true],
    ["update", leaving.userId, true],
    ["update", corresponding.userId, true],
  ]);
});

t.test("[behaviour 5.1] a guest can write to users whom they can see", async (t) => {
  const write = async (to: readonly number[]) =>
    outcome(await guest.post("/messages", { type: "direct", to, content: "hi" }));
  const refused = refusal("You do not have permission to access some of the recipients.");
  for (const id of known) t.equal((await write([id])).status, 200, `${id}`);
  for (const id of unknown) t.strictSame(await write([id, peer.userId]), refused, `${id}`);
});

t.test("[spec 4.7] with the server's presence limit, a guest gets the presence of users they see", async (t) => {
  const limited = await startTestServer(t, { environment: { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: "true" } });
  limited.setRealm({ can_access_all_users_group: limited.group("role:members") });
  const visitor = await limited.user("visitor", roles.guest);
  const [near, far] = [await limited.user("near"), await limited.user("far")];
  await limited.owner.createChannel("room", [near, visitor]);
  for (const client of [near, far]) await client.post("/users/me/presence", { status: "active" });
  const { body } = await visitor.post("/users/me/presence", { status: "active", slim_presence: true });
  t.strictSame(Object.keys(body.presences).map(Number), [visitor.userId, near.userId]);
});

t.test("[E2] a user who becomes a restricted guest, or stops being one, must register again", async (t) => {
  const changing = await server.user("changing");
  for (const role of [roles.guest, roles.member]) {
    const queue = await changing.register({ event_types: ["realm_user"] });
    const changes = await owner.watchChanges();
    await expects(t, owner.patch(`/users/${changing.userId}`, { role }), success());
    const { body } = await changing.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
    t.equal(body.code, "BAD_EVENT_QUEUE_ID", `${role}`);
    t.match(await changes(), [{ type: "realm_user", person: { role } }]);
  }
});

t.test("[S3] visibility_events_max: a guest who sees more users at once must register again", async (t) => {
  await owner.createChannel("hall", []);
  const ids = await server.users("hall", limits.visibility_events_max + 1);
  const join = (principals: readonly number[]) =>
    owner.post("/users/me/subscriptions", { subscriptions: [{ name: "hall" }], principals });
  await join(ids.slice(1));
  const { view } = server.realm;
  const isOver = (id: string) => view.queue(id) === undefined;
  const visitor = await server.user("visitor", roles.guest);
  const at = await visitor.follow({ event_types: ["realm_user", "message"] });
  await join([visitor.userId]);
  await at.settled();
  t.equal(at.ofType("realm_user").length, limits.visibility_events_max, "at the bound");
  t.strictSame(idsOf(at.ofType("realm_user").map(({ person }) => person)), ids.slice(1));
  await join(ids.slice(0, 1));
  const late = await server.user("late visitor", roles.guest);
  const over = await late.register({ event_types: ["realm_user"] });
  await join([late.userId]);
  await until(() => isOver(over.queue_id));
  t.ok(isOver(over.queue_id), "one over");
  t.notOk(isOver(at.state.queue_id), "the existing subscriber receives one more event");
});

t.test("[S3] visibility_pairs_max: when very many users meet, the remaining guests register again", async (t) => {
  const [others, guests] = [800, 125];
  t.ok(guests * (others + guests) > limits.visibility_pairs_max && others + guests < limits.visibility_events_max);
  await owner.createChannel("arena", []);
  const join = (principals: readonly number[]) =>
    owner.post("/users/me/subscriptions", { subscriptions: [{ name: "arena" }], principals });
  await join(await server.users("arena", others));
  const [first, last] = [await server.user("first guest", roles.guest), await server.user("last guest", roles.guest)];
  const between = await server.users("arena guest", guests - 2, roles.guest);
  const queues = [];
  for (const client of [first, last]) queues.push(await client.register({ event_types: ["realm_user"] }));
  t.equal((await join([first.userId, ...between, last.userId])).status, 200);
  const { view } = server.realm;
  const found = queues.map(({ queue_id: id }) => view.queue(id) === undefined);
  t.strictSame(found, [false, true]);
});

t.test("[S3] only the newest direct conversations of a guest are checked", async (t) => {
  const correspondent = await server.user("correspondent", roles.guest);
  const { lmdb, view } = server.realm;
  await outsider.post("/messages", { type: "direct", to: [correspondent.userId], content: "hello" });
  t.equal((await correspondent.get(`/users/${outsider.userId}`)).status, 200);
  const newest = view.counter("recipient");
  const fill = (count: number) =>
    lmdb.transaction(() => {
      for (let id = newest + 1; id <= newest + count; id++) {
        lmdb.put("directConversations", [correspondent.userId, id], {});
      }
    });
  fill(limits.known_conversations_max - 1);
  t.equal((await correspondent.get(`/users/${outsider.userId}`)).status, 200, "at the bound");
  fill(limits.known_conversations_max);
  t.equal((await correspondent.get(`/users/${outsider.userId}`)).status, 400, "one over");
});
