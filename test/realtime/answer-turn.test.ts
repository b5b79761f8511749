/**
 * Responses when the caller's rights change in the same turn, or between the command and its response: they contain
 * only what the caller may see when they are sent (S1). Frames sent in one write are decided in one turn.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

// The clock is stopped, so no turn ends for exceeding its time budget.
const { server } = await startClockedServer(t, { environment: { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: "true" } });
const { owner } = server;
server.setRealm({ can_access_all_users_group: server.group("role:members") });

function becomingGuest(userId: number) {
  return { type: "call", method: "PATCH", path: `/users/${userId}`, params: { role: roles.guest }, ref: "role" };
}

t.test("[S1] a user who becomes a guest in the turn of their report gets no hidden user's presence", async (t) => {
  const person = await server.user("pinging", roles.administrator);
  await owner.delete("/users/me/subscriptions", { subscriptions: ["general"], principals: [person.userId] });
  await owner.post("/users/me/presence", { status: "active" });
  const socket = await RawSocket.of(person);
  const params = { status: "active", last_update_id: -1 };
  const ping = { type: "call", method: "POST", path: "/users/me/presence", params, ref: "ping" };
  socket.send(becomingGuest(person.userId), ping);
  t.equal((await socket.frame(({ ref }) => ref === "role")).result, "success");
  const received = await socket.frame(({ ref }) => ref === "ping");
  t.strictSame(Object.keys(received.presences), [String(person.userId)]);
});

t.test(
  "[S1] a user who becomes a guest in the turn that creates their bot gets no hidden channel's name",
  async (t) => {
    const person = await server.user("botmaker", roles.administrator);
    await owner.createChannel("not for guests", []);
    const socket = await RawSocket.of(person);
    const params = { full_name: "Helper", short_name: "helper", default_sending_stream: "not for guests" };
    socket.send({ type: "call", method: "POST", path: "/bots", params, ref: "bot" }, becomingGuest(person.userId));
    t.equal((await socket.frame(({ ref }) => ref === "role")).result, "success");
    const received = await socket.frame(({ ref }) => ref === "bot");
    t.strictSame([received.result, received.default_sending_stream], ["success", null]);
  },
);

t.test("[S1] a long read fails when the account is deactivated or the API key revoked while it runs", async (t) => {
  const channelId = await owner.createChannel("long", []);
  await server.flood({ channelId, topic: "t", count: 3 * limits.narrow_rows_per_pass_max });
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "is", operand: "starred", negated: true },
    { operator: "has", operand: "link" },
  ];
  const params = { anchor: "newest", num_before: 10, num_after: 0, narrow };
  const fetching = { type: "call", method: "GET", path: "/messages", params, ref: "read" };
  const ends = {
    USER_DEACTIVATED: { type: "call", method: "DELETE", path: "/users/me", params: {}, ref: "end" },
    INVALID_API_KEY: { type: "call", method: "POST", path: "/users/me/api_key/regenerate", params: {}, ref: "end" },
  };
  for (const [code, end] of Object.entries(ends)) {
    const person = await server.user(`reader${code.length}`);
    const socket = await RawSocket.of(person);
    socket.send(fetching, end);
    t.equal((await socket.frame(({ ref }) => ref === "end")).result, "success");
    const received = await socket.frame(({ ref }) => ref === "read");
    t.strictSame([received.result, received.code, received.messages], ["error", code, undefined]);
  }
});
