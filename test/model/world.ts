/** One run: a server of its own, people in channels, the facts about them, and clients that follow what happens. */
import type { Client } from "../support/client.ts";
import { createChannel, personOf, realmOf } from "../support/conversation.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import type { Teardown, TestServer } from "../support/server.ts";
import { differ } from "./differ.ts";
import { Facts, type Kind, type Post } from "./facts.ts";
import { expectedBy, shownTo } from "./views.ts";
import { type Ability, Witness } from "./witness.ts";

/** Everybody is in the first channel; the owner, who lets others in, in all. */
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
  readonly facts: Facts;
  readonly witnesses: Witness[] = [];
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
    this.facts = new Facts(people.length, kinds, members);
  }

  static async make(t: Teardown): Promise<World> {
    const { server, clock } = await startClockedServer(t);
    const others = await Promise.all(names.slice(1).map((name) => personOf(server, name)));
    const people = [server.owner, ...others];
    // What is followed by itself would be another area's model.
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
      channelIds.push(await createChannel(server.owner, `channel ${index}`, subscribers, more));
    }
    return new World(server, clock, people, channelIds);
  }

  client(index: number): Client {
    const found = this.people[index];
    if (found === undefined) throw new Error(`there is no person ${index}`);
    return found;
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Between two steps lies a second, so that no two changes have the same time. */
  async pass(): Promise<void> {
    this.#clock.advance(1000);
    await this.settled();
  }

  /** What marks and moves left to be told is told. */
  async settled(): Promise<void> {
    const { dispatcher, environment } = realmOf(this.server);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      await dispatcher.idle();
      const timers = environment.rows("timers", { limit: 100 });
      if (!timers.some(({ row }) => (row.command as { type: string }).type.startsWith("read-state"))) return;
      this.#clock.advance(100);
    }
  }

  async watch(person: number, ability: Ability): Promise<void> {
    this.witnesses.push(await Witness.of(this, person, ability));
  }

  /** All that somebody is shown, against the facts. */
  async compare(person: number): Promise<void> {
    const shown = await shownTo(this, person);
    for (const [name, value] of Object.entries(expectedBy(this, person))) {
      differ(`${names[person]}, ${name}`, shown[name], value);
    }
  }

  /** The newest message of a topic as the owner sees it: of what the server writes itself nobody tells the id. */
  async newestId(post: Post): Promise<number> {
    const narrow = [
      { operator: "channel", operand: this.channelIds[post.place?.channel ?? 0] },
      { operator: "topic", operand: post.place?.topic ?? "" },
    ];
    const { body } = await this.client(0).get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow });
    return body.messages[0]?.id ?? 0;
  }
}
