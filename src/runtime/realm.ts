/**
 * One open realm: its environment, projections, dispatcher and event log. Realms share nothing.
 *
 * Starts the retention actor when there may be something to remove: when a limit was set or changed, and when a realm
 * with limits is opened, because a crash may have separated a change from its check.
 */
import { command } from "../../actors/protocol/decision.ts";
import { isCheckDue } from "../../actors/realm/channel-activity.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { referencedFiles, uploadedFile } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { SnapshotRecord } from "../../schemas/runtime.ts";
import type { Durability } from "../durability/journal/durability.ts";
import { type DurabilityGate, onceDurable } from "../durability/journal/durability-gate.ts";
import { hasTooManyLetters, pruneLetters } from "../store/dead-letters.ts";
import { EventLog } from "../store/event-log.ts";
import { areFilesLocked } from "../store/file-hold.ts";
import { FileStore, filesFolder } from "../store/files.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { CheckDepth } from "../store/lmdb-check.ts";
import { RealmProjections } from "../store/projections/realm-projections.ts";
import type { SharedFiles } from "../store/shared-files.ts";
import type { Clock } from "./clock.ts";
import { type Alarm, Dispatcher } from "./dispatcher.ts";
import { openRealmStore, type RealmStore } from "./realm-store.ts";
import type { TurnWatch } from "./turn.ts";

const pausedLine = `Message retention is held: the clock jumped ahead, and more than ${limits.retention_jump_percent_max}% of all messages would be removed. Stop the server, then run "cli confirm-retention" if the clock is right, or "cli set-time" if it was wrong.`;

/** @param isInitialized whether the organization has been created */
function watchRetention(dispatcher: Dispatcher, isInitialized: boolean, warn: (line: string) => void): void {
  const { view, observers } = dispatcher;
  const check = () => dispatcher.send(command({ actor: "retention" }, "retention.check", {}, null));
  const own = new OwnLimits();
  for (const channel of view.channels.all()) own.note(channel);
  const ofRealm = () => view.realm.settings["message_retention_days"];
  let realmDays = isInitialized ? ofRealm() : undefined;
  if (Number(realmDays) > 0 || own.isAnySet) check();
  observers.observe("realm", () => {
    const before = realmDays;
    realmDays = ofRealm();
    if (realmDays !== before) check();
  });
  observers.observe("snapshots", (deltas) => {
    const isPaused = deltas.some(
      ({ key, row }) => key === "retention" && (row as SnapshotRecord | null)?.state === "held",
    );
    if (isPaused) warn(pausedLine);
  });
  observers.observe("channels", (deltas) => {
    const rows = deltas.flatMap(({ row }) => (row === null ? [] : [row as ChannelRecord]));
    if (rows.filter((row) => own.note(row)).length > 0) check();
  });
}

/** Limits of channels that do not use the organization's default. */
class OwnLimits {
  readonly #days = new Map<number, number>();

  get isAnySet(): boolean {
    return [...this.#days.values()].some((days) => days > 0);
  }

  /** @returns whether the limit changed */
  note({ id, messageRetentionDays: days }: ChannelRecord): boolean {
    if ((this.#days.get(id) ?? null) === days) return false;
    if (days === null) this.#days.delete(id);
    else this.#days.set(id, days);
    return true;
  }
}

/**
 * Counts the users of an open realm: requests, sockets and calls that are not finished. An unused realm is closed after
 * a while.
 */
export class RealmUse {
  readonly #clock: Pick<Clock, "monotonic">;
  #users = 0;
  /**
   * null: used since it was last asked for. Each request begins and ends a use, so the clock is read when somebody
   * asks, which is rare.
   */
  #unusedSince: number | null = null;
  #onUnused: (() => void)[] = [];

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Every call is followed by one of `end`. */
  begin(): void {
    this.#users++;
  }

  end(): void {
    this.#users--;
    this.#unusedSince = null;
    if (this.#users === 0 && this.#onUnused.length > 0) for (const wake of this.#onUnused.splice(0)) wake();
  }

  /** Resolves when the realm has no users. */
  onceUnused(): Promise<void> {
    return this.#users === 0 ? Promise.resolve() : new Promise((resolve) => this.#onUnused.push(resolve));
  }

  /** The realm stays open until this work is done, also if its client is gone. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work;
    } finally {
      this.end();
    }
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** The time without a user of the realm, counted from the first call after its last use. */
  unusedMs(): number {
    if (this.#users > 0) return 0;
    const now = this.#clock.monotonic();
    this.#unusedSince ??= now;
    return now - this.#unusedSince;
  }
}

export interface RealmOptions {
  /** Its number in the data folder; records of the journal carry it. */
  readonly id?: number;
  readonly folder: string;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly acceptsWrites: () => boolean;
  readonly durability: Durability;
  /** It is being created: see RealmStoreOptions. */
  readonly isDraft?: boolean;
  /** How much of the file is checked before it is opened. */
  readonly extent?: CheckDepth;
  /** Token of the process that owns the data folder. Once the realm is open, no other process can write to it. */
  readonly owner?: string | null;
  /** Gets the durations of turns; absent where they are not read. */
  readonly turnWatch?: TurnWatch;
  /** In a cluster: where the other nodes find the files. */
  readonly sharedFiles?: SharedFiles;
}

const upkeepMs = 60_000;
const upkeepAgainMs = 100;

export class Realm {
  readonly lmdb: Lmdb;
  readonly projections: RealmProjections;
  readonly dispatcher: Dispatcher;
  readonly log: EventLog;
  readonly files: FileStore;
  /** Through it leaves whatever shows this realm's turns (M1). */
  readonly gate: DurabilityGate;
  readonly use: RealmUse;
  /** Part of every queue id; a restored backup gets a new one (E1). */
  readonly epoch: string;
  #isClosed = false;
  readonly #store: RealmStore;

  /** @throws Error when the store is damaged or newer than the program */
  constructor(options: RealmOptions) {
    this.use = new RealmUse(options.clock);
    const store = openRealmStore(options);
    this.#store = store;
    this.lmdb = store.lmdb;
    this.gate = store.gate;
    this.epoch = store.epoch;
    try {
      this.projections = RealmProjections.rebuild(this.lmdb);
    } catch (error) {
      void store.close();
      throw error;
    }
    this.files = new FileStore({
      folder: filesFolder(options.folder),
      acceptsWrites: options.acceptsWrites,
      areLocked: () => areFilesLocked(options.folder, options.clock.now()),
      archiveMark: () => options.durability.archiveMark(),
      report: (error) => options.alarm.bug(error, null),
      onceDurable: () => onceDurable(this.gate),
      ...(options.sharedFiles === undefined ? {} : { shared: options.sharedFiles }),
    });
    this.dispatcher = new Dispatcher({
      lmdb: this.lmdb,
      gate: this.gate,
      projections: this.projections,
      clock: options.clock,
      alarm: options.alarm,
      acceptsWrites: options.acceptsWrites,
      discard: (file) => this.files.discard(file),
      ...(options.turnWatch === undefined ? {} : { turnWatch: options.turnWatch }),
    });
    this.log = new EventLog(this.lmdb);
    watchRetention(this.dispatcher, this.lmdb.get("realm", "realm") !== undefined, options.alarm.warn);
    watchActivity(this.dispatcher);
    this.#runUpkeep();
    this.files.sweep(() => this.#referenced()).catch((error: unknown) => options.alarm.bug(error, null));
  }

  /** @throws OwnershipLost when another process took the folder over, or the files were replaced */
  assertOwned(): void {
    if (this.#isClosed) return;
    this.#store.assertOwned();
    this.files.assertInPlace();
  }

  /**
   * The files that rows claim right now. Files listed before this call belong to this process or to earlier owners: a
   * later owner writes none before it has taken over.
   */
  #referenced(): { has(name: string): boolean } {
    this.#store.assertOwned();
    const ofRealm: RowOf<"realmPictures">[] = [];
    this.lmdb.each("realmPictures", (row) => ofRealm.push(row));
    const pictures = referencedFiles(this.view.users.all(), this.view.realmEmoji.all(), ofRealm);
    return {
      has: (name) => {
        const file = uploadedFile(name);
        return file === null ? pictures.has(name) : this.lmdb.has("attachmentFiles", file);
      },
    };
  }

  /** The realm is closing; reads will soon fail. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get view(): View {
    return this.dispatcher.view;
  }

  /**
   * Periodic maintenance: prunes the event log in slices between turns, and removes leftovers of backups. Runs again
   * soon while a slice was not enough.
   */
  #runUpkeep(afterMs = upkeepMs): void {
    this.dispatcher.volatileTimers.set("upkeep", afterMs, () => {
      const { realmCounters } = this.dispatcher;
      const before = realmCounters.eventBytes;
      try {
        this.lmdb.clearDeadReaders();
        this.files.discardPostponed();
        this.#prune(before);
        if (hasTooManyLetters(this.lmdb)) this.dispatcher.maintain(() => pruneLetters(this.lmdb));
      } finally {
        this.#runUpkeep(realmCounters.eventBytes < before ? upkeepAgainMs : upkeepMs);
      }
    });
  }

  #prune(bytes: number): void {
    const { realmCounters, view } = this.dispatcher;
    const now = view.dueNow;
    const isDue = bytes > limits.event_log_bytes_max || this.#oldestEventAge(now) > limits.event_log_kept_ms_max;
    if (isDue) this.dispatcher.maintain(() => realmCounters.grew(-this.log.prune(now, bytes)));
  }

  #oldestEventAge(now: number): number {
    const [oldest] = this.log.read(0, 1);
    return oldest === undefined ? 0 : now - oldest.at;
  }

  /** Nothing waits to become durable, and the store has every turn. */
  get isStored(): boolean {
    return this.#store.isStored;
  }

  /** It has had no user for so long, and nothing of its own is running or due within that time. */
  isIdle(forMs: number): boolean {
    if (this.use.unusedMs() < forMs || !this.files.isIdle || !this.isStored) return false;
    const { nextDueAt, view } = this.dispatcher;
    return nextDueAt === null || nextDueAt - view.dueNow >= forMs;
  }

  /**
   * Closes an idle realm in one step, so that no request meets it half closed: there is no turn to wait for, and LMDB
   * counts its handles if the realm is opened again at once.
   */
  async closeIdle(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.dispatcher.close(), this.#store.close()]);
  }

  /** @returns when the next durable timer is due; 0 if commands are waiting; null if there is neither */
  async close(): Promise<number | null> {
    this.#isClosed = true;
    await this.dispatcher.close();
    await this.files.idle();
    const dueHint = this.dispatcher.nextDueAt;
    await this.#store.close();
    return dueHint;
  }
}

/**
 * Starts the announcement of channels that became inactive, once a day. The time of the last announcement is on disk,
 * so a server that was down announces late, but once.
 */
function watchActivity(dispatcher: Dispatcher): void {
  const { view, volatileTimers } = dispatcher;
  const look = () => {
    volatileTimers.set("activity", limits.channel_activity_check_ms, look);
    if (!isCheckDue(view)) return;
    const params = { since: view.counter("inactivityTold"), upTo: view.now, afterId: 0 };
    dispatcher.send(command({ actor: "realm" }, "channels.announce-inactive", params, null));
  };
  look();
}
