/**
 * Presence events (docs/realtime.md; E4; behaviour 4.4, 6.2): newly online users, coalesced to one event per second, in
 * two forms.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client, Follower } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";

/** The coalescing interval of one second plus the resolution of the volatile timers. */
const publishedMs = 1200;
const simplified = { client_capabilities: { simplified_presence_events: true } };
const limited = { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: "true" };

const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
const server = await startTestServer(t, { clock, environment: limited });
const { owner } = server;

function report(by: Client, status = "active") {
  return by.post("/users/me/presence", { status, ping_only: true });
}

/** Presence events since the last call. */
async function receivedEvents(follower: Follower) {
  await follower.settled();
  const events = follower.ofType("presence");
  follower.events.splice(0);
  return events;
}

t.test("newly online users are sent together after a second; singly in the older form", async (t) => {
  const [anna, bert] = [await server.user("anna"), await server.user("bert")];
  const newer = await owner.follow(simplified);
  const older = await owner.follow();
  const slim = await owner.follow({ slim_presence: true });
  const at = Math.floor(clock.now() / 1000);
  await report(anna);
  await report(bert, "idle");
  for (const follower of [newer, older]) t.strictSame(await receivedEvents(follower), [], "not before");
  clock.advance(publishedMs);
  t.strictSame(await receivedEvents(newer), [
    {
      type: "presence",
      presences: {
        [anna.userId]: { active_timestamp: at, idle_timestamp: at },
        [bert.userId]: { active_timestamp: at, idle_timestamp: at },
      },
    },
  ]);
  const both = await receivedEvents(older);
  const { server_timestamp } = both[0];
  t.ok(server_timestamp > at);
  t.strictSame(
    both,
    (
      [
        [anna, "active"],
        [bert, "idle"],
      ] as const
    ).map(([client, status]) => ({
      type: "presence",
      user_id: client.userId,
      email: client.account?.email,
      server_timestamp,
      presence: { website: { client: "website", status, timestamp: at, pushable: false } },
    })),
  );
  t.strictSame(
    await receivedEvents(slim),
    both.map(({ email: _email, ...rest }) => rest),
  );
});

t.test("[behaviour 6.2] a user is newly online with a first report, or after 130 s without activity", async (t) => {
  const carla = await server.user("carla");
  const follower = await owner.follow(simplified);
  const isNews = async (status: string) => {
    await report(carla, status);
    clock.advance(publishedMs);
    return (await receivedEvents(follower)).length > 0;
  };
  t.equal(await isNews("idle"), true, "the first of all");
  t.equal(await isNews("active"), true, "never active before");
  clock.advance(130_000 - publishedMs);
  t.equal(await isNews("active"), false, "130 s after the last activity");
  clock.advance(130_001 - publishedMs);
  t.equal(await isNews("active"), true);
  clock.advance(300_000);
  t.equal(await isNews("idle"), false);
});

t.test("invisible users are not announced; clients that did not ask receive no presence", async (t) => {
  const [dora, emil] = [await server.user("dora"), await server.user("emil")];
  const follower = await owner.follow(simplified);
  const uninterested = await owner.follow({ event_types: ["message"] });
  server.setUser(dora.userId, { presence_enabled: false });
  await report(dora);
  clock.advance(publishedMs);
  t.strictSame(await receivedEvents(follower), []);
  await report(emil);
  clock.advance(publishedMs);
  const found = (await receivedEvents(follower)).map((event) => Object.keys(event.presences));
  t.strictSame(found, [[String(emil.userId)]]);
  t.strictSame(await receivedEvents(uninterested), []);
});

t.test("with the server setting, users receive the presence only of users whom they may see", async (t) => {
  const fritz = await server.user("fritz");
  const guest = await server.user("guest", roles.guest);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  t.teardown(() => server.setRealm({ can_access_all_users_group: server.group("role:everyone") }));
  const newer = await guest.follow(simplified);
  const older = await guest.follow();
  const member = await owner.follow(simplified);
  await report(fritz);
  await report(guest);
  clock.advance(publishedMs);
  const found = (await receivedEvents(newer)).map((event) => Object.keys(event.presences));
  t.strictSame(found, [[String(guest.userId)]]);
  const userIds = (await receivedEvents(older)).map((event) => event.user_id);
  t.strictSame(userIds, [guest.userId]);
  t.equal(Object.keys((await receivedEvents(member))[0].presences).length, 2);
  clock.advance(200_000);
  await report(fritz);
  clock.advance(publishedMs);
  for (const follower of [newer, older])
    t.strictSame(await receivedEvents(follower), [], "the presence of a hidden user is not announced, either");
  t.equal((await receivedEvents(member)).length, 1);
});

t.test("[S1] a user who is deactivated within the coalescing interval is not announced", async (t) => {
  const [gustav, hanna] = [await server.user("gustav"), await server.user("hanna")];
  const newer = await owner.follow(simplified);
  const older = await owner.follow();
  await report(gustav);
  await report(hanna);
  await owner.delete(`/users/${gustav.userId}`);
  clock.advance(publishedMs);
  const found = (await receivedEvents(newer)).map(({ presences }) => Object.keys(presences));
  t.strictSame(found, [[String(hanna.userId)]]);
  const userIds = (await receivedEvents(older)).map(({ user_id }) => user_id);
  t.strictSame(userIds, [hanna.userId]);
});

t.test("the modern form has one event per second, however the reports are spread", async (t) => {
  const people = await Promise.all(["i", "j", "k"].map((name) => server.user(name)));
  const follower = await owner.follow(simplified);
  for (const person of people) {
    await report(person);
    clock.advance(publishedMs / people.length);
  }
  // A second after the first report; later reports do not delay it.
  const ids = people.map(({ userId }) => String(userId));
  const found = (await receivedEvents(follower)).map(({ presences }) => Object.keys(presences));
  t.strictSame(found, [ids]);
  clock.advance(publishedMs);
  t.strictSame(await receivedEvents(follower), [], "announced once");
});

t.test("[S3] presence_older_deliveries_max: older events over the limit are sent in later seconds", async (t) => {
  const slow = new ManualClock(Date.UTC(2031, 4, 5));
  t.teardown(() => slow.release());
  const server = await startTestServer(t, { clock: slow });
  const watcher = await server.user("watcher");
  const queues = limits.queues_per_user_max;
  const older = await watcher.follow({ event_types: ["presence", "message"] });
  for (let made = 1; made < queues; made++)
    await watcher.register({ event_types: ["presence"], fetch_event_types: [] });
  const portion = limits.presence_older_deliveries_max / queues;
  const ids = await server.users("many", portion + 1);
  const newer = await server.owner.follow(simplified);
  const { dispatcher } = server.realm;
  await Promise.all(
    ids.map((userId) => {
      const to = { actor: "presence", userId } as const;
      return dispatcher.ask(command(to, "presence.report", { status: "active" }, userId));
    }),
  );
  const announcedIds: number[][] = [];
  const modern: number[] = [];
  for (let second = 0; second < 3; second++) {
    slow.advance(publishedMs);
    announcedIds.push((await receivedEvents(older)).map(({ user_id }) => user_id));
    modern.push((await receivedEvents(newer)).length);
  }
  const lengths = announcedIds.map((seen) => seen.length);
  t.strictSame(lengths, [portion, 1, 0]);
  const found = announcedIds.flat().sort((a, b) => a - b);
  t.strictSame(found, ids);
  t.strictSame(modern, [1, 0, 0], "the modern form sends one event for all at once");
});
