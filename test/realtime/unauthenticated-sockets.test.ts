/** Unauthenticated sockets, exactly at their bounds (S3). api/unread-answers.test.ts tests real connections. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { UnauthenticatedSockets } from "../../src/edge/realtime/unauthenticated-sockets.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startTestServer } from "../support/server.ts";

class Room {
  now = 0;
  readonly dismissed: string[] = [];
  readonly unauthenticated = new UnauthenticatedSockets({ monotonic: () => this.now });

  /** @returns whether it was admitted */
  enter(name: string, address: string): boolean {
    if (!this.unauthenticated.makeRoomFor(address)) return false;
    this.unauthenticated.add({ closeForOthers: () => void this.dismissed.push(name) }, address);
    return true;
  }
}

t.test(
  "[S3] sockets_unauthenticated_per_address_max: one more from the same address waits for the oldest's time-out",
  async (t) => {
    const room = new Room();
    for (let index = 0; index < limits.sockets_unauthenticated_per_address_max; index++) {
      t.ok(room.enter(`a${index}`, "a"));
    }
    t.notOk(room.enter("one more", "a"));
    t.ok(room.enter("b", "b"), "another address has room");
    room.now = limits.socket_unauthenticated_kept_ms_min - 1;
    t.notOk(room.enter("one more", "a"));
    room.now++;
    t.ok(room.enter("one more", "a"));
    t.strictSame(room.dismissed, ["a0"]);
  },
);

t.test("[S3] sockets_unauthenticated_max: one more in total waits until the oldest times out", async (t) => {
  const room = new Room();
  for (let index = 0; index < limits.sockets_unauthenticated_max; index++)
    t.ok(room.enter(`${index}`, `from ${index}`));
  t.notOk(room.enter("one more", "elsewhere"));
  room.now = limits.socket_unauthenticated_kept_ms_min;
  t.ok(room.enter("one more", "elsewhere"));
  t.strictSame(room.dismissed, ["0"]);
});

t.test(
  "[S3] ws_first_frame_bytes_max: a first frame of that size is read, one byte more closes with 1009",
  async (t) => {
    const { owner, url } = await startTestServer(t);
    const { email, key: api_key } = owner.account ?? { email: "", key: "" };
    const frameOf = (size: number) => {
      const frame = (pad: string) => JSON.stringify({ type: "authenticate", email, api_key, pad });
      return frame("x".repeat(size - frame("").length));
    };
    const fits = new RawSocket(url, { authorization: "" });
    await fits.handshake;
    fits.send(frameOf(limits.ws_first_frame_bytes_max));
    t.match(await fits.frame(() => true), { result: "success", user_id: owner.userId });
    fits.send({ type: "call", method: "GET", path: "/users/me", params: { pad: "x".repeat(100_000) }, ref: "later" });
    t.match(await fits.frame(({ ref }) => ref === "later"), { result: "success" }, "later frames may be larger");
    fits.destroy();

    const large = new RawSocket(url, { authorization: "" });
    await large.handshake;
    large.send(frameOf(limits.ws_first_frame_bytes_max + 1));
    t.match(await large.frame(() => true), { result: "error", code: "BAD_REQUEST" });
    t.equal((await large.closed).code, 1009);
  },
);
