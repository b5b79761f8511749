/** One run: a server of its own, users in channels, the facts about them, and clients that follow events. */
import type { Client } from "../support/client.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import type { Teardown, TestServer } from "../support/server.ts";
import { ConversationModel, type Kind, type Post } from "./conversation-model.ts";
import { differ } from "./differ.ts";
import { type Ability, EventFollower } from "./event-follower.ts";
import { expectedBy, shownTo } from "./views.ts";

/** All users are in the first channel; the owner, who admits others, in all. */
const kinds: readonly Kind[] = ["public", "public", "protected", "shared"];
const members = [
  [0, 1, 2, 3],
  [0, 1, 3],
  [0, 1, 2],
  [0, 2],
];
export const names = ["owner", "ada", "bob", "cyd"];

export class World {
  readonly server: TestServer;
  readonly people: readonly Client[];
  readonly channelIds: readonly number[];
  readonly facts: ConversationModel;
  readonly followers: EventFollower[] = [];
  readonly #clock: ManualClock;

  private constructor(
    server: TestServer,
    clock: ManualClock,
    people: readonly Client[],
    channelIds: readonly number[],
  ) {
    this.server = server;
    this.#clock = clock;
    this.people = people;
    this.channelIds = channelIds;
    this.facts = new ConversationModel(people.length, kinds, members);
  }

  static async make(t: Teardown): Promise<World> {
    const { server, clock } = await startClockedServer(t);
    const others = await Promise.all(names.slice(1).map((name) => server.user(name)));
    const people = [server.owner, ...others];
    // Topics that are followed automatically are not part of this model.
    for (const person of people) {
      await person.patch("/settings", {
        automatically_follow_topics_policy: 4,
        automatically_unmute_topics_in_muted_streams_policy: 4,
        automatically_follow_topics_where_mentioned: false,
      });
    }
    const channelIds: number[] = [];
    for (const [index, kind] of kinds.entries()) {
      const more = { invite_only: kind !== "public", history_public_to_subscribers: kind !== "protected" };
      const subscribers = members[index]?.map((person) => people[person] as Client) ?? [];
      channelIds.push(await server.owner.createChannel(`channel ${index}`, subscribers, more));
    }
    return new World(server, clock, people, channelIds);
  }

  client(index: number): Client {
    const found = this.people[index];
    if (found === undefined) throw new Error(`there is no user ${index}`);
    return found;
  }

  get now(): number {
    return this.#clock.now();
  }

  /** A second passes between two steps, so that no two changes have the same time. */
  async pass(): Promise<void> {
    this.#clock.advance(1000);
    await this.settled();
  }

  /** Resolves when the changes that marks and moves announce later have been announced. */
  async settled(): Promise<void> {
    const { dispatcher, lmdb } = this.server.realm;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      await dispatcher.idle();
      const timers = lmdb.rows("timers", { limit: 100 });
      if (!timers.some(({ row }) => (row.command as { type: string }).type.startsWith("read-state"))) return;
      this.#clock.advance(100);
    }
  }

  async watch(person: number, ability: Ability): Promise<void> {
    this.followers.push(await EventFollower.of(this, person, ability));
  }

  /** Compares everything that a user sees with the facts. */
  async compare(person: number): Promise<void> {
    const shown = await shownTo(this, person);
    for (const [name, value] of Object.entries(expectedBy(this, person))) {
      differ(`${names[person]}, ${name}`, shown[name], value);
    }
  }

  /**
   * The newest message of a topic as the owner sees it: no response contains the ids of messages that the server itself
   * writes.
   */
  async newestId(post: Post): Promise<number> {
    const narrow = [
      { operator: "channel", operand: this.channelIds[post.place?.channel ?? 0] },
      { operator: "topic", operand: post.place?.topic ?? "" },
    ];
    const { body } = await this.client(0).get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow });
    return body.messages[0]?.id ?? 0;
  }
}
