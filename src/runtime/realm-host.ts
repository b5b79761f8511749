/**
 * The realms of a data folder: which host names which (D4), opened when first asked for. Realms that another program adds
 * (cli create-realm) are found when an unknown name is asked for.
 */
import { statSync } from "node:fs";
import { limits } from "../../schemas/limits.ts";
import { type DamagedData, damageIn } from "../store/damage.ts";
import { dataFile } from "../store/data-file.ts";
import type { Extent } from "../store/lmdb-check.ts";
import { requireData } from "../store/open-data-folder.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { keepIdentity } from "../store/realm-identity.ts";
import type { RealmEntry, RootStore } from "../store/root.ts";
import type { Clock } from "./clock.ts";
import type { Alarm } from "./dispatcher.ts";
import { Realm } from "./realm.ts";

export interface RealmHostOptions {
  readonly dataDir: string;
  readonly root: Pick<RootStore, "realms" | "putRealm" | "revision">;
  /** Who may write (fence.ts); null: nobody else can be there, as in tests. */
  readonly owner?: string | null;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly acceptsWrites: () => boolean;
  /** A realm was opened: wire what serves it. */
  readonly onOpen: (realm: Realm, entry: RealmEntry) => void;
}

export { realmFolder };

export class RealmHost {
  readonly #options: RealmHostOptions;
  readonly #open = new Map<number, Realm>();
  #entries: RealmEntry[] = [];
  #byLabel = new Map<string, RealmEntry>();
  #byHost = new Map<string, RealmEntry>();
  /** Most requests name the same host as the one before: its realm, where that does not depend on a look at the list. */
  #last: { readonly hostHeader: string; readonly realm: Realm } | null = null;
  /** Which list of the root `#entries` is. */
  #revision = 0;
  #cancelDue: () => void = () => undefined;
  /** Damage stays until the server is stopped: the file is not looked at anew for each request. */
  readonly #damaged = new Map<number, DamagedData>();
  /** Nobody waits for an answer yet. */
  #isStarting = true;

  constructor(options: RealmHostOptions) {
    this.#options = options;
    this.#list();
  }

  #list(): void {
    this.#revision = this.#options.root.revision();
    this.#last = null;
    this.#entries = this.#options.root.realms();
    this.#byLabel = new Map(this.#entries.filter(({ label }) => label !== "").map((entry) => [entry.label, entry]));
    this.#byHost = new Map(this.#entries.flatMap((entry) => entry.hosts.map((host) => [host, entry] as const)));
  }

  /** Exact host, then first label of a name; everything else is the default realm (D4). @param hostHeader may carry a port */
  realmOf(hostHeader: string): Realm {
    if (hostHeader === this.#last?.hostHeader) return this.#last.realm;
    // A dot at the end says that the name is complete; it is the same name.
    const host = hostHeader.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
    const found = this.#find(host);
    const entry = found ?? this.#entries[0];
    if (entry === undefined) throw new Error("the data folder has no realm");
    const realm = this.#open.get(entry.id) ?? this.open(entry);
    // Any other name may be an exact host in the next list.
    if (this.#byHost.has(host) || !isName(host)) this.#last = { hostHeader, realm };
    return realm;
  }

  #find(host: string): RealmEntry | undefined {
    const exact = this.#byHost.get(host);
    if (exact !== undefined) return exact;
    if (!isName(host)) return undefined;
    if (this.#options.root.revision() !== this.#revision) this.#list();
    const label = host.includes(".") ? host.slice(0, host.indexOf(".")) : "";
    return this.#byHost.get(host) ?? this.#byLabel.get(label);
  }

  /**
   * While it is open, its hint says "at once": after a crash it is opened at the next start, whatever waits in it (M8). The hint is
   * written first: where there is no room for it, nothing is open by half, and whoever asks next tries again.
   */
  open(entry: RealmEntry): Realm {
    const damaged = this.#damaged.get(entry.id);
    if (damaged !== undefined) throw damaged;
    try {
      return this.#openWhole(entry);
    } catch (error) {
      const damage = damageIn(error);
      if (damage !== null) this.#damaged.set(entry.id, damage);
      throw error;
    }
  }

  #openWhole(entry: RealmEntry): Realm {
    requireData(this.#options.dataDir, entry.id);
    const folder = realmFolder(this.#options.dataDir, entry.id);
    // It was not closed, or has work: in both cases nobody waits for it, and a crash may have had a cause.
    const extent = this.#isStarting ? extentAtStart(folder, entry.dueHint === 0) : "skeleton";
    if (entry.dueHint !== 0) this.#options.root.putRealm({ ...entry, dueHint: 0 });
    const { alarm } = this.#options;
    const name = entry.label === "" ? "the default organization" : `organization ${entry.label}`;
    const realm = new Realm({
      folder,
      extent,
      clock: this.#options.clock,
      alarm: { ...alarm, warn: (line) => alarm.warn(`${name}: ${line}`) },
      acceptsWrites: this.#options.acceptsWrites,
      owner: this.#options.owner ?? null,
    });
    if (this.#options.acceptsWrites()) keepIdentity(realm.environment, entry);
    this.#open.set(entry.id, realm);
    this.#options.onOpen(realm, entry);
    return realm;
  }

  /**
   * Opens the default realm and those with something due, and looks again when the next is: so that timers fire (M8). One that
   * could not be opened may be later: a full disk has room again, a process without descriptors gets some.
   */
  openDue(): void {
    const now = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    this.#entries.forEach((entry, index) => {
      if (this.#open.has(entry.id)) return;
      const dueAt = index === 0 ? 0 : (entry.dueHint ?? Number.POSITIVE_INFINITY);
      if (dueAt > now) next = Math.min(next, dueAt);
      else if (index === 0) this.open(entry);
      else if (!this.#openAlone(entry)) next = Math.min(next, now + limits.timer_sleep_ms_max);
    });
    this.#isStarting = false;
    if (next === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(next - now, limits.timer_sleep_ms_max);
    this.#cancelDue = this.#options.clock.after(delay, () => this.openDue());
  }

  /** Realms share nothing: one that is damaged or newer keeps none of the others from serving. @returns whether it is open */
  #openAlone(entry: RealmEntry): boolean {
    try {
      this.open(entry);
      return true;
    } catch (error) {
      this.#options.alarm.bug(error, null);
      return false;
    }
  }

  get openRealms(): Iterable<Realm> {
    return this.#open.values();
  }

  /** Closes every realm and leaves hints of what is due. */
  async close(): Promise<void> {
    this.#cancelDue();
    for (const entry of this.#entries) {
      const realm = this.#open.get(entry.id);
      if (realm === undefined) continue;
      const dueHint = await realm.close();
      this.#options.root.putRealm({ ...entry, dueHint });
    }
  }
}

/** What can be in the list of realms as more than an exact host: no address. */
function isName(host: string): boolean {
  return /^[a-z0-9.-]+$/.test(host) && !/^[\d.]+$/.test(host);
}

/** A large file is read in whole only where there may be a reason: 100,000 pages take about a second. */
function extentAtStart(folder: string, mayHaveCrashed: boolean): Extent {
  if (mayHaveCrashed) return "whole";
  const file = statSync(dataFile(folder), { throwIfNoEntry: false });
  return (file?.size ?? 0) <= limits.store_checked_at_start_bytes_max ? "whole" : "skeleton";
}
