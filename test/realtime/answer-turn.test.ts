/**
 * What is told of a turn to somebody whom the same turn, or one before the answer, has made another: the answer is for who they are now
 * (S1). Frames that come in one write are decided in one turn.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { createChannel, flood, personOf, setRealmSettings, systemGroup } from "../support/conversation.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

// Time stands still: no turn ends because it took too long.
const { server } = await startClockedServer(t, { environment: { CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: "true" } });
const { owner } = server;
setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });

function becomingGuest(userId: number) {
  return { type: "call", method: "PATCH", path: `/users/${userId}`, params: { role: roles.guest }, ref: "role" };
}

t.test("[S1] who becomes a guest in the turn of their presence is told of nobody they may not know", async (t) => {
  const person = await personOf(server, "pinging", roles.administrator);
  await owner.delete("/users/me/subscriptions", { subscriptions: ["general"], principals: [person.userId] });
  await owner.post("/users/me/presence", { status: "active" });
  const socket = await RawSocket.of(person);
  const params = { status: "active", last_update_id: -1 };
  const ping = { type: "call", method: "POST", path: "/users/me/presence", params, ref: "ping" };
  socket.send(becomingGuest(person.userId), ping);
  t.equal((await socket.frame(({ ref }) => ref === "role")).result, "success");
  const told = await socket.frame(({ ref }) => ref === "ping");
  t.strictSame(Object.keys(told.presences), [String(person.userId)]);
});

t.test(
  "[S1] who becomes a guest in the turn that makes their bot is told no name of a channel they may not know",
  async (t) => {
    const person = await personOf(server, "botmaker", roles.administrator);
    await createChannel(owner, "not for guests", []);
    const socket = await RawSocket.of(person);
    const params = { full_name: "Helper", short_name: "helper", default_sending_stream: "not for guests" };
    socket.send({ type: "call", method: "POST", path: "/bots", params, ref: "bot" }, becomingGuest(person.userId));
    t.equal((await socket.frame(({ ref }) => ref === "role")).result, "success");
    const told = await socket.frame(({ ref }) => ref === "bot");
    t.strictSame([told.result, told.default_sending_stream], ["success", null]);
  },
);

t.test("[S1] a long reading ends with the account and with the key that it was asked with", async (t) => {
  const channelId = await createChannel(owner, "long", []);
  await flood(server, { channelId, topic: "t", count: 3 * limits.narrow_rows_per_pass_max });
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
    const person = await personOf(server, `reader${code.length}`);
    const socket = await RawSocket.of(person);
    socket.send(fetching, end);
    t.equal((await socket.frame(({ ref }) => ref === "end")).result, "success");
    const told = await socket.frame(({ ref }) => ref === "read");
    t.strictSame([told.result, told.code, told.messages], ["error", code, undefined]);
  }
});
