/** The View of a realm: projections and rows, with the turn's counters (M4, M9). */

import type { IndexRange, MessageWatch, RangeOptions, Untracked, View } from "../../domain/view.ts";
import type { MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { DurabilityGate, ReadTracker } from "../durability/journal/durability-gate.ts";
import type { RecordNumber } from "../durability/journal/journal.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { ChannelTails, RowCache, TopicCounts, TopicPolicies } from "./caches.ts";
import type { Times } from "./clock.ts";

type Mark = (watch: Marked, key: readonly (number | string)[]) => void;

interface Marked {
  readonly readerId: number;
  readonly messages: Set<number>;
  readonly conversations: Set<number>;
  isAllStale: boolean;
}

const message =
  (part: number): Mark =>
  ({ messages }, key) =>
    messages.add(Number(key[part]));

/** The reader's own rows affect every message; other users' rows affect none. */
const reader =
  (part: number): Mark =>
  (watch, key) => {
    if (key[part] === watch.readerId) watch.isAllStale = true;
  };

const nothing: Mark = () => undefined;

const everything: Mark = (watch) => {
  watch.isAllStale = true;
};

/** A table that is not listed here may affect any message. */
const marks: { readonly [T in TableName]?: Mark } = {
  messages: message(0),
  messageAlerts: message(0),
  messageEdits: message(0),
  reactions: message(0),
  submessages: message(0),
  widgets: message(0),
  messageFlags: (watch, key) => {
    if (key[0] === watch.readerId) watch.messages.add(Number(key[2]));
  },
  conversations: ({ conversations }, key) => conversations.add(Number(key[0])),
  readStates: reader(0),
  readWatermarks: reader(2),
  readExceptions: reader(0),
  subscriptions: reader(1),
  userTopics: reader(0),
  mutedUsers: reader(0),
  // Indexes of the rows above, and rows that no message shows.
  conversationMessages: nothing,
  channelMessages: nothing,
  directConversations: nothing,
  topicNames: nothing,
  directNames: nothing,
  topicPolicies: nothing,
  flagHolders: nothing,
  attachments: nothing,
  attachmentFiles: nothing,
  attachmentMessages: nothing,
  messageAttachments: nothing,
  userAttachments: nothing,
  uploadUsage: nothing,
  searchState: nothing,
  searchPostings: nothing,
  searchTopics: nothing,
  searchPending: nothing,
  drafts: nothing,
  presence: nothing,
  userInputs: nothing,
  queues: nothing,
  events: nothing,
  mailbox: nothing,
  timers: nothing,
  idempotency: nothing,
  idempotencyAges: nothing,
  missedMessages: nothing,
  mails: nothing,
  webhookDeliveries: nothing,
};

/**
 * Tracks changes that affect what a reader sees of messages. A long answer is built in several passes, and a watch says
 * which finished parts have become stale meanwhile. It follows the same deltas as projections (M9).
 */
class MessageWatches {
  readonly #open = new Set<Marked>();

  open(readerId: number): MessageWatch {
    const watch: Marked = { readerId, messages: new Set(), conversations: new Set(), isAllStale: false };
    this.#open.add(watch);
    return {
      take: () => {
        const taken = {
          isAllStale: watch.isAllStale,
          messages: new Set(watch.messages),
          conversations: new Set(watch.conversations),
        };
        watch.isAllStale = false;
        watch.messages.clear();
        watch.conversations.clear();
        return taken;
      },
      close: () => this.#open.delete(watch),
    };
  }

  apply({ table, key }: Delta): void {
    if (this.#open.size === 0) return;
    const parts = (Array.isArray(key) ? key : [key]) as readonly (number | string)[];
    const mark = marks[table] ?? everything;
    for (const watch of this.#open) mark(watch, parts);
  }
}

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
  /** Notes each thing that a read sees, also in memory (M9). */
  readonly gate: DurabilityGate;
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
  readonly #gate: DurabilityGate;
  readonly #reads: ReadTracker;
  /** The record of the turn that set a counter last, since the realm was opened. */
  readonly #counterRecords = new Map<CounterName, RecordNumber>();
  /** Counters that the current turn has set. */
  readonly #setCounters = new Set<CounterName>();
  readonly untracked: Untracked;
  /** The newest message id after each turn that may not be durable yet, oldest first. */
  readonly #newestMessages: { readonly record: RecordNumber; readonly id: number }[] = [];
  #durableMessage: number;

  constructor({ lmdb, projections, turn, times, gate }: RealmViewOptions) {
    this.#lmdb = lmdb;
    this.#gate = gate;
    this.#reads = gate.reads;
    this.#durableMessage = turn.counters.message;
    this.untracked = {
      get message() {
        return turn.counters.message as MessageId; // the counter numbers them
      },
      get position() {
        return turn.position;
      },
    };
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
    this.#reads.noteRecord(this.#counterRecords.get(name) ?? 0);
    return this.#turn.counters[name];
  }

  get newestDurableMessage(): MessageId {
    this.#forgetDurable();
    return this.#durableMessage as MessageId; // the counter numbers them
  }

  #forgetDurable(): void {
    const isDurable = ({ record }: { readonly record: RecordNumber }) => this.#gate.isOpenFor(record);
    for (let first = this.#newestMessages[0]; first !== undefined && isDurable(first); ) {
      this.#durableMessage = first.id;
      this.#newestMessages.shift();
      first = this.#newestMessages[0];
    }
  }

  /** A command of the turn has set a counter. */
  counterSet(name: CounterName): void {
    this.#setCounters.add(name);
  }

  /** The turn's record, the realm's newest, has been appended. */
  turnEnded(): void {
    if (this.#setCounters.size === 0) return;
    const { newestRecord: record } = this.#gate;
    for (const name of this.#setCounters) this.#counterRecords.set(name, record);
    if (this.#setCounters.has("message")) {
      this.#forgetDurable();
      this.#newestMessages.push({ record, id: this.#turn.counters.message });
    }
    this.#setCounters.clear();
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
    // A row that is cached does not reach the store.
    if (this.#reads.isWatched) this.#lmdb.noteRead(table, key);
    return this.cache.get(table, key, this.#read) as RowOf<T> | undefined;
  }

  scannedRow<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined {
    if (this.#reads.isWatched) this.#lmdb.noteRead(table, key);
    return this.cache.peek(table, key, this.#read) as RowOf<T> | undefined;
  }

  readonly #read = (table: TableName, key: unknown): unknown => this.#lmdb.get(table, key as KeyOf<TableName>);

  rows<T extends TableName>(table: T, range: RangeOptions<T>) {
    return this.#lmdb.rows(table, range);
  }
  keys<T extends TableName>(table: T, range: RangeOptions<T>): KeyOf<T>[] {
    return this.#lmdb.keys(table, range);
  }

  #seen<P extends { readonly tables: readonly TableName[] }>(projection: P): P {
    this.#reads.noteReads(projection.tables);
    return projection;
  }
}
