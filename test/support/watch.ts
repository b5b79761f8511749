/**
 * Plays that people watch (architecture, Event log): they register, much happens, and what they know by events is compared
 * with what a new /register says; live over a socket, and repeated at the end.
 */
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Params } from "./client.ts";
import { createChannel, personOf } from "./conversation.ts";
import type { ManualClock } from "./manual-clock.ts";
import { Mirror, mirroredTypes, pictureOf } from "./mirror.ts";
import { connect, type Event, type Queue, readNow } from "./realtime.ts";
import { startClockedServer } from "./realtime-clock.ts";
import type { TestServer } from "./server.ts";
import type { Socket } from "./socket.ts";

interface Variant {
  readonly includesSubscribers: boolean;
  readonly isModern: boolean;
  /** Events and state; without it, all that a mirror follows. */
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

/** What events so far made of a queue's state, for a client that knows nothing new, and what a new /register says. */
export async function knownAndFresh(client: Client, queue: Queue, params: Params) {
  const known = new Mirror(queue, plain);
  known.apply(await readNow(client, queue));
  return { known, fresh: pictureOf(await client.register(params)) };
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

  /** Follows live with one queue; a second one from the same moment is read at the end. */
  static async of(client: Client, variant: Variant): Promise<Watcher> {
    const socket = await connect(client);
    const state = await socket.ask({ type: "register", ...paramsOf(variant) });
    const queue = await client.register(paramsOf(variant));
    return new Watcher(client, variant, { socket, state, queue });
  }

  /** Compares, key by key, what events made of the state with a fresh one. @returns the types and ops that were told */
  async check(t: Test, title: string, fence: number): Promise<string[]> {
    await this.#socket.event((event) => event.message?.id === fence);
    const fresh = pictureOf(await this.client.register(paramsOf(this.variant)));
    const live = new Mirror(this.#state, this.variant);
    live.apply(this.#socket.events);
    const repeated = new Mirror(this.#queue, this.variant);
    repeated.apply(await readNow(this.client, this.#queue));
    for (const [key, expected] of Object.entries(fresh)) {
      t.strictSame(live.picture()[key], expected, `${title}, live: ${key}`);
      t.strictSame(repeated.picture()[key], expected, `${title}, repeated: ${key}`);
    }
    this.#socket.terminate();
    return this.#socket.events.map(({ type, op }) => (op === undefined ? type : `${type} ${op}`));
  }
}

export interface Stage {
  readonly server: TestServer;
  readonly clock: ManualClock;
  readonly owner: Client;
  readonly member: Client;
  readonly other: Client;
}

export type Play = (stage: Stage) => Promise<void>;

/**
 * Watches a play with an owner and a member in both variants.
 * @param prepare what happens before anybody watches
 * @returns the types and ops that anybody was told
 */
export async function watch(
  t: Test,
  play: Play,
  prepare: Play = async () => undefined,
  types: readonly string[] = mirroredTypes,
): Promise<ReadonlySet<string>> {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const [member, other] = await Promise.all([personOf(server, "member"), personOf(server, "other")]);
  await createChannel(owner, "before", [owner, member, other]);
  await createChannel(owner, "private before", [owner, member], { invite_only: true });
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
  // A queue is read from the first event on that its owner was told of: whatever comes after this one is asked of the log.
  await owner.post("/messages", { type: "direct", to: [member.userId], content: "the beginning" });
  await play({ server, clock, owner, member, other });
  // News of who is online are held back for a moment.
  clock.advance(limits.presence_coalesce_ms + 200);
  const { body } = await owner.post("/messages", { type: "direct", to: [member.userId], content: "the end" });
  const told = new Set<string>();
  for (const watcher of watchers) {
    const who = watcher.client === owner ? "owner" : "member";
    const title = `${who} ${watcher.variant.isModern ? "rich" : "plain"}`;
    for (const event of await watcher.check(t, title, body.id)) told.add(event);
  }
  return told;
}
