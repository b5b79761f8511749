/**
 * Finds the realm that a Host header selects (D4): the exact host, then the first label of a name, else the default
 * realm.
 */

export interface NamedRealm {
  readonly id: number;
  /** First label of its host; "" for the default realm. */
  readonly label: string;
  readonly hosts: readonly string[];
}

export class RealmNames<Entry extends NamedRealm> {
  readonly #byLabel: ReadonlyMap<string, Entry>;
  readonly #byHost: ReadonlyMap<string, Entry>;
  readonly #default: Entry | undefined;

  /** @param entries in the order of their ids: the first one is the default realm */
  constructor(entries: readonly Entry[]) {
    this.#byLabel = new Map(entries.filter(({ label }) => label !== "").map((entry) => [entry.label, entry]));
    this.#byHost = new Map(entries.flatMap((entry) => entry.hosts.map((host) => [host, entry] as const)));
    this.#default = entries[0];
  }

  /** @param host without a port. @returns undefined if there is no realm at all */
  find(host: string): Entry | undefined {
    return this.#byHost.get(host) ?? this.#labelled(host) ?? this.#default;
  }

  /** Whether the host is one of a realm exactly. */
  hasHost(host: string): boolean {
    return this.#byHost.has(host);
  }

  #labelled(host: string): Entry | undefined {
    const label = isName(host) && host.includes(".") ? host.slice(0, host.indexOf(".")) : "";
    return label === "" ? undefined : this.#byLabel.get(label);
  }
}

/** @param hostHeader may have a port. A trailing dot marks a fully qualified name; it is the same name. */
export function hostOf(hostHeader: string): string {
  return hostHeader.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** Whether a host can match more than an exact entry of the list: it is a name and no address. */
export function isName(host: string): boolean {
  return /^[a-z0-9.-]+$/.test(host) && !/^[\d.]+$/.test(host);
}
