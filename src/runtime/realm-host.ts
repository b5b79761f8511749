/**
 * The realms of a data folder and the hosts that select them (D4). A realm is opened on first use, and closed when it
 * has been idle for a while. Realms added by another process (cli create-realm) are found when an unknown name is
 * requested.
 */
import { limits } from "../../schemas/limits.ts";
import type { Durability } from "../durability/journal/durability.ts";
import { type DamagedData, damageIn } from "../store/damage.ts";
import { requireData } from "../store/open-data-folder.ts";
import { PageChecks } from "../store/page-checks.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { keepIdentity } from "../store/realm-identity.ts";
import { hostOf, isName, RealmNames } from "../store/realm-names.ts";
import type { RealmEntry, RootStore } from "../store/root.ts";
import type { SharedFiles } from "../store/shared-files.ts";
import type { Clock } from "./clock.ts";
import type { Alarm } from "./dispatcher.ts";
import { ServedDueTimes } from "./durable-timers.ts";
import { Realm } from "./realm.ts";
import type { TurnWatch } from "./turn.ts";

/** Another node of the cluster serves it, or will in a moment. Nothing was done. */
export class RealmElsewhere extends Error {
  override readonly name = "RealmElsewhere";
}

export interface RealmHostOptions {
  readonly dataDir: string;
  readonly root: Pick<RootStore, "realms" | "putRealms" | "revision">;
  /** Token of the owning process (fence.ts); null if no other process can write, as in tests. */
  readonly owner?: string | null;
  readonly durability: Durability;
  /** The files that this start has checked; by default none. */
  readonly pageChecks?: PageChecks;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly acceptsWrites: () => boolean;
  /** After how long an idle realm is closed; null: never. */
  readonly idleMs?: number | null;
  /** Gets the durations of turns; absent where they are not read. */
  readonly turnWatch?: TurnWatch;
  /** In a cluster: where the other nodes find the files of a realm. */
  readonly sharedFilesOf?: (realmId: number) => SharedFiles;
  /** Whether this process serves a realm; by default all of them. */
  readonly isServed?: (id: number) => boolean;
  /** A realm was opened; connects it to what serves it. */
  readonly onOpen: (realm: Realm, entry: RealmEntry) => void;
  /** An idle realm is about to be closed. It may be opened again. */
  readonly onClose?: (realm: Realm, entry: RealmEntry) => void;
}

export { realmFolder };

/** The organization is being erased, or was. */
export class RealmWithdrawn extends Error {
  override readonly name = "RealmWithdrawn";
}

export class RealmHost {
  readonly #options: RealmHostOptions;
  readonly #pageChecks: PageChecks;
  readonly #open = new Map<number, Realm>();
  #entries: RealmEntry[] = [];
  #names = new RealmNames<RealmEntry>([]);
  /**
   * Most requests have the same host as the one before. Caches its realm, unless the result depends on the current list
   * of realms.
   */
  #last: { readonly hostHeader: string; readonly realm: Realm } | null = null;
  /** The root's revision from which `#entries` was read. */
  #revision = 0;
  #cancelDue: () => void = () => undefined;
  #cancelIdleCheck: () => void = () => undefined;
  /** Cancel functions of organizations that were opened on trust. */
  readonly #cancelTrust = new Map<number, () => void>();
  /** Handles of idle realms that are being released. */
  readonly #closing = new Set<Promise<void>>();
  /** Damage is remembered until the server stops, so the file is not checked again for each request. */
  readonly #damaged = new Map<number, DamagedData>();
  /** Not everything that was due at the start is open yet. */
  #isStarting = true;
  /** When one that could not be opened is tried again without a request. */
  readonly #retryAt = new Map<number, number>();
  readonly #served = new ServedDueTimes();
  /** Organizations that are being erased. */
  readonly #withdrawn = new Set<number>();

  constructor(options: RealmHostOptions) {
    this.#options = options;
    this.#pageChecks = options.pageChecks ?? new PageChecks(options.dataDir);
    this.#list();
    this.#checkIdleLater(limits.realm_idle_check_ms);
  }

  #list(): void {
    this.#revision = this.#options.root.revision();
    this.#last = null;
    this.#entries = this.#options.root.realms().filter(({ id }) => !this.#withdrawn.has(id));
    this.#names = new RealmNames(this.#entries);
  }

  /**
   * Matches the exact host, then the first label of a name; everything else is the default realm (D4).
   * @param hostHeader may have a port
   */
  realmOf(hostHeader: string): Realm {
    if (hostHeader === this.#last?.hostHeader) return this.#last.realm;
    const host = hostOf(hostHeader);
    const entry = this.#find(host);
    if (entry === undefined) throw new Error("the data folder has no realm");
    const realm = this.#open.get(entry.id) ?? this.open(entry);
    // Any other name may be an exact host in the next list, so it is not cached.
    if (this.#names.hasHost(host) || !isName(host)) this.#last = { hostHeader, realm };
    return realm;
  }

  #find(host: string): RealmEntry | undefined {
    const mayBeNew = isName(host) && !this.#names.hasHost(host);
    if (mayBeNew && this.#options.root.revision() !== this.#revision) this.#list();
    return this.#names.find(host);
  }

  /**
   * While a realm is open its hint says "at once", so a start after a crash opens it, whatever work it has (M8). The
   * hint is written first; on a full disk, where the realm is open for reads only, before it writes.
   * @param isWaitedFor a request waits for it
   */
  open(entry: RealmEntry, isWaitedFor = true): Realm {
    if (this.#withdrawn.has(entry.id)) throw new RealmWithdrawn(`organization ${entry.label} is being erased`);
    const damaged = this.#damaged.get(entry.id);
    if (damaged !== undefined) throw damaged;
    if (!this.#isServed(entry)) throw new RealmElsewhere(`Realm ${entry.id} is served by another node.`);
    try {
      return this.#openWhole(entry, isWaitedFor);
    } catch (error) {
      const damage = damageIn(error);
      if (damage !== null) this.#damaged.set(entry.id, damage);
      throw error;
    }
  }

  #openWhole(entry: RealmEntry, isWaitedFor: boolean): Realm {
    requireData(this.#options.dataDir, entry.id);
    const folder = realmFolder(this.#options.dataDir, entry.id);
    this.#pageChecks.check(entry, isWaitedFor);
    const acceptsWrites = () => this.#options.acceptsWrites() && this.#hasHint(entry);
    if (this.#options.acceptsWrites()) this.#noteOpening(entry);
    const { alarm } = this.#options;
    const name = entry.label === "" ? "the default organization" : `organization ${entry.label}`;
    const realm = new Realm({
      id: entry.id,
      folder,
      extent: "none",
      durability: this.#options.durability,
      clock: this.#options.clock,
      alarm: { ...alarm, warn: (line) => alarm.warn(`${name}: ${line}`) },
      acceptsWrites,
      owner: this.#options.owner ?? null,
      ...(this.#options.turnWatch === undefined ? {} : { turnWatch: this.#options.turnWatch }),
      ...(this.#options.sharedFilesOf === undefined ? {} : { sharedFiles: this.#options.sharedFilesOf(entry.id) }),
    });
    if (acceptsWrites()) keepIdentity(realm.lmdb, entry);
    this.#open.set(entry.id, realm);
    this.#served.forget(entry.id);
    this.#options.onOpen(realm, entry);
    return realm;
  }

  /**
   * Opens realms with due work and, at a start, the default realm; schedules itself for the next due time, so that
   * timers fire (M8). After a crash hundreds may be due: they are opened in slices, and requests are served in between.
   * A realm that cannot be opened is tried again later, when the disk may have space or the process file descriptors.
   */
  openDue(): void {
    this.#cancelDue();
    const { clock } = this.#options;
    const now = clock.now();
    const sliceEnd = clock.monotonic() + limits.realms_opened_ms;
    let next = Number.POSITIVE_INFINITY;
    this.#entries.forEach((entry, index) => {
      if (this.#open.has(entry.id) || !this.#isServed(entry)) return;
      const isDefault = index === 0 && this.#isStarting;
      const dueAt = isDefault ? 0 : this.#dueAt(entry);
      if (dueAt > now) next = Math.min(next, dueAt);
      else if (isDefault) this.open(entry, false);
      else if (clock.monotonic() >= sliceEnd) next = now;
      else if (!this.#openAlone(entry)) {
        this.#retryAt.set(entry.id, now + limits.timer_sleep_ms_max);
        next = Math.min(next, now + limits.timer_sleep_ms_max);
      }
    });
    if (next > now) this.#isStarting = false;
    if (next === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(next - now, limits.timer_sleep_ms_max);
    this.#cancelDue = clock.after(Math.max(delay, limits.realms_opened_pause_ms), () => this.openDue());
  }

  #isServed({ id }: RealmEntry): boolean {
    return this.#options.isServed?.(id) ?? true;
  }

  #dueAt({ id, dueHint }: RealmEntry): number {
    return Math.max(this.#served.of(id, dueHint) ?? Number.POSITIVE_INFINITY, this.#retryAt.get(id) ?? 0);
  }

  /**
   * Realms share nothing: a damaged or too new realm does not keep the others from serving.
   * @returns whether the realm is open
   */
  #openAlone(entry: RealmEntry): boolean {
    try {
      this.open(entry, !this.#isStarting);
      this.#retryAt.delete(entry.id);
      return true;
    } catch (error) {
      this.#options.alarm.bug(error, null);
      return false;
    }
  }

  /** In the order of their ids, with those that were created a moment ago. */
  listed(): readonly RealmEntry[] {
    if (this.#options.root.revision() !== this.#revision) this.#list();
    return this.#entries;
  }

  /** null: it is closed. */
  openRealm({ id }: RealmEntry): Realm | null {
    return this.#open.get(id) ?? null;
  }

  get openRealms(): Iterable<Realm> {
    return this.#open.values();
  }

  /** All realms, with the open ones. */
  get all(): readonly { readonly entry: RealmEntry; readonly realm: Realm | null }[] {
    return this.#entries.map((entry) => ({ entry, realm: this.#open.get(entry.id) ?? null }));
  }

  #checkIdleLater(delay: number): void {
    if ((this.#options.idleMs ?? null) === null) return;
    this.#cancelIdleCheck = this.#options.clock.after(delay, () => this.#closeOneIdle());
  }

  /** One at a time with a pause, because the hint of each needs a flush. */
  #closeOneIdle(): void {
    const { idleMs, acceptsWrites } = this.#options;
    const isIdle = ({ id }: RealmEntry) => this.#open.get(id)?.isIdle(idleMs ?? 0) === true;
    const idle = acceptsWrites() ? this.#entries.find(isIdle) : undefined;
    try {
      if (idle !== undefined) this.#closeIdle(idle);
    } finally {
      this.#checkIdleLater(idle === undefined ? limits.realm_idle_check_ms : limits.realm_close_pause_ms);
    }
  }

  /** The hint is stored first: if the process dies in between, the realm had nothing to do before that time. */
  #closeIdle(entry: RealmEntry): void {
    const realm = this.#open.get(entry.id);
    if (realm === undefined) return;
    this.#setHint(entry, realm.dispatcher.nextDueAt);
    this.#options.onClose?.(realm, entry);
    this.#open.delete(entry.id);
    this.#pageChecks.forget(entry);
    if (this.#last?.realm === realm) this.#last = null;
    void this.#closed(realm.closeIdle());
    this.openDue();
  }

  /** A stop waits for it. */
  #closed(closing: Promise<unknown>): Promise<void> {
    const closed = closing.then(
      () => undefined,
      (error: unknown) => this.#options.alarm.bug(error, null),
    );
    this.#closing.add(closed);
    return closed.finally(() => this.#closing.delete(closed));
  }

  /**
   * Closes an organization that is to be erased: requests cannot find it until it is given back.
   * @returns false if it cannot be closed now: somebody uses it, or its last turns cannot reach its store
   */
  async withdraw(entry: RealmEntry): Promise<boolean> {
    this.#withdrawn.add(entry.id);
    this.#list();
    if (await this.#closeUnused(entry)) return true;
    this.giveBack(entry);
    return false;
  }

  /** It was not erased. */
  giveBack({ id }: RealmEntry): void {
    this.#withdrawn.delete(id);
    this.#list();
    this.openDue();
  }

  async #closeUnused(entry: RealmEntry): Promise<boolean> {
    const { clock, acceptsWrites, onClose } = this.#options;
    const until = clock.monotonic() + limits.realm_withdrawal_ms_max;
    while (this.#open.get(entry.id)?.use.isUsed === true && clock.monotonic() < until) {
      await new Promise<void>((resume) => void clock.after(limits.realm_withdrawal_check_ms, resume));
    }
    await Promise.all(this.#closing);
    const realm = this.#open.get(entry.id);
    if (realm === undefined) return true;
    if (realm.use.isUsed || (!realm.isStored && !acceptsWrites())) return false;
    onClose?.(realm, entry);
    this.#open.delete(entry.id);
    this.#cancelTrust.get(entry.id)?.();
    this.#pageChecks.forget(entry);
    await this.#closed(realm.close());
    return true;
  }

  /**
   * From now on this process serves a realm that others had. It is opened when it is used or due; a large one at once.
   */
  serve(id: number): void {
    this.#list();
    const entry = this.#entries.find((one) => one.id === id);
    if (entry === undefined || this.#open.has(id)) return;
    const mayWait = entry !== this.#entries[0] && this.#served.read(id, realmFolder(this.#options.dataDir, id));
    if (mayWait) this.openDue();
    else this.open(entry, false);
  }

  /** Another process serves a realm from now on, whatever it has to do. Resolves when everything of it is closed. */
  async release(id: number): Promise<void> {
    this.#served.forget(id);
    const realm = this.#open.get(id);
    this.#open.delete(id);
    if (this.#last?.realm === realm) this.#last = null;
    this.#cancelTrust.get(id)?.();
    await Promise.all([...this.#closing, realm?.close()]);
  }

  /** Whether the hint of an open realm is stored, now or before. */
  #hasHint(entry: RealmEntry): boolean {
    if (entry.dueHint === 0) return true;
    try {
      this.#setHint(entry, 0);
      return true;
    } catch (error) {
      this.#options.alarm.bug(error, null);
      return false;
    }
  }

  #setHint(entry: RealmEntry, dueHint: number | null): void {
    this.#options.root.putRealms([{ ...entry, dueHint }]);
    entry.dueHint = dueHint;
  }

  /** Its file has passed the check. If that cannot be noted, the next start repeats the check. */
  #noteOpening(entry: RealmEntry): void {
    const isTrusted = this.#pageChecks.isTrusted(entry);
    if (isTrusted) this.#noteTrustedLater(entry);
    const openedAs = isTrusted ? null : this.#pageChecks.markOf(entry);
    if (entry.dueHint === 0 && entry.openedAs === openedAs) return;
    const { dueHint } = entry;
    entry.openedAs = openedAs;
    try {
      this.#setHint(entry, 0);
    } catch (error) {
      if (dueHint !== 0) throw error;
      this.#options.alarm.bug(error, null);
    }
  }

  /** Its file was opened on trust: that is noted once no damage has ended the process for a while. */
  #noteTrustedLater(entry: RealmEntry): void {
    const note = () => {
      this.#cancelTrust.delete(entry.id);
      if (!this.#open.has(entry.id) || !this.#options.acceptsWrites()) return;
      entry.openedAs = this.#pageChecks.markOf(entry);
      this.#setHint(entry, 0);
    };
    this.#cancelTrust.get(entry.id)?.();
    this.#cancelTrust.set(entry.id, this.#options.clock.after(limits.store_trusted_ms, note));
  }

  /** Closes every realm and stores hints of the next due work. */
  async close(): Promise<void> {
    this.#cancelDue();
    this.#cancelIdleCheck();
    for (const cancel of this.#cancelTrust.values()) cancel();
    await Promise.all(this.#closing);
    const closed: RealmEntry[] = [];
    for (const entry of this.#entries) {
      const realm = this.#open.get(entry.id);
      if (realm !== undefined) closed.push({ ...entry, dueHint: await realm.close() });
    }
    this.#options.root.putRealms(closed);
  }
}
