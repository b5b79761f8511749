/** GET /realm/statistics (D259): the organization's own figures, for its administrators and owners. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { JumpingClock } from "../support/jumping-clock.ts";
import { until } from "../support/realtime.ts";
import { commands } from "../support/runtime.ts";
import { startTestServer, type Teardown } from "../support/server.ts";

const dayMs = 24 * 60 * 60 * 1000;

async function start(t: Teardown) {
  const clock = new JumpingClock(Date.UTC(2031, 4, 5, 6));
  t.teardown(() => clock.release());
  const server = await startTestServer(t, { clock });
  const statistics = async () => {
    const { status, body } = await server.owner.get("/realm/statistics");
    return { status, ...body } as Record<string, unknown> & {
      readonly status: number;
      readonly messages: { readonly total: number; readonly days: readonly { date: string; messages: number }[] };
    };
  };
  return { clock, server, statistics };
}

t.test("[D259] people are counted by role, and those who were active lately", async (t) => {
  const { clock, server, statistics } = await start(t);
  const anna = await server.user("anna");
  await server.user("ada", roles.administrator);
  await server.user("mo", roles.moderator);
  const gus = await server.user("gus", roles.guest);
  const hidden = await server.user("hidden");
  server.setUser(hidden.userId, { presence_enabled: false });
  await anna.post("/bots", { full_name: "Echo", short_name: "echo" });
  const gone = await server.user("gone");
  await server.owner.delete(`/users/${gone.userId}`);
  for (const by of [anna, gus, hidden]) await by.post("/users/me/presence", { status: "active", ping_only: true });
  // One of the bots is the server's own.
  const people = { owners: 1, administrators: 1, moderators: 1, members: 2, guests: 1, bots: 2, deactivated: 1 };
  t.match(await statistics(), { status: 200, people, active_people: { day: 2, week: 2, month: 2 } });
  clock.jump(2 * dayMs);
  await gus.post("/users/me/presence", { status: "active", ping_only: true });
  t.match(await statistics(), { active_people: { day: 1, week: 2, month: 2 } });
  clock.jump(29 * dayMs);
  t.match(await statistics(), { active_people: { day: 0, week: 0, month: 1 } });
});

t.test("[D259] messages are counted by day, from the first to the last that exists", async (t) => {
  const { clock, server, statistics } = await start(t);
  const { owner } = server;
  const countsOf = async () => {
    const { total, days } = (await statistics()).messages;
    return { total, days: days.flatMap(({ date, messages }) => (messages === 0 ? [] : [[date, messages]])) };
  };
  const empty = await statistics();
  t.equal(empty.messages.days.length, limits.statistics_days);
  t.strictSame(empty.messages.days.at(-1), { date: "2031-05-05", messages: 0 });
  const ids: number[] = [];
  const post = async (count: number) => {
    for (let left = count; left > 0; left--) ids.push(await owner.say("general", "days", "x"));
  };
  await post(3);
  clock.jump(dayMs);
  await post(4);
  clock.jump(2 * dayMs);
  await post(2);
  const all = [
    ["2031-05-05", 3],
    ["2031-05-06", 4],
    ["2031-05-08", 2],
  ];
  t.strictSame(await countsOf(), { total: ids.length, days: all });
  await owner.delete(`/messages/${ids[4]}`);
  t.strictSame((await countsOf()).days, all, "one in the middle");
  for (const id of ids.slice(3, 7)) await owner.delete(`/messages/${id}`);
  t.strictSame((await countsOf()).days, [all[0], all[2]], "a whole day");
  clock.jump((limits.statistics_days - 1) * dayMs);
  t.strictSame(await countsOf(), { total: ids.length, days: [["2031-05-08", 2]] }, "statistics_days");
});

t.test("[D259] queues, files, deliveries and dead letters are the organization's own", async (t) => {
  const { server, statistics } = await start(t);
  await server.owner.post("/register", { event_types: JSON.stringify(["message"]) });
  server.realm.dispatcher.send(commands.throwing());
  await until(() => server.realm.lmdb.count("deadLetters") === 1);
  t.match(await statistics(), {
    channels: { active: 1, archived: 0 },
    upload_bytes: 0,
    event_queues: 1,
    connected_queues: 0,
    waiting_deliveries: { emails: 0, webhooks: 0 },
    dead_letters: 1,
  });
});

t.test("[D259] members, moderators, guests and bots get no statistics", async (t) => {
  const { server } = await start(t);
  const refused = { status: 400, body: { code: "UNAUTHORIZED_PRINCIPAL" } };
  for (const role of [roles.member, roles.moderator, roles.guest]) {
    const person = await server.user(`role${role}x`, role);
    t.match(await person.get("/realm/statistics"), refused, String(role));
  }
  t.match(await server.owner.anonymous().get("/realm/statistics"), { status: 401 });
  t.match(await server.owner.post("/realm/statistics"), { status: 405 });
});
