/**
 * The cost of a presence ping (architecture, Presence): a ping that changes nothing starts no turn, over HTTP and on a
 * socket. Every turn records its time, even one with volatile commands only, so an unchanged turn time proves that
 * there was none.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Params } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";

const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
const server = await startTestServer(t, { clock });

const updateMinMs = limits.presence_update_min_s * 1000;

/** Whether the request started a turn, and how many positions it used. */
async function costOf(request: () => Promise<unknown>) {
  const { dispatcher, view } = server.realm;
  await dispatcher.idle();
  clock.jump(1);
  const { position } = view;
  await request();
  return { hadTurn: dispatcher.realmCounters.turn.now === clock.now(), positions: view.position - position };
}

const nothing = { hadTurn: false, positions: 0 };

t.test("a ping starts a turn only if it changes something, whatever it requests", async (t) => {
  const anna = await server.user("anna");
  const ping = (params: Params) => costOf(() => anna.post("/users/me/presence", { status: "active", ...params }));
  t.match(await ping({}), { hadTurn: true }, "the first ping of all");
  const requests: Params[] = [
    {},
    { status: "idle" },
    { ping_only: true },
    { last_update_id: -1 },
    { last_update_id: 1, new_user_input: true },
    { slim_presence: true, history_limit_days: 1 },
    { status: "asleep" },
  ];
  for (const params of requests) t.strictSame(await ping(params), nothing, JSON.stringify(params));
  clock.jump(updateMinMs);
  t.match(await ping({ status: "idle" }), { hadTurn: true }, "a ping after a long time is a change");
  t.strictSame(await ping({ status: "idle" }), nothing);
});

t.test("pings of an invisible user are not recorded and start no turn", async (t) => {
  const bert = await server.user("bert");
  server.setUser(bert.userId, { presence_enabled: false });
  t.strictSame(await costOf(() => bert.post("/users/me/presence", { status: "active" })), nothing);
});

t.test("reading presence starts no turn", async (t) => {
  const carla = await server.user("carla");
  await carla.post("/users/me/presence", { status: "active" });
  for (const path of ["/realm/presence", `/users/${carla.userId}/presence`]) {
    t.strictSame(await costOf(() => carla.get(path)), nothing);
  }
});
