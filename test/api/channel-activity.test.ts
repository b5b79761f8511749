/**
 * `is_recently_active` of a channel (behaviour 2.3): true at first, false after 180 days without a message, true again
 * with a new one.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { announceInactive } from "../../actors/realm/channel-activity.ts";
import { limits } from "../../schemas/limits.ts";
import { Client, type Event, Follower } from "../support/client.ts";
import { plainChannel } from "../support/plain-channel.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { temporaryFolder } from "../support/server.ts";

const dayMs = 24 * 60 * 60 * 1000;
const began = Date.UTC(2026, 0, 1);

t.test("[behaviour 2.3] a channel is recently active for 180 days after creation and each message", async (t) => {
  const dataDir = temporaryFolder(t);
  let ids: number[] = [];
  /** The server is stopped meanwhile, so that no timer has to run for half a year. */
  async function after(days: number, act: (owner: Client) => Promise<unknown> = async () => undefined) {
    const { server } = await startClockedServer(t, { dataDir }, began + days * dayMs);
    const owner = new Client(server.url, server.owner.account);
    if (ids.length === 0)
      ids = [await owner.createChannel("quiet", [owner]), await owner.createChannel("busy", [owner])];
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
    const follower = await owner.follow({ event_types: ["stream", "message"] });
    await owner.say("quiet", "topic", "at last");
    await owner.say("quiet", "topic", "and again");
    await follower.settled();
    const [name, property] = ["quiet", "is_recently_active"];
    const expectedEvent = { type: "stream", op: "update", stream_id: ids[0], name, property, value: true };
    const isAbout = (event: Event) => event.property === property;
    t.strictSame(
      follower.ofType("stream").filter(isAbout),
      [expectedEvent],
      "each user who can see the channel receives one event",
    );
  };
  t.strictSame(await after(2 * half + 1, revive), [true, false]);
});

const week = 7 * dayMs;
const isAbout = ({ property }: Event) => property === "is_recently_active";
/** Queues that survive days without being polled. */
const patient = { event_types: ["stream", "message"], queue_lifespan_secs: week / 1000 };

t.test("[behaviour 2.3, 4.3] an inactive channel sends one event within a day without a request", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir }, began);
  const id = await first.server.owner.createChannel("quiet", [first.server.owner]);
  await first.server.stop();
  const { server, clock } = await startClockedServer(
    t,
    { dataDir },
    began + limits.channel_inactive_days * dayMs - 1000,
  );
  const owner = new Client(server.url, server.owner.account);
  await owner.createChannel("younger", [owner]);
  const follower = await owner.follow(patient);
  const pass = async () => {
    // No check ran for hours; the next one is a single late check.
    clock.jump(dayMs + limits.channel_activity_check_ms);
    await server.realm.dispatcher.idle();
    await follower.settled();
    return follower.events.splice(0).filter(isAbout);
  };
  const expectedEvent = {
    type: "stream",
    op: "update",
    stream_id: id,
    name: "quiet",
    property: "is_recently_active",
    value: false,
  };
  const about = (await pass()).filter(({ stream_id }) => stream_id === id);
  t.match(about, [expectedEvent]);
  t.strictSame((await owner.get(`/streams/${id}`)).body.stream.is_recently_active, false);
  t.strictSame(await pass(), [], "and not again");
  await server.stop();
});

t.test("[M8] a channel that became inactive while the server was stopped is announced once at its start", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir }, began);
  const id = await first.server.owner.createChannel("quiet", [first.server.owner]);
  await first.server.stop();
  const end = began + limits.channel_inactive_days * dayMs;
  const second = await startClockedServer(t, { dataDir }, end - dayMs);
  const state = await new Client(second.server.url, second.server.owner.account).register(patient);
  await second.server.stop();
  const heard: Event[] = [];
  let last = state["last_event_id"];
  for (const moment of [end + dayMs, end + dayMs + 1000, end + 3 * dayMs]) {
    const { server } = await startClockedServer(t, { dataDir }, moment);
    const owner = new Client(server.url, server.owner.account);
    const follower = new Follower(owner, { ...state, last_event_id: last });
    await server.realm.dispatcher.idle();
    await follower.settled();
    last = (
      await owner.get("/events", { queue_id: state["queue_id"], last_event_id: last, dont_block: true })
    ).body.events.at(-1).id;
    heard.push(...follower.events.filter((event) => isAbout(event) && event.stream_id === id));
    await server.stop();
  }
  t.match(heard, [{ value: false }]);
  t.equal(heard.length, 1);
});

t.test("[S3] channel_activity_per_command_max: one command checks so many, further ones the rest", async (t) => {
  const { server } = await startClockedServer(t, {}, began);
  const { dispatcher, view } = server.realm;
  const max = limits.channel_activity_per_command_max;
  const look = (afterId: number) => {
    const params = { since: began, upTo: began + (limits.channel_inactive_days + 1) * dayMs, afterId };
    const request = command({ actor: "realm" }, "channels.announce-inactive", params, null);
    const outcome = announceInactive(params, view, request);
    if (!("effects" in outcome)) throw new Error("refused");
    return outcome.effects.map(({ kind }) => kind);
  };
  const make = (name: string) =>
    dispatcher.ask(command({ actor: "realm" }, "channel.create", plainChannel(name), server.owner.userId));
  const missing = max - view.counter("channel");
  await Promise.all(Array.from({ length: missing }, (_, index) => make(`c${index}`)));
  const expectedEvent = (count: number) => Array.from({ length: count }, () => "emit");
  t.strictSame(look(0), [...expectedEvent(max), "setCounter"]);
  await make("one more");
  t.strictSame(look(0), [...expectedEvent(max), "send"]);
  t.strictSame(look(max), ["emit", "setCounter"]);
});
