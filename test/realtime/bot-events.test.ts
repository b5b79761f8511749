/**
 * Which events each user receives about bots (public API, /events: realm_bot, realm_user; behaviour 4.4), and that
 * events and state agree.
 */
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import type { BotRecord } from "../../schemas/bots.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { makeBot } from "../support/bots.ts";
import type { Client, Event } from "../support/client.ts";
import { Mirror, mirroredTypes, snapshotOf } from "../support/mirror.ts";
import { picture, upload } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";
import { knownAndFresh } from "../support/watch.ts";

const server = await startTestServer(t);
const { owner } = server;
const people = {
  owner,
  administrator: await server.user("administrator", roles.administrator),
  moderator: await server.user("moderator", roles.moderator),
  member: await server.user("member"),
  keeper: await server.user("keeper"),
  guest: await server.user("guest", roles.guest),
};
type Name = keyof typeof people;
const { keeper, member } = people;

/** The events every user received live while `work` ran. */
async function receivedEvents(work: () => Promise<unknown>): Promise<Readonly<Record<Name, Event[]>>> {
  const followers = await Promise.all(
    Object.values(people).map((client) => client.follow({ event_types: ["realm_bot", "realm_user", "message"] })),
  );
  await work();
  await Promise.all(followers.map((follower) => follower.settled()));
  const events = followers.map((follower) => [...follower.ofType("realm_bot"), ...follower.ofType("realm_user")]);
  return Object.fromEntries(Object.keys(people).map((name, index) => [name, events[index] ?? []])) as Readonly<
    Record<Name, Event[]>
  >;
}

const insiders: readonly Name[] = ["owner", "administrator", "keeper"];

/** Owners and administrators receive both events; everyone else receives only the account's public event. */
function check(t: Test, events: Readonly<Record<Name, Event[]>>, bot: readonly Event[], user: readonly Event[]): void {
  for (const [name, got] of Object.entries(events)) {
    const isInsider = insiders.includes(name as Name);
    t.strictSame(got, isInsider ? [...bot, ...user] : user, name);
  }
}

t.test("a new bot is sent with its settings to its owner and administrators, and as a user to everyone", async (t) => {
  let id = 0;
  const events = await receivedEvents(async () => {
    const { answer } = await makeBot(keeper, "fresh", {
      bot_type: 3,
      payload_url: "https://e.com",
      interface_type: 2,
    });
    id = answer.body.user_id;
  });
  const [added] = events.keeper;
  t.strictSame(added, {
    type: "realm_bot",
    op: "add",
    bot: {
      user_id: id,
      email: "fresh-bot@127.0.0.1",
      full_name: "The fresh",
      bot_type: 3,
      is_active: true,
      api_key: "",
      avatar_url: added.bot.avatar_url,
      owner_id: keeper.userId,
      default_sending_stream: null,
      default_events_register_stream: null,
      default_all_public_streams: false,
      services: [{ base_url: "https://e.com", interface: 2, token: added.bot.services[0].token }],
    },
  });
  for (const [name, got] of Object.entries(events)) {
    const [first] = got;
    t.equal(got.length, insiders.includes(name as Name) ? 2 : 1, name);
    if (insiders.includes(name as Name)) t.strictSame(first, added, name);
    const person = got.at(-1)?.person;
    t.match(got.at(-1), { type: "realm_user", op: "add", person: { user_id: id, is_bot: true, bot_type: 3 } });
    t.notOk("profile_data" in person, "bots have none");
  }
});

t.test("[S2] the event log contains neither API keys nor tokens of bots", async (t) => {
  const { answer } = await makeBot(keeper, "logged", { bot_type: 3, payload_url: "https://e.com" });
  await keeper.patch(`/bots/${answer.body.user_id}`, { service_payload_url: "https://f.com" });
  const { lmdb, view } = server.realm;
  const token = view.row("botServices", answer.body.user_id)?.token ?? "none";
  const log = JSON.stringify(lmdb.rows("events", { limit: 100_000 }));
  t.match(log, /realm_bot/);
  t.notOk(log.includes(token));
  t.notOk(log.includes(answer.body.api_key));
});

t.test("an update event carries only the fields that changed", async (t) => {
  const { bot } = await makeBot(keeper, "worker", { bot_type: 3, payload_url: "https://e.com" });
  const token = server.realm.view.row("botServices", bot.userId)?.token;
  const update = (field: object) => ({ type: "realm_bot", op: "update", bot: { user_id: bot.userId, ...field } });
  const user = (field: object) => ({ type: "realm_user", op: "update", person: { user_id: bot.userId, ...field } });
  const cases: readonly (readonly [by: Client, params: Record<string, unknown>, bot: Event[], user: Event[]])[] = [
    [keeper, {}, [], []],
    [keeper, { full_name: "The worker", default_sending_stream: "", default_all_public_streams: false }, [], []],
    [keeper, { service_payload_url: "https://e.com", service_interface: 1, bot_owner_id: keeper.userId }, [], []],
    [keeper, { full_name: "Wörker" }, [update({ full_name: "Wörker" })], [user({ full_name: "Wörker" })]],
    [
      keeper,
      {
        default_sending_stream: "general",
        default_events_register_stream: "general",
        default_all_public_streams: true,
      },
      [
        update({ default_sending_stream: "general" }),
        update({ default_events_register_stream: "general" }),
        update({ default_all_public_streams: true }),
      ],
      [],
    ],
    [
      keeper,
      { service_payload_url: "https://g.com" },
      [update({ services: [{ base_url: "https://g.com", interface: 1, token }] })],
      [],
    ],
    [owner, { role: roles.moderator }, [], [user({ role: roles.moderator })]],
  ];
  for (const [by, params, botEvents, userEvents] of cases) {
    const events = await receivedEvents(() => by.patch(`/bots/${bot.userId}`, params));
    check(t, events, botEvents, userEvents);
  }
  check(t, await receivedEvents(() => keeper.post(`/bots/${bot.userId}/api_key/regenerate`)), [], []);
  const gone = await receivedEvents(() => keeper.delete(`/bots/${bot.userId}`));
  check(t, gone, [update({ is_active: false })], [user({ is_active: false })]);
});

t.test("a new owner gains the bot, the former owner loses it, and administrators keep it", async (t) => {
  const { bot } = await makeBot(keeper, "wanderer");
  const events = await receivedEvents(() => keeper.patch(`/bots/${bot.userId}`, { bot_owner_id: member.userId }));
  const user = { type: "realm_user", op: "update", person: { user_id: bot.userId, bot_owner_id: member.userId } };
  const update = { type: "realm_bot", op: "update", bot: { user_id: bot.userId, owner_id: member.userId } };
  t.strictSame(events.keeper, [{ type: "realm_bot", op: "delete", bot: { user_id: bot.userId } }, user]);
  t.match(events.member, [{ type: "realm_bot", op: "add", bot: { full_name: "The wanderer" } }, user]);
  t.strictSame(events.owner, [update, user]);
  t.strictSame(events.administrator, [update, user]);
  t.strictSame(events.moderator, [user]);
  t.strictSame(events.guest, [user]);
  const toOwner = await receivedEvents(() => owner.patch(`/bots/${bot.userId}`, { bot_owner_id: owner.userId }));
  t.match(toOwner.member, [{ op: "delete" }, { type: "realm_user" }]);
  t.match(toOwner.owner, [{ op: "update", bot: { owner_id: owner.userId } }, { type: "realm_user" }]);
});

t.test("[S1] events and state omit the name of a channel that the reader may not see", async (t) => {
  await keeper.createChannel("hidden", [keeper], { invite_only: true });
  const { bot } = await makeBot(keeper, "spy", { default_sending_stream: "hidden" });
  const events = await receivedEvents(() => owner.patch(`/bots/${bot.userId}`, { bot_owner_id: member.userId }));
  t.match(events.member[0], { op: "add", bot: { default_sending_stream: null } });
  const own = (await member.register({ fetch_event_types: ["realm_bot"] }))["realm_bots"] as Event[];
  const found = own.find((record) => record.user_id === bot.userId);
  t.match(found, { default_sending_stream: null });
  const all = (await owner.register({ fetch_event_types: ["realm_bot"] }))["realm_bots"] as Event[];
  const seen = all.find((record) => record.user_id === bot.userId);
  t.match(seen, { default_sending_stream: "hidden" });
});

t.test("[E2] a former owner who resumes receives only the bot's removal", async (t) => {
  const queue = await keeper.register({ event_types: ["realm_bot"], fetch_event_types: [] });
  const { bot } = await makeBot(keeper, "lost", { bot_type: 3, payload_url: "https://e.com" });
  await keeper.patch(`/bots/${bot.userId}`, { full_name: "Found" });
  await keeper.patch(`/bots/${bot.userId}`, { bot_owner_id: member.userId });
  await member.patch(`/bots/${bot.userId}`, { full_name: "Elsewhere" });
  const { body } = await keeper.get("/events", { ...queue, dont_block: true });
  t.match(body.events, [{ op: "delete", bot: { user_id: bot.userId } }]);
  t.equal(body.events.length, 1);
});

t.test("[S1] a user who becomes an administrator receives all bots, and loses them when demoted", async (t) => {
  const params = { event_types: mirroredTypes, fetch_event_types: mirroredTypes };
  const climber = await server.user("climber");
  const { bot: own } = await makeBot(climber, "climbing");
  await makeBot(keeper, "hidden", { bot_type: 3, payload_url: "https://e.com/secret" });
  for (const role of [roles.administrator, roles.moderator]) {
    const queue = await climber.register(params);
    await owner.patch(`/users/${climber.userId}`, { role });
    const { known, fresh } = await knownAndFresh(climber, queue, params);
    t.strictSame(known.snapshot()["realm_bots"], fresh["realm_bots"], String(role));
    if (role === roles.moderator) t.match(known.state.realm_bots, [{ user_id: own.userId }]);
    t.equal(known.state.realm_bots.length > 1, role === roles.administrator);
  }
});

t.test("state before plus events equals a fresh fetch, for every role", async (t) => {
  const params = { event_types: mirroredTypes, fetch_event_types: mirroredTypes };
  const { bot: old } = await makeBot(keeper, "old");
  const renamed = await owner.createChannel("before the rename", [keeper]);
  await keeper.patch(`/bots/${old.userId}`, { default_events_register_stream: "before the rename" });
  const watchers = await Promise.all(
    Object.entries(people).map(async ([name, client]) => ({ name, client, queue: await client.register(params) })),
  );
  const { bot } = await makeBot(keeper, "young", { bot_type: 3, payload_url: "https://e.com" });
  await keeper.patch(`/bots/${bot.userId}`, { full_name: "Grown", service_interface: 2 });
  await keeper.patch(`/bots/${old.userId}`, { bot_owner_id: member.userId, default_sending_stream: "general" });
  await member.patch(`/bots/${old.userId}`, { bot_owner_id: keeper.userId });
  await keeper.patch(`/bots/${bot.userId}`, { bot_owner_id: member.userId });
  t.equal((await upload(old, "/users/me/avatar", await picture("png", 8, 8))).status, 200);
  await server.realm.dispatcher.ask(
    command(
      { actor: "realm" },
      "user.grant-email-changes",
      { email: owner.account?.email ?? "", isGranted: true },
      null,
    ),
  );
  t.equal((await owner.patch(`/users/${bot.userId}`, { new_email: "grown@example.com" })).status, 200);
  t.equal((await owner.patch(`/streams/${renamed}`, { new_name: "after the rename" })).status, 200);
  const { bot: last } = await makeBot(member, "last");
  await member.delete(`/bots/${last.userId}`);
  for (const { name, client, queue } of watchers) {
    const { known, fresh } = await knownAndFresh(client, queue, params);
    for (const key of ["realm_bots", "realm_users", "realm_non_active_users"]) {
      t.strictSame(known.snapshot()[key], fresh[key], `${name}: ${key}`);
    }
  }
});

t.test("[S3] a queue that would need too many bot events is closed, so its client registers again", async (t) => {
  const climber = await server.user("far climber");
  const crowded = (count: number) => {
    for (let id = 500_000; id < 500_000 + count; id++) {
      server.write("users", id, { ...bare, id, email: `b${id}@example.com`, fullName: `B ${id}` });
    }
  };
  const row = server.realm.view.users.get(member.userId);
  if (row === undefined) throw new Error("no member");
  const bare = { ...row, botType: 1, botOwnerId: member.userId };
  const known = [...server.realm.view.bots.all()].length;
  for (const [count, code] of [
    [limits.visibility_events_max - known, undefined],
    [limits.visibility_events_max - known + 1, "BAD_EVENT_QUEUE_ID"],
  ] as const) {
    crowded(count);
    const queue = await climber.register({ event_types: ["realm_bot"] });
    await owner.patch(`/users/${climber.userId}`, { role: code === undefined ? roles.administrator : roles.member });
    const { body } = await climber.get("/events", {
      queue_id: queue.queue_id,
      last_event_id: queue.last_event_id,
      dont_block: true,
    });
    t.equal(body.code, code, `${count} more`);
  }
});

t.test("[S3] a queue that would need too many rename events for default channels is closed", async (t) => {
  const channelId = await owner.createChannel("named by many", [owner]);
  const { bot } = await makeBot(owner, "naming", { default_sending_stream: "named by many" });
  const [user, record] = (["users", "bots"] as const).map((table) => server.realm.view.row(table, bot.userId));
  if (user === undefined || record === undefined) throw new Error("no bot");
  const first = 700_000;
  const naming = (count: number) => {
    for (let id = first; id < first + count - 1; id++) {
      server.write("users", id, { ...(user as UserRecord), id, email: `n${id}@example.com`, fullName: `N ${id}` });
      server.write("bots", id, record as BotRecord);
    }
  };
  for (const [count, code] of [
    [limits.visibility_events_max, undefined],
    [limits.visibility_events_max + 1, "BAD_EVENT_QUEUE_ID"],
  ] as const) {
    naming(count);
    const queue = await owner.openQueue(["realm_bot"]);
    await owner.patch(`/streams/${channelId}`, { new_name: `named by ${count}` });
    const { body } = await owner.getEvents(queue, queue.last_event_id, { dont_block: true });
    t.equal(body.code, code, `${count} bots refer to the channel`);
    if (code === undefined) t.equal(body.events.length, count);
  }
});

t.test("a new bot is in its role's groups when event recipients are computed", async (t) => {
  const params = { event_types: mirroredTypes, fetch_event_types: mirroredTypes };
  const queue = await keeper.register(params);
  const { bot } = await makeBot(keeper, "grouped");
  const { body } = await keeper.get("/events", {
    queue_id: queue.queue_id,
    last_event_id: queue.last_event_id,
    dont_block: true,
  });
  const mirror = new Mirror(queue, { includesSubscribers: false, isModern: false });
  mirror.apply(body.events);
  const fresh = snapshotOf(await keeper.register(params))["realm_user_groups"];
  t.ok(fresh.some(({ members }: { members: number[] }) => members.includes(bot.userId)));
  t.strictSame(mirror.snapshot()["realm_user_groups"], fresh);
});

t.test("[S1, E2] an owner to whom a channel becomes visible or hidden receives their bot's defaults", async (t) => {
  await owner.createChannel("in sight", [owner, keeper], { invite_only: true });
  const defaults = { default_sending_stream: "in sight", default_events_register_stream: "in sight" };
  const { bot } = await makeBot(keeper, "homesick", defaults);
  const params = { event_types: mirroredTypes, fetch_event_types: mirroredTypes };
  const queue = await keeper.register(params);
  const mirror = new Mirror(queue, { includesSubscribers: false, isModern: false });
  let after = queue.last_event_id;
  const subscriptions = { subscriptions: ["in sight"], principals: [keeper.userId] };
  const id = (await owner.get("/get_stream_id", { stream: "in sight" })).body.stream_id;
  const changes: readonly (readonly [what: string, work: () => Promise<unknown>])[] = [
    ["leaves", () => owner.delete("/users/me/subscriptions", subscriptions)],
    ["joins", () => owner.post("/users/me/subscriptions", { ...subscriptions, subscriptions: [{ name: "in sight" }] })],
    ["leaves again", () => owner.delete("/users/me/subscriptions", subscriptions)],
    ["sees what is public", () => owner.patch(`/streams/${id}`, { is_private: false })],
    ["a guest does not see it", () => owner.patch(`/users/${keeper.userId}`, { role: roles.guest })],
    ["a member sees it", () => owner.patch(`/users/${keeper.userId}`, { role: roles.member })],
  ];
  for (const [what, work] of changes) {
    await work();
    const { body } = await keeper.get("/events", {
      queue_id: queue.queue_id,
      last_event_id: after,
      dont_block: true,
    });
    mirror.apply(body.events);
    after = body.events.at(-1).id;
    const fresh = snapshotOf(await keeper.register(params))["realm_bots"] as Event[];
    t.strictSame(mirror.snapshot()["realm_bots"], fresh, what);
    const isSeen = !what.startsWith("leaves") && what !== "a guest does not see it";
    const own = fresh.find(({ user_id: userId }) => userId === bot.userId);
    t.equal(own?.["default_sending_stream"], isSeen ? "in sight" : null, what);
  }
});
