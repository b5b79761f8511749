/**
 * A client that registered at some moment and follows events: its initial state plus events must equal the current
 * state. It reads its events from time to time, all of them again at the end, and once more from a position in between.
 */
import type { Client, Event } from "../support/client.ts";
import { MessageMirror, snapshotOf } from "../support/message-mirror.ts";
import { Mirror, mirroredTypes, snapshotOf as stateSnapshotOf } from "../support/mirror.ts";
import { readAgain } from "../support/realtime.ts";
import { differ } from "./differ.ts";
import type { World } from "./world.ts";

export type Ability = "modern" | "plain";

const types = [...mirroredTypes, "reaction"];

/** The newest message, overall and per conversation: after a deletion no event reports which one is the newest. */
const notInEvents: readonly string[] = ["max_message_id", "recent_private_conversations"];

export class EventFollower {
  readonly #world: World;
  readonly #person: number;
  readonly #ability: Ability;
  readonly #state: Event;
  readonly #messages: readonly Event[];
  /** Events read step by step. */
  readonly #live: Event[] = [];
  /** Channels to which the user has been subscribed without interruption. */
  readonly #channels: Set<number>;
  /**
   * Messages that were in channels to which the user was not subscribed, or that the user could not read: no event
   * reports their changes there.
   */
  readonly #strayed = new Set<number>();

  private constructor(
    world: World,
    person: number,
    ability: Ability,
    start: { state: Event; messages: readonly Event[] },
  ) {
    this.#world = world;
    this.#person = person;
    this.#ability = ability;
    this.#state = start.state;
    this.#messages = start.messages;
    this.#channels = new Set(world.channelIds.keys());
    this.#forget();
  }

  static async of(world: World, person: number, ability: Ability): Promise<EventFollower> {
    const client = world.client(person);
    const state = await client.register(paramsOf(ability));
    const messages = await fetchAll(world, client, ability);
    return new EventFollower(world, person, ability, { state, messages });
  }

  get #client(): Client {
    return this.#world.client(this.#person);
  }

  /** A user who leaves a channel no longer receives changes of its messages. */
  #forget(): void {
    const { facts } = this.#world;
    for (const channel of this.#channels) if (!facts.isIn(this.#person, channel)) this.#channels.delete(channel);
    for (const post of facts.posts) {
      const isFollowed = post.place === null || this.#channels.has(post.place.channel);
      if (!isFollowed || !facts.canRead(this.#person, post)) this.#strayed.add(post.id);
    }
  }

  /** Called after every step. */
  noticed(): void {
    this.#forget();
  }

  async #readOn(): Promise<void> {
    const after = this.#live.at(-1)?.id ?? this.#state.last_event_id;
    this.#live.push(...(await this.#client.readNow(this.#state, after)));
  }

  async compare(): Promise<void> {
    await this.#readOn();
    await this.#compareWith(this.#live, "live");
  }

  /** @param where any position in the queue */
  async compareAgain(where: number): Promise<void> {
    await this.compare();
    const all = await readAgain(this.#client, this.#state);
    await this.#compareWith(all, "repeated");
    const index = where % Math.max(1, all.length);
    const from = all[index]?.id ?? this.#state.last_event_id;
    differ(`${this.#title} resumed`, await readAgain(this.#client, this.#state, from), all.slice(index + 1));
  }

  get #title(): string {
    return `person ${this.#person}, ${this.#ability}`;
  }

  async #compareWith(events: readonly Event[], how: string): Promise<void> {
    const options = { includesSubscribers: this.#ability === "modern", isModern: this.#ability === "modern" };
    const mirror = new Mirror(this.#state, options);
    mirror.apply(events);
    const { queue_id: queueId, ...fresh } = await this.#client.register(paramsOf(this.#ability));
    await this.#client.delete("/events", { queue_id: queueId });
    const [known, expected] = [mirror.snapshot(), stateSnapshotOf(fresh)];
    for (const [key, value] of Object.entries(expected)) {
      if (!notInEvents.includes(key)) differ(`${this.#title}, ${how}: ${key}`, known[key], value);
    }
    await this.#compareMessages(events, how);
  }

  async #compareMessages(events: readonly Event[], how: string): Promise<void> {
    const mirror = new MessageMirror(this.#messages);
    mirror.apply(events);
    const fresh = await fetchAll(this.#world, this.#client, this.#ability);
    const channelIds = new Set([...this.#channels].map((index) => this.#world.channelIds[index]));
    const isFollowed = ({ id, stream_id: channelId }: Event) =>
      !this.#strayed.has(id) && (channelId === undefined || channelIds.has(channelId));
    const expectedEvent = (message: Event): Event =>
      this.#world.facts.hasSecretPast(message.id) ? { ...message, edit_history: [] } : message;
    const known = mirror.snapshot().filter(isFollowed).map(expectedEvent);
    const expected = snapshotOf(fresh.filter(isFollowed)).map(expectedEvent);
    differ(`${this.#title}, ${how}: messages`, known, expected);
  }
}

function paramsOf(ability: Ability) {
  const isModern = ability === "modern";
  return {
    event_types: types,
    fetch_event_types: types,
    apply_markdown: true,
    include_subscribers: String(isModern),
    slim_presence: isModern,
    client_capabilities: {
      notification_settings_null: true,
      simplified_presence_events: isModern,
      user_list_incomplete: isModern,
      include_deactivated_groups: isModern,
      archived_channels: isModern,
      empty_topic_name: isModern,
      bulk_message_deletion: isModern,
    },
  };
}

/** Every message that the user can read, received or not. */
async function fetchAll({ facts }: World, client: Client, ability: Ability): Promise<Event[]> {
  const { body } = await client.get("/messages", {
    message_ids: facts.posts.map(({ id }) => id),
    allow_empty_topic_name: ability === "modern",
  });
  return body.messages;
}
