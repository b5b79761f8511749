/** The View of a realm: projections and rows, with the turn's counters (M4, M9). */

import type { IndexRange, RangeOptions, View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { ReadTracker } from "../durability/journal/durability-gate.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { MessageWatches } from "./message-watches.ts";
import type { Times } from "./realm-time.ts";
import { RowCache } from "./row-cache.ts";
import { ChannelTails, TopicCounts, TopicPolicies } from "./topic-caches.ts";

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

export interface RealmViewOptions {
  readonly lmdb: Lmdb;
  readonly projections: RealmProjections;
  readonly turn: TurnState;
  /** The clock's time between turns; the turn's time within a turn. */
  readonly times: Times;
  /** Told of each table that is read, also of those in memory (M9). */
  readonly reads: ReadTracker;
}

export class RealmView implements View {
  readonly cache = new RowCache();
  readonly tails: ChannelTails;
  readonly #topicPolicies = new TopicPolicies();
  readonly #topicCounts = new TopicCounts();
  readonly #watches = new MessageWatches();
  readonly #lmdb: Lmdb;
  readonly #projections: RealmProjections;
  readonly #turn: TurnState;
  readonly #times: Times;
  readonly #reads: ReadTracker;

  constructor({ lmdb, projections, turn, times, reads }: RealmViewOptions) {
    this.#lmdb = lmdb;
    this.#reads = reads;
    this.tails = new ChannelTails(lmdb);
    this.#projections = projections;
    this.#turn = turn;
    this.#times = times;
  }

  /** The decoded caches, which follow the writes (M9). */
  get followers(): readonly Follower[] {
    return [this.cache, this.tails, this.#topicPolicies, this.#topicCounts, this.#watches];
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
    this.#reads.noteRead("meta");
    return this.#turn.position;
  }
  watchMessages(readerId: number) {
    return this.#watches.open(readerId);
  }
  counter(name: CounterName): number {
    this.#reads.noteRead("meta");
    return this.#turn.counters[name];
  }
  count(table: TableName): number {
    this.#reads.noteRead(table);
    return this.#lmdb.count(table);
  }
  get realm() {
    return this.#seen(this.#projections.realm).record;
  }
  get users() {
    return this.#seen(this.#projections.users);
  }
  get bots() {
    return this.#seen(this.#projections.bots);
  }
  get channels() {
    return this.#seen(this.#projections.channels);
  }
  get subscriptions() {
    return this.#seen(this.#projections.subscriptions);
  }
  get groups() {
    return this.#seen(this.#projections.groups);
  }
  get realmEmoji() {
    return this.#seen(this.#projections.realmEmoji);
  }
  get alertWords() {
    return this.#seen(this.#projections.alertWords);
  }
  get invitations() {
    return this.#seen(this.#projections.invitations);
  }

  get emailSubscriptions() {
    return this.#seen(this.#projections.emailSubscriptions);
  }
  get profiles() {
    return this.#seen(this.#projections.profiles);
  }
  get linkifiers() {
    return this.#seen(this.#projections.linkifiers).inOrder;
  }
  get peopleVersions() {
    return this.#seen(this.#projections.peopleVersions);
  }
  apiKey(hash: string) {
    return this.#seen(this.#projections.apiKeys).get(hash);
  }
  apiKeysOf(userId: number) {
    return this.#seen(this.#projections.apiKeys).ofUser(userId);
  }
  session(hash: string) {
    return this.#seen(this.#projections.sessions).get(hash);
  }
  sessionsOf(userId: number) {
    return this.#seen(this.#projections.sessions).ofUser(userId);
  }
  queue(id: string) {
    return this.#seen(this.#projections.queues).get(id);
  }
  queuesOf(userId: number) {
    return this.#seen(this.#projections.queues).ofUser(userId);
  }
  presence(userId: number) {
    return this.#seen(this.#projections.presence).get(userId);
  }
  channelIndex(channelId: number, range: IndexRange) {
    this.#reads.noteRead("channelMessages");
    return this.tails.read(channelId, range);
  }
  topicPoliciesOf(channelId: number, foldedTopic: string) {
    this.#reads.noteRead("topicPolicies");
    const range = { start: [channelId, foldedTopic], end: [channelId, foldedTopic, Number.MAX_VALUE] };
    return this.#topicPolicies.of(channelId, foldedTopic, (limit) =>
      this.rows("topicPolicies", { ...range, limit }).map(({ key, row }) => ({ userId: key[2], ...row })),
    );
  }
  hasTopicRoom(userId: number): boolean {
    this.#reads.noteRead("userTopics");
    const range = { start: [userId], end: [userId + 1] };
    return this.#topicCounts.hasRoom(userId, (limit) => this.keys("userTopics", { ...range, limit }).length);
  }
  row<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined {
    this.#reads.noteRead(table);
    return this.cache.get(table, key, this.#read) as RowOf<T> | undefined;
  }

  readonly #read = (table: TableName, key: unknown): unknown => this.#lmdb.get(table, key as KeyOf<TableName>);

  rows<T extends TableName>(table: T, range: RangeOptions<T>) {
    this.#reads.noteRead(table);
    return this.#lmdb.rows(table, range);
  }
  keys<T extends TableName>(table: T, range: RangeOptions<T>): KeyOf<T>[] {
    this.#reads.noteRead(table);
    return this.#lmdb.keys(table, range);
  }

  #seen<P extends { readonly tables: readonly TableName[] }>(projection: P): P {
    this.#reads.noteReads(projection.tables);
    return projection;
  }
}
