/**
 * POST /users/me/presence: every parameter and every field (spec 4.7, 2.8; D20, D21; behaviour 6), on a manual clock.
 * Times on the wire are in seconds (D26).
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const day = 24 * 60 * 60 * 1000;
const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
const server = await startTestServer(t, { clock });
let tests = 0;

/**
 * Creates two users without presence. Users of earlier tests are outside every time window that these tests request.
 */
async function start() {
  tests++;
  clock.jump(100 * day);
  const anna = await server.user(`anna${tests}x`);
  const bert = await server.user(`bert${tests}x`);
  return { startedAt: clock.now(), anna, bert };
}

const addressOf = (client: Client): string => client.account?.email ?? "";

function report(by: Client, params: Params = {}) {
  return by.post("/users/me/presence", { status: "active", ...params });
}

const second = (milliseconds: number): number => Math.floor(milliseconds / 1000);

function legacy(status: "active" | "idle", at: number) {
  const entry = { client: "website", status, timestamp: second(at) };
  return { aggregated: entry, website: { ...entry, pushable: false } };
}

function modern(activeAt: number, idleAt: number) {
  return { active_timestamp: second(activeAt), idle_timestamp: second(idleAt) };
}

t.test("[spec 4.7, D20] the report is recorded first; the answer has all presences in the legacy format", async (t) => {
  const { startedAt, anna, bert } = await start();
  await report(bert, { status: "idle" });
  clock.advance(1500);
  const answer = await report(anna);
  t.ok(answer.body.presence_last_update_id > 0);
  t.strictSame(
    outcome(answer),
    success({
      presence_last_update_id: answer.body.presence_last_update_id,
      server_timestamp: (startedAt + 1500) / 1000,
      presences: {
        [addressOf(anna)]: legacy("active", startedAt + 1500),
        [addressOf(bert)]: legacy("idle", startedAt),
      },
    }),
  );
});

t.test("[spec 4.7] last_update_id with any value, or slim_presence, selects the modern format", async (t) => {
  const { startedAt, anna } = await start();
  await report(anna);
  clock.advance(60_000);
  for (const params of [{ last_update_id: -1 }, { last_update_id: 0 }, { slim_presence: true }]) {
    const { body } = await report(anna, { status: "idle", ...params });
    t.strictSame(body.presences, { [anna.userId]: modern(startedAt, startedAt + 60_000) });
  }
  const { body } = await report(anna, { slim_presence: false });
  t.ok(addressOf(anna) in body.presences);
});

t.test("[spec 2.8] idle means connected, active present; never active means the time of joining", async (t) => {
  const { startedAt, anna } = await start();
  const own = async (status: string) =>
    (await report(anna, { status, last_update_id: -1 })).body.presences[anna.userId];
  clock.advance(5000);
  t.strictSame(await own("idle"), modern(startedAt, startedAt + 5000));
  clock.advance(1000);
  t.strictSame(await own("active"), modern(startedAt + 6000, startedAt + 6000));
  clock.advance(56_000);
  t.strictSame(await own("idle"), modern(startedAt + 6000, startedAt + 62_000));
});

t.test("[behaviour 6.2] a report within 55 s of the last one changes nothing and uses no update id", async (t) => {
  const { startedAt, anna } = await start();
  const first = (await report(anna)).body;
  clock.advance(55_000);
  const same = (await report(anna)).body;
  t.strictSame({ ...same, server_timestamp: 0 }, { ...first, server_timestamp: 0 });
  clock.advance(1);
  const next = (await report(anna)).body;
  t.ok(next.presence_last_update_id > first.presence_last_update_id);
  t.strictSame(next.presences[addressOf(anna)], legacy("active", startedAt + 55_001));
});

t.test("[behaviour 6.4] legacy: a user is active while activity is at most 70 s older than connection", async (t) => {
  const { startedAt, anna } = await start();
  const own = async () => (await report(anna, { status: "idle" })).body.presences[addressOf(anna)];
  await report(anna);
  clock.advance(70_000);
  t.strictSame(await own(), legacy("active", startedAt));
  clock.advance(60_000);
  t.strictSame(await own(), legacy("idle", startedAt + 130_000));
});

t.test("[spec 4.7] last_update_id: -1 fetches all presences, a larger one those newer than it", async (t) => {
  const { startedAt, anna, bert } = await start();
  await report(bert);
  const all = (await report(anna, { last_update_id: -1 })).body;
  t.strictSame(Object.keys(all.presences), [String(anna.userId), String(bert.userId)]);
  const last = all.presence_last_update_id;
  const nothing = (await report(anna, { last_update_id: last })).body;
  t.match(nothing, { presence_last_update_id: last });
  t.strictSame(nothing.presences, {});
  clock.advance(56_000);
  await report(bert);
  const newer = (await report(anna, { status: "active", last_update_id: last })).body;
  t.ok(newer.presence_last_update_id > last);
  t.strictSame(newer.presences, {
    [anna.userId]: modern(startedAt + 56_000, startedAt + 56_000),
    [bert.userId]: modern(startedAt + 56_000, startedAt + 56_000),
  });
  const beyond = newer.presence_last_update_id + 1000;
  const future = (await report(anna, { last_update_id: beyond })).body;
  t.equal(future.presence_last_update_id, beyond, "at least the value sent");
  t.strictSame(future.presences, {});
});

t.test("[spec 4.7, 8] history_limit_days is 14 by default and ignored with a positive last_update_id", async (t) => {
  const { anna, bert } = await start();
  const { presence_last_update_id: first } = (await report(bert, { last_update_id: -1 })).body;
  const sees = async (params: Params) =>
    Object.keys((await report(anna, { last_update_id: -1, ...params })).body.presences).includes(String(bert.userId));
  clock.jump(14 * day);
  t.equal(await sees({}), true, "14 days to the millisecond");
  t.equal(await sees({ history_limit_days: 13 }), false);
  t.equal(await sees({ last_update_id: 0, history_limit_days: 13 }), false, "zero is not positive");
  clock.advance(1);
  t.equal(await sees({}), false);
  t.equal(await sees({ history_limit_days: 15 }), true);
  t.equal(await sees({ slim_presence: true, last_update_id: undefined }), false, "without last_update_id, too");
  t.equal(await sees({ last_update_id: first - 1, history_limit_days: 1 }), true, "ignored");
});

t.test("[D21] history_limit_days=0 returns only users who are active in this second", async (t) => {
  const { anna, bert } = await start();
  const seen = async () =>
    Object.keys((await report(anna, { last_update_id: -1, history_limit_days: 0 })).body.presences).map(Number);
  await report(bert);
  clock.advance(1000);
  t.strictSame(await seen(), [anna.userId, bert.userId]);
  clock.advance(1);
  t.strictSame(await seen(), [anna.userId]);
});

t.test("[spec 4.7] ping_only records the status and returns neither presences nor a time", async (t) => {
  const { anna, bert } = await start();
  await expects(t, report(bert, { ping_only: true }), success({ presence_last_update_id: -1 }));
  await expects(t, report(bert, { ping_only: true, last_update_id: 7 }), success({ presence_last_update_id: 7 }));
  t.ok(addressOf(bert) in (await report(anna)).body.presences, "the status was recorded");
});

t.test("[spec 4.7] presence_last_update_id is -1 if none was sent and nothing is returned", async (t) => {
  const { anna } = await start();
  server.setUser(anna.userId, { presence_enabled: false });
  const { body } = await report(anna);
  t.strictSame(body.presences, {});
  t.equal(body.presence_last_update_id, -1);
  t.equal((await report(anna, { last_update_id: 999_999_999 })).body.presence_last_update_id, 999_999_999);
});

t.test("[spec 4.7] an invisible user shares no presence and sees that of others", async (t) => {
  const { startedAt, anna, bert } = await start();
  await report(anna);
  server.setUser(anna.userId, { presence_enabled: false });
  clock.advance(60_000);
  t.strictSame(Object.keys((await report(bert)).body.presences), [addressOf(bert)]);
  t.strictSame(Object.keys((await report(anna)).body.presences), [addressOf(bert)]);
  server.setUser(anna.userId, { presence_enabled: true });
  const { body } = await report(bert);
  t.strictSame(body.presences[addressOf(anna)], legacy("active", startedAt), "nothing was recorded meanwhile");
});

t.test("[behaviour 2.7] deactivated users are not returned", async (t) => {
  const { anna, bert } = await start();
  await report(bert);
  await server.owner.delete(`/users/${bert.userId}`);
  t.strictSame(Object.keys((await report(anna)).body.presences), [addressOf(anna)]);
});

t.test("[behaviour 2.7] the legacy format identifies users by their API email", async (t) => {
  const { anna, bert } = await start();
  server.setUser(bert.userId, { email_address_visibility: 4 });
  await report(bert);
  const keys = Object.keys((await report(anna)).body.presences);
  t.equal(keys.length, 2);
  t.notOk(keys.includes(addressOf(bert)));
});

t.test("[spec 4.7] CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: only users the caller may see", async (t) => {
  for (const limit of ["false", "true"]) {
    const strict = await startTestServer(t, { environment: { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: limit } });
    strict.setRealm({ can_access_all_users_group: strict.group("role:members") });
    const guest = await strict.user("guest", roles.guest);
    await report(strict.owner);
    const seen = Object.keys((await report(guest)).body.presences).sort();
    t.strictSame(seen, limit === "true" ? [addressOf(guest)] : [addressOf(guest), "user2@colloquy.invalid"]);
    t.equal(Object.keys((await report(strict.owner)).body.presences).length, 2);
  }
});

t.test("[behaviour 2.7] an invalid status is rejected with its error message and not recorded", async (t) => {
  const { anna, bert } = await start();
  for (const status of ["away", "Active", "", "x".repeat(60), '"active"']) {
    await expects(t, report(bert, { status }), `Invalid status: ${status}`);
  }
  await expects(
    t,
    report(bert, { status: undefined }),
    refusal("Missing 'status' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "status" }),
  );
  t.strictSame(Object.keys((await report(anna)).body.presences), [addressOf(anna)]);
});

t.test("[behaviour 1.3] each parameter has its type", async (t) => {
  const { anna } = await start();
  const wrong: [Params, string][] = [
    [{ last_update_id: "x" }, "last_update_id is not valid JSON"],
    [{ last_update_id: 1.5 }, "last_update_id is not an integer"],
    [{ history_limit_days: -1 }, "history_limit_days is too small"],
    [{ history_limit_days: '"1"' }, "history_limit_days is not an integer"],
    [{ new_user_input: 1 }, "new_user_input is not a boolean"],
    [{ ping_only: "yes" }, "ping_only is not valid JSON"],
    [{ slim_presence: null }, "slim_presence is not a boolean"],
  ];
  for (const [params, msg] of wrong) await expects(t, report(anna, params), msg);
  t.equal((await report(anna, { new_user_input: true })).status, 200);
  t.strictSame((await report(anna, { away: true })).body.ignored_parameters_unsupported, ["away"]);
});

t.test("[behaviour 2.7] bots have no presence, whatever they send", async (t) => {
  const { anna } = await start();
  const bot = await server.bot("bot", anna);
  for (const status of ["active", "away"]) {
    await expects(t, report(bot, { status }), "This endpoint does not accept bot requests.");
  }
  t.strictSame(Object.keys((await report(anna)).body.presences), [addressOf(anna)]);
});

t.test("[E1] presence survives a restart, and no update id is used twice", async (t) => {
  const dataDir = temporaryFolder(t);
  const startedAt = Date.UTC(2031, 4, 5);
  const early = new ManualClock(startedAt);
  t.teardown(() => early.release());
  const before = await startTestServer(t, { dataDir, clock: early });
  const anna = await before.user("anna");
  await report(anna);
  const { presence_last_update_id: last } = (await report(before.owner, { last_update_id: -1 })).body;
  early.release();
  await before.stop();

  const later = new ManualClock(startedAt + 60_000);
  t.teardown(() => later.release());
  const after = await startTestServer(t, { dataDir, clock: later });
  const { body } = await report(after.owner, { last_update_id: -1 });
  t.strictSame(body.presences[anna.userId], modern(startedAt, startedAt));
  t.ok(body.presence_last_update_id > last, "a new report gets a new id");
  const again = (await report(after.owner, { last_update_id: last })).body;
  t.strictSame(Object.keys(again.presences), [String(after.owner.userId)], "a client continues from its last id");
});

t.test("GET returns all presences in the legacy format and records none", async (t) => {
  const { startedAt, anna, bert } = await start();
  await report(bert);
  clock.advance(1500);
  await expects(
    t,
    anna.get("/realm/presence"),
    success({ presences: { [addressOf(bert)]: legacy("active", startedAt) }, server_timestamp: clock.now() / 1000 }),
  );
  t.notOk(addressOf(anna) in (await bert.get("/realm/presence")).body.presences, "reading records no presence");
});

t.test("a user is named by id or email, and is offline after 200 seconds", async (t) => {
  const { startedAt, anna, bert } = await start();
  await report(bert);
  const of = async (name: number | string) => outcome(await anna.get(`/users/${name}/presence`));
  const website = { status: "active", timestamp: second(startedAt) };
  const shown = success({ presence: { aggregated: website, website } });
  t.strictSame(await of(bert.userId), shown);
  t.strictSame(await of(addressOf(bert)), shown);
  clock.jump(startedAt + 200_000 - clock.now());
  t.strictSame(await of(bert.userId), shown, "at the bound");
  clock.advance(1000);
  t.strictSame(
    await of(bert.userId),
    success({ presence: { aggregated: { ...website, status: "offline" }, website } }),
  );
});

t.test("a request for a user without visible presence is rejected", async (t) => {
  const { anna, bert } = await start();
  await report(bert);
  const of = async (name: number | string, by = anna) => outcome(await by.get(`/users/${name}/presence`));
  const bot = await server.bot(`bot${tests}x`, anna);
  t.strictSame(await of(bot.userId), refusal("Presence is not supported for bot users."));
  t.strictSame(await of(anna.userId), refusal(`No presence data for ${anna.userId}`), "never seen");
  for (const name of [999_999, "nobody@example.com", "1e3", "-1"])
    t.strictSame(await of(name), refusal("No such user"));
  server.setUser(bert.userId, { presence_enabled: false });
  t.strictSame(await of(bert.userId), refusal(`No presence data for ${bert.userId}`), "invisible");
  server.setUser(bert.userId, { presence_enabled: true, email_address_visibility: 5 });
  t.strictSame(await of(addressOf(bert)), refusal("No such user"), "a hidden email finds no user (S1)");
  await server.owner.delete(`/users/${bert.userId}`);
  t.strictSame(await of(bert.userId), refusal("No such user"), "deactivated");
});

t.test("[S1] a restricted guest gets no presence of a hidden user", async (t) => {
  const { bert } = await start();
  const guest = await server.user(`guest${tests}x`, roles.guest);
  await report(bert);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  t.teardown(() => server.setRealm({ can_access_all_users_group: server.group("role:everyone") }));
  for (const name of [bert.userId, addressOf(bert)]) {
    await expects(t, guest.get(`/users/${name}/presence`), "No such user");
  }
});
