/** Presence as it is pushed (realtime.md, Who gets what; E4; behaviour 4.4, 6.2): newly online people, once a second, in two forms. */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import { Follower, personOf, setRealmSettings, setUserSettings, systemGroup } from "../support/conversation.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";

/** The second of coalescing, and the ticks of the timer wheel. */
const publishedMs = 1200;
const simplified = { client_capabilities: { simplified_presence_events: true } };
const limited = { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: "true" };

const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
const server = await startTestServer(t, { clock, environment: limited });
t.teardown(() => clock.release());
const { owner } = server;

function report(by: Client, status = "active") {
  return by.post("/users/me/presence", { status, ping_only: true });
}

/** Presence events since the last look. */
async function told(follower: Follower) {
  await follower.settled();
  const events = follower.ofType("presence");
  follower.events.splice(0);
  return events;
}

t.test("[realtime] newly online people go out together after a second; one event each in the older form", async (t) => {
  const [anna, bert] = [await personOf(server, "anna"), await personOf(server, "bert")];
  const newer = await Follower.of(owner, simplified);
  const older = await Follower.of(owner);
  const slim = await Follower.of(owner, { slim_presence: true });
  const at = Math.floor(clock.now() / 1000);
  await report(anna);
  await report(bert, "idle");
  for (const follower of [newer, older]) t.strictSame(await told(follower), [], "not before");
  clock.advance(publishedMs);
  t.strictSame(await told(newer), [
    {
      type: "presence",
      presences: {
        [anna.userId]: { active_timestamp: at, idle_timestamp: at },
        [bert.userId]: { active_timestamp: at, idle_timestamp: at },
      },
    },
  ]);
  const both = await told(older);
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
    await told(slim),
    both.map(({ email: _email, ...rest }) => rest),
  );
});

t.test("[behaviour 6.2] news is a first report and an activity more than 130 s after the last one", async (t) => {
  const carla = await personOf(server, "carla");
  const follower = await Follower.of(owner, simplified);
  const isNews = async (status: string) => {
    await report(carla, status);
    clock.advance(publishedMs);
    return (await told(follower)).length > 0;
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

t.test("[realtime] nobody is told of who is invisible, nor who did not ask for presence", async (t) => {
  const [dora, emil] = [await personOf(server, "dora"), await personOf(server, "emil")];
  const follower = await Follower.of(owner, simplified);
  const uninterested = await Follower.of(owner, { event_types: ["message"] });
  setUserSettings(server, dora.userId, { presence_enabled: false });
  await report(dora);
  clock.advance(publishedMs);
  t.strictSame(await told(follower), []);
  await report(emil);
  clock.advance(publishedMs);
  t.strictSame(
    (await told(follower)).map((event) => Object.keys(event.presences)),
    [[String(emil.userId)]],
  );
  t.strictSame(await told(uninterested), []);
});

t.test("[realtime] with the server's limit, people are told only of those whom they may know", async (t) => {
  const fritz = await personOf(server, "fritz");
  const guest = await personOf(server, "guest", roles.guest);
  setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });
  t.teardown(() => setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:everyone") }));
  const newer = await Follower.of(guest, simplified);
  const older = await Follower.of(guest);
  const member = await Follower.of(owner, simplified);
  await report(fritz);
  await report(guest);
  clock.advance(publishedMs);
  t.strictSame(
    (await told(newer)).map((event) => Object.keys(event.presences)),
    [[String(guest.userId)]],
  );
  t.strictSame(
    (await told(older)).map((event) => event.user_id),
    [guest.userId],
  );
  t.equal(Object.keys((await told(member))[0].presences).length, 2);
});
