/** Sockets that have not said whose they are, exactly at their bounds (S3); real connections are in api/unread-answers.test.ts. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Strangers } from "../../src/realtime/strangers.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startTestServer } from "../support/server.ts";

class Room {
  now = 0;
  readonly dismissed: string[] = [];
  readonly strangers = new Strangers({ monotonic: () => this.now });

  /** @returns whether it was let in */
  enter(name: string, address: string): boolean {
    if (!this.strangers.knock(address)) return false;
    this.strangers.add({ giveWay: () => void this.dismissed.push(name) }, address);
    return true;
  }
}

t.test("[S3] sockets_unauthenticated_per_address_max: one more from there waits for the time of the oldest", (t) => {
  const room = new Room();
  for (let index = 0; index < limits.sockets_unauthenticated_per_address_max; index++) {
    t.ok(room.enter(`a${index}`, "a"));
  }
  t.notOk(room.enter("one more", "a"));
  t.ok(room.enter("b", "b"), "from elsewhere there is room");
  room.now = limits.socket_unauthenticated_kept_ms_min - 1;
  t.notOk(room.enter("one more", "a"));
  room.now++;
  t.ok(room.enter("one more", "a"));
  t.strictSame(room.dismissed, ["a0"]);
  t.end();
});

t.test("[S3] sockets_unauthenticated_max: one more over all waits for the time of the oldest", (t) => {
  const room = new Room();
  for (let index = 0; index < limits.sockets_unauthenticated_max; index++)
    t.ok(room.enter(`${index}`, `from ${index}`));
  t.notOk(room.enter("one more", "elsewhere"));
  room.now = limits.socket_unauthenticated_kept_ms_min;
  t.ok(room.enter("one more", "elsewhere"));
  t.strictSame(room.dismissed, ["0"]);
  t.end();
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
    t.match(await fits.frame(({ ref }) => ref === "later"), { result: "success" }, "later ones may be large");
    fits.destroy();

    const large = new RawSocket(url, { authorization: "" });
    await large.handshake;
    large.send(frameOf(limits.ws_first_frame_bytes_max + 1));
    t.match(await large.frame(() => true), { result: "error", code: "BAD_REQUEST" });
    t.equal((await large.closed).code, 1009);
  },
);
