/** The View of a realm: projections and rows, with the turn's counters (M4, M9). */
import { limits } from "../../schemas/limits.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { IndexRange, RangeOptions, View } from "../domain/view.ts";
import type { Environment } from "../store/environment.ts";
import type { Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { ChannelTails } from "./channel-tails.ts";
import { MessageWatches } from "./message-watches.ts";
import { RowCache } from "./row-cache.ts";
import { TopicPolicies } from "./topic-policies.ts";
import type { Times } from "./turn-times.ts";

/** State that changes while a turn runs. Only the dispatcher writes it. */
export interface TurnState {
  now: number;
  dueNow: number;
  clockJumps: number;
  /** Turns since the last one with a request, including this one. */
  turnsSinceRequest: number;
  position: number;
  readonly counters: Record<CounterName, number>;
}

export class RealmView implements View {
  readonly cache = new RowCache();
  readonly tails: ChannelTails;
  readonly #topicPolicies = new TopicPolicies();
  readonly #watches = new MessageWatches();
  readonly #environment: Environment;
  readonly #projections: RealmProjections;
  readonly #turn: TurnState;
  /** The clock's time between turns; the turn's time within a turn. */
  readonly #times: Times;

  constructor(environment: Environment, projections: RealmProjections, turn: TurnState, times: Times) {
    this.#environment = environment;
    this.tails = new ChannelTails(environment);
    this.#projections = projections;
    this.#turn = turn;
    this.#times = times;
  }

  /** The decoded caches, which follow the writes (M9). */
  get followers(): readonly Follower[] {
    return [this.cache, this.tails, this.#topicPolicies, this.#watches];
  }

  get now(): number {
    return this.#times.now;
  }
  get dueNow(): number {
    return this.#times.dueNow;
  }
  get clockJumps(): number {
    return this.#turn.clockJumps;
  }
  get isIdle(): boolean {
    return this.#turn.turnsSinceRequest > limits.idle_after_turns;
  }
  get position(): number {
    return this.#turn.position;
  }
  watchMessages(readerId: number) {
    return this.#watches.open(readerId);
  }
  counter(name: CounterName): number {
    return this.#turn.counters[name];
  }
  count(table: TableName): number {
    return this.#environment.count(table);
  }
  get realm() {
    return this.#projections.realm.record;
  }
  get users() {
    return this.#projections.users;
  }
  get bots() {
    return this.#projections.bots;
  }
  get channels() {
    return this.#projections.channels;
  }
  get subscriptions() {
    return this.#projections.subscriptions;
  }
  get groups() {
    return this.#projections.groups;
  }
  get realmEmoji() {
    return this.#projections.realmEmoji;
  }
  get alertWords() {
    return this.#projections.alertWords;
  }
  get emailSubscriptions() {
    return this.#projections.emailSubscriptions;
  }
  get profiles() {
    return this.#projections.profiles;
  }
  get linkifiers() {
    return this.#projections.linkifiers.inOrder;
  }
  get peopleVersions() {
    return this.#projections.peopleVersions;
  }
  apiKey(hash: string) {
    return this.#projections.apiKeys.get(hash);
  }
  apiKeysOf(userId: number) {
    return this.#projections.apiKeys.ofUser(userId);
  }
  queue(id: string) {
    return this.#projections.queues.get(id);
  }
  queuesOf(userId: number) {
    return this.#projections.queues.ofUser(userId);
  }
  presence(userId: number) {
    return this.#projections.presence.get(userId);
  }
  channelIndex(channelId: number, range: IndexRange) {
    return this.tails.read(channelId, range);
  }
  topicPoliciesOf(channelId: number, foldedTopic: string) {
    const range = { start: [channelId, foldedTopic], end: [channelId, foldedTopic, Number.MAX_VALUE] };
    return this.#topicPolicies.of(channelId, foldedTopic, (limit) =>
      this.rows("topicPolicies", { ...range, limit }).map(({ key, row }) => ({ userId: key[2], ...row })),
    );
  }
  row<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined {
    return this.cache.get(table, key, () => this.#environment.get(table, key));
  }
  rows<T extends TableName>(table: T, range: RangeOptions<T>) {
    return this.#environment.rows(table, range);
  }
  keys<T extends TableName>(table: T, range: RangeOptions<T>): KeyOf<T>[] {
    return this.#environment.keys(table, range);
  }
}
