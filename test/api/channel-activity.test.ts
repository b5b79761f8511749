/** `is_recently_active` of a channel (behaviour 2.3): true at first, false after 180 days without a message, true with one. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Client } from "../support/client.ts";
import { createChannel, Follower } from "../support/conversation.ts";
import type { Event } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { temporaryFolder } from "../support/server.ts";

const dayMs = 24 * 60 * 60 * 1000;
const began = Date.UTC(2026, 0, 1);

t.test(
  "[behaviour 2.3] a channel is recently active for 180 days after it was made and after each message",
  async (t) => {
    const dataDir = temporaryFolder(t);
    let ids: number[] = [];
    /** The server is away in between: no timer has to run for half a year. */
    async function after(days: number, act: (owner: Client) => Promise<unknown> = async () => undefined) {
      const { server } = await startClockedServer(t, { dataDir }, began + days * dayMs);
      const owner = new Client(server.url, server.owner.account);
      if (ids.length === 0)
        ids = [await createChannel(owner, "quiet", [owner]), await createChannel(owner, "busy", [owner])];
      await act(owner);
      const seen = await Promise.all(ids.map((id) => owner.get(`/streams/${id}`)));
      await server.stop();
      return seen.map(({ body }) => body.stream.is_recently_active);
    }
    const half = limits.channel_inactive_days;
    t.strictSame(await after(0), [true, true]);
    t.strictSame(await after(half - 1, (owner) => owner.say("busy", "topic", "still here")), [true, true]);
    t.strictSame(await after(half + 1), [false, true]);
    t.strictSame(await after(2 * half), [false, false]);
    const revive = async (owner: Client) => {
      const follower = await Follower.of(owner, { event_types: ["stream", "message"] });
      await owner.say("quiet", "topic", "at last");
      await owner.say("quiet", "topic", "and again");
      await follower.settled();
      const [name, property] = ["quiet", "is_recently_active"];
      const told = { type: "stream", op: "update", stream_id: ids[0], name, property, value: true };
      const isAbout = (event: Event) => event.property === property;
      t.strictSame(follower.ofType("stream").filter(isAbout), [told], "everybody who knows of it is told once");
    };
    t.strictSame(await after(2 * half + 1, revive), [true, false]);
  },
);
