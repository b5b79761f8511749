/** A queue created in the same turn in which its owner's role changes (E2, S1): its state is that after the turn. */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

// The clock is stopped, so no turn ends for exceeding its time budget.
const { server } = await startClockedServer(t);

t.test("[E2, S1] a user who becomes a guest in the turn that creates their queue gets a guest's state", async (t) => {
  const person = await server.user("stepping-down", roles.administrator);
  const channel = await server.owner.createChannel("elsewhere", []);
  const socket = await RawSocket.of(person);
  const params = { role: roles.guest };
  // In one write: frames that arrive together are decided in one turn.
  socket.send(
    { type: "call", method: "PATCH", path: `/users/${person.userId}`, params, ref: "role" },
    { type: "register", ref: "queue", fetch_event_types: ["realm_user", "realm_bot", "stream"] },
  );
  t.equal((await socket.frame(({ ref }) => ref === "role")).result, "success");
  const state = await socket.frame(({ ref }) => ref === "queue");
  t.strictSame([state.result, state.is_admin, state.is_guest], ["success", false, true]);
  const known = state.streams.map(({ stream_id: id }: { stream_id: number }) => id);
  t.notOk(known.includes(channel), "a guest who is not subscribed does not see a public channel");
});

t.test("[S1] a user who is deactivated in the turn that creates their queue gets no state", async (t) => {
  const person = await server.user("leaving");
  const socket = await RawSocket.of(person);
  socket.send(
    { type: "register", ref: "queue", fetch_event_types: ["realm_user"] },
    { type: "call", method: "DELETE", path: "/users/me", params: {}, ref: "end" },
  );
  const state = await socket.frame(({ ref }) => ref === "queue");
  t.strictSame([state.result, state.code, state.realm_users], ["error", "USER_DEACTIVATED", undefined]);
});
