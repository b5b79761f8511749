/**
 * GET /realm/usage (spec 4.7, new_user_input; D32, D150): reports with new input, per user and day, for administrators.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params, success } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer, type Teardown } from "../support/server.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** The persistence interval of presence plus the resolution of the volatile timers. */
const persistedMs = limits.batch_persist_ms + 200;

async function start(t: Teardown) {
  const clock = new ManualClock(Date.UTC(2031, 4, 5, 6));
  t.teardown(() => clock.release());
  const server = await startTestServer(t, { clock });
  const report = (by: Client, params: Params = {}) =>
    by.post("/users/me/presence", { status: "active", new_user_input: true, ping_only: true, ...params });
  const persisted = async () => {
    clock.advance(persistedMs);
    await server.realm.dispatcher.idle();
  };
  const usage = (params: Params = {}, by = server.owner) => by.get("/realm/usage", params);
  return { clock, server, report, persisted, usage };
}

function receivedEvents(date: string, user_input: Params, found_newest = true) {
  return success({ date, user_input, found_newest });
}

t.test("[spec 4.7, D32] reports with new_user_input are counted per user and day; others are not", async (t) => {
  const { clock, server, report, persisted, usage } = await start(t);
  const [anna, bert] = [await server.user("anna"), await server.user("bert")];
  const hidden = await server.user("hidden");
  server.setUser(hidden.userId, { presence_enabled: false });
  for (const by of [anna, anna, bert, hidden]) await report(by);
  await report(bert, { new_user_input: false });
  await report(bert, { new_user_input: undefined });
  await report(bert, { status: "asleep" });
  await expects(t, usage(), receivedEvents("2031-05-05", {}), "not written yet");
  await persisted();
  await report(anna, { status: "idle" });
  await persisted();
  await expects(t, usage(), receivedEvents("2031-05-05", { [anna.userId]: 3, [bert.userId]: 1 }));
  clock.jump(dayMs);
  await report(bert);
  await persisted();
  await expects(t, usage(), receivedEvents("2031-05-06", { [bert.userId]: 1 }));
  const before = { [anna.userId]: 3, [bert.userId]: 1 };
  await expects(t, usage({ date: "2031-05-05" }), receivedEvents("2031-05-05", before));
});

t.test("[D32] only administrators read usage, and the date must exist", async (t) => {
  const { server, usage } = await start(t);
  for (const role of [roles.member, roles.guest, roles.moderator]) {
    const person = await server.user(`role${role}x`, role);
    t.match(await usage({}, person), { status: 400, body: { code: "UNAUTHORIZED_PRINCIPAL" } });
  }
  const administrator = await server.user("admin", roles.administrator);
  t.equal((await usage({}, administrator)).status, 200);
  for (const date of ["", "today", "2031-02-30", "2031-5-5", "2031-05-05T"]) {
    t.match(await usage({ date }), { status: 400, body: { code: "BAD_REQUEST" } }, date);
  }
  await expects(t, usage({ date: "2031-13-01" }), "Invalid date");
});

t.test("[S3] usage_users_per_answer_max: an answer has at most this many users, the next continues", async (t) => {
  const { clock, server, usage } = await start(t);
  const day = Math.floor(clock.now() / dayMs);
  const max = limits.usage_users_per_answer_max;
  const count = async (params: Params) => {
    const { body } = await usage(params);
    return [Object.keys(body.user_input).length, body.found_newest];
  };
  for (let userId = 1; userId <= max; userId++) server.write("userInputs", [day, userId], { reports: 1 });
  t.strictSame(await count({}), [max, true]);
  server.write("userInputs", [day, max + 1], { reports: 1 });
  t.strictSame(await count({}), [max, false]);
  t.strictSame(await count({ after_user_id: max }), [1, true]);
});

t.test("[S3] usage_days_kept: older days are deleted when newer ones are written", async (t) => {
  const { clock, server, report, persisted, usage } = await start(t);
  await report(server.owner);
  await persisted();
  const of = async () => (await usage({ date: "2031-05-05" })).body.user_input;
  clock.jump((limits.usage_days_kept - 1) * dayMs);
  await report(server.owner);
  await persisted();
  t.strictSame(await of(), { [server.owner.userId]: 1 });
  clock.jump(dayMs);
  await report(server.owner);
  await persisted();
  t.strictSame(await of(), {});
});
