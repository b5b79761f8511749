/**
 * Scenarios that users watch (architecture, Event log): they register, many things change, and the state derived from
 * events is compared with a new /register, live over a socket and replayed at the end.
 */
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Event, Params, Queue } from "./client.ts";
import type { ManualClock } from "./manual-clock.ts";
import { Mirror, mirroredTypes, snapshotOf } from "./mirror.ts";
import { connect } from "./realtime.ts";
import { startClockedServer } from "./realtime-clock.ts";
import type { TestServer } from "./server.ts";
import type { Socket } from "./socket.ts";
import { faultsOf, kindOf } from "./wire-events.ts";

interface Variant {
  readonly includesSubscribers: boolean;
  readonly isModern: boolean;
  /** Event and state types; by default all that a mirror follows. */
  readonly types?: readonly string[];
}

const rich: Variant = { includesSubscribers: true, isModern: true };
const plain: Variant = { includesSubscribers: false, isModern: false };

function paramsOf({ includesSubscribers, isModern, types = mirroredTypes }: Variant) {
  return {
    event_types: types,
    fetch_event_types: types,
    include_subscribers: String(includesSubscribers),
    slim_presence: isModern,
    client_capabilities: {
      notification_settings_null: true,
      simplified_presence_events: isModern,
      user_list_incomplete: isModern,
      include_deactivated_groups: isModern,
      archived_channels: isModern,
    },
  };
}

/** A queue's state with all events applied, for a client without capabilities, and the state of a new /register. */
export async function knownAndFresh(client: Client, queue: Queue, params: Params) {
  const known = new Mirror(queue, plain);
  known.apply(await client.readNow(queue));
  return { known, fresh: snapshotOf(await client.register(params)) };
}

class Watcher {
  readonly client: Client;
  readonly variant: Variant;
  readonly #state: Event;
  readonly #socket: Socket;
  readonly #queue: Queue;

  private constructor(client: Client, variant: Variant, start: { socket: Socket; state: Event; queue: Queue }) {
    this.client = client;
    this.variant = variant;
    this.#socket = start.socket;
    this.#state = start.state;
    this.#queue = start.queue;
  }

  /** Follows live with one queue; a second one registered at the same moment is read at the end. */
  static async of(client: Client, variant: Variant): Promise<Watcher> {
    const socket = await connect(client);
    const state = await socket.ask({ type: "register", ...paramsOf(variant) });
    const queue = await client.register(paramsOf(variant));
    return new Watcher(client, variant, { socket, state, queue });
  }

  /**
   * Compares the state derived from events with a fresh one, key by key. @returns the types and ops that were received
   */
  async check(t: Test, title: string, fence: number): Promise<string[]> {
    await this.#socket.event((event) => event.message?.id === fence);
    const fresh = snapshotOf(await this.client.register(paramsOf(this.variant)));
    const live = new Mirror(this.#state, this.variant);
    live.apply(this.#socket.events);
    const repeated = new Mirror(this.#queue, this.variant);
    const replayed = await this.client.readNow(this.#queue);
    repeated.apply(replayed);
    t.strictSame(faultsOf(this.#socket.events), [], `${title}, live: as schemas/events.ts says`);
    t.strictSame(faultsOf(replayed), [], `${title}, repeated: as schemas/events.ts says`);
    for (const [key, expected] of Object.entries(fresh)) {
      t.strictSame(live.snapshot()[key], expected, `${title}, live: ${key}`);
      t.strictSame(repeated.snapshot()[key], expected, `${title}, repeated: ${key}`);
    }
    this.#socket.terminate();
    return this.#socket.events.map(kindOf);
  }
}

export interface Fixture {
  readonly server: TestServer;
  readonly clock: ManualClock;
  readonly owner: Client;
  readonly member: Client;
  readonly other: Client;
}

export type Play = (fixture: Fixture) => Promise<void>;

/**
 * Watches a scenario with an owner and a member in both variants.
 * @param prepare what happens before the users register
 * @returns the types and ops that any of them received
 */
export async function watch(
  t: Test,
  play: Play,
  prepare: Play = async () => undefined,
  types: readonly string[] = mirroredTypes,
): Promise<ReadonlySet<string>> {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const [member, other] = await Promise.all([server.user("member"), server.user("other")]);
  await owner.createChannel("before", [owner, member, other]);
  await owner.createChannel("private before", [owner, member], { invite_only: true });
  await owner.say("before", "old", "the first");
  await owner.say("before", "old", "the second");
  await other.say("before", "new", "the third");
  await other.post("/messages", { type: "direct", to: [member.userId], content: "before" });
  await prepare({ server, clock, owner, member, other });
  const watchers: Watcher[] = [];
  for (const [client, variant] of [
    [owner, rich],
    [member, rich],
    [member, plain],
  ] as const) {
    watchers.push(await Watcher.of(client, { ...variant, types }));
  }
  // A queue is read from the log from the first event on that its owner received live. This one is it, so all later
  // events are read from the log.
  await owner.post("/messages", { type: "direct", to: [member.userId], content: "the beginning" });
  await play({ server, clock, owner, member, other });
  // Presence events are delayed for a moment.
  clock.advance(limits.presence_coalesce_ms + 200);
  const { body } = await owner.post("/messages", { type: "direct", to: [member.userId], content: "the end" });
  const received = new Set<string>();
  for (const watcher of watchers) {
    const who = watcher.client === owner ? "owner" : "member";
    const title = `${who} ${watcher.variant.isModern ? "rich" : "plain"}`;
    for (const event of await watcher.check(t, title, body.id)) received.add(event);
  }
  return received;
}
