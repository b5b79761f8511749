/**
 * The realms of a data folder: which host names which (D4), opened when first asked for. Realms that another program adds
 * (cli create-realm) are found when an unknown name is asked for.
 */
import { limits } from "../../schemas/limits.ts";
import { requireData } from "../store/open-data-folder.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { keepIdentity } from "../store/realm-identity.ts";
import type { RealmEntry, RootStore } from "../store/root.ts";
import type { Clock } from "./clock.ts";
import type { Alarm } from "./dispatcher.ts";
import { Realm } from "./realm.ts";

export interface RealmHostOptions {
  readonly dataDir: string;
  readonly root: Pick<RootStore, "realms" | "putRealm">;
  /** Who may write (fence.ts); null: nobody else can be there, as in tests. */
  readonly owner?: string | null;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly acceptsWrites: () => boolean;
  /** A realm was opened: wire what serves it. */
  readonly onOpen: (realm: Realm, entry: RealmEntry) => void;
}

export { realmFolder };

/** How long the list of realms is believed when a name is not in it. */
const relistMs = 1000;

export class RealmHost {
  readonly #options: RealmHostOptions;
  readonly #open = new Map<number, Realm>();
  #entries: RealmEntry[] = [];
  #byLabel = new Map<string, RealmEntry>();
  #byHost = new Map<string, RealmEntry>();
  /** Most requests name the same host as the one before: its realm, where that does not depend on a look at the list. */
  #last: { readonly hostHeader: string; readonly realm: Realm } | null = null;
  #listedAt = Number.NEGATIVE_INFINITY;
  #cancelDue: () => void = () => undefined;

  constructor(options: RealmHostOptions) {
    this.#options = options;
    this.#list();
  }

  #list(): void {
    this.#listedAt = this.#options.clock.monotonic();
    this.#last = null;
    this.#entries = this.#options.root.realms();
    this.#byLabel = new Map(this.#entries.filter(({ label }) => label !== "").map((entry) => [entry.label, entry]));
    this.#byHost = new Map(this.#entries.flatMap((entry) => entry.hosts.map((host) => [host, entry] as const)));
  }

  /** Exact host, then first label of a name; everything else is the default realm (D4). @param hostHeader may carry a port */
  realmOf(hostHeader: string): Realm {
    if (hostHeader === this.#last?.hostHeader) return this.#last.realm;
    const host = hostHeader.toLowerCase().replace(/:\d+$/, "");
    const found = this.#find(host);
    const entry = found ?? this.#entries[0];
    if (entry === undefined) throw new Error("the data folder has no realm");
    const realm = this.#open.get(entry.id) ?? this.open(entry);
    // A name that is not in the list may be found in the next one.
    if (found !== undefined || !isName(host)) this.#last = { hostHeader, realm };
    return realm;
  }

  #find(host: string): RealmEntry | undefined {
    const exact = this.#byHost.get(host);
    if (exact !== undefined) return exact;
    if (!isName(host)) return undefined;
    const label = host.includes(".") ? host.slice(0, host.indexOf(".")) : "";
    const known = this.#byLabel.get(label);
    if (known !== undefined || this.#options.clock.monotonic() - this.#listedAt < relistMs) return known;
    this.#list();
    return this.#byHost.get(host) ?? this.#byLabel.get(label);
  }

  /**
   * While it is open, its hint says "at once": after a crash it is opened at the next start, whatever waits in it (M8). The hint is
   * written first: where there is no room for it, nothing is open by half, and whoever asks next tries again.
   */
  open(entry: RealmEntry): Realm {
    requireData(this.#options.dataDir, entry.id);
    if (entry.dueHint !== 0) this.#options.root.putRealm({ ...entry, dueHint: 0 });
    const realm = new Realm({
      folder: realmFolder(this.#options.dataDir, entry.id),
      clock: this.#options.clock,
      alarm: this.#options.alarm,
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
