/** A data folder with two realms, and the host that opens them: the default one at once, the second when something is due. */
import { copyFileSync, mkdirSync } from "node:fs";
import type { Durability } from "../../src/durability/journal/durability.ts";
import { RealmHost, type RealmHostOptions, realmFolder } from "../../src/runtime/realm-host.ts";
import { RootStore } from "../../src/store/root.ts";
import type { ManualClock } from "./manual-clock.ts";
import { PromptDurability } from "./manual-durability.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export interface TwoRealms {
  readonly clock: ManualClock;
  /** Folders of the default and of the second realm, as a crash leaves them. */
  readonly folders: readonly [string, string];
  /** The due hint of the second realm in the root database. */
  readonly dueHint: number | null;
  /** Whether writes to the root database succeed; they do by default. */
  readonly takesHints?: () => boolean;
  readonly acceptsWrites?: () => boolean;
  readonly durability?: Durability;
}

/** `wired`: ids of realms, each time one is handed to its services. */
export function hostOfTwo(t: Teardown, options: TwoRealms) {
  const { clock, folders, dueHint, takesHints = () => true, acceptsWrites = () => true } = options;
  const { durability = new PromptDurability(clock) } = options;
  const dataDir = temporaryFolder(t);
  const root = RootStore.open(dataDir);
  t.teardown(() => root.close());
  for (const [index, folder] of folders.entries()) {
    const id = index + 1;
    mkdirSync(realmFolder(dataDir, id), { recursive: true });
    copyFileSync(`${folder}/data.mdb`, `${realmFolder(dataDir, id)}/data.mdb`);
    root.putRealm({ id, label: id === 1 ? "" : "two", hosts: [], createdAt: 0, dueHint: id === 1 ? null : dueHint });
  }
  const wired: number[] = [];
  const guarded: RealmHostOptions["root"] = {
    realms: () => root.realms(),
    revision: () => root.revision(),
    putRealms(entries) {
      if (!takesHints()) throw new Error("Input/output error");
      root.putRealms(entries);
    },
  };
  const onOpen = (_realm: unknown, { id }: { readonly id: number }) => void wired.push(id);
  const host = startHost({ dataDir, root: guarded, clock, acceptsWrites, durability, onOpen });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await host.close();
    isClosed = true;
  };
  t.teardown(close);
  return { host, root, close, dataDir, wired };
}

/** A host that has opened what is due. A bug is not reported. */
export function startHost(
  given: Partial<RealmHostOptions> & Pick<RealmHostOptions, "dataDir" | "root"> & { readonly clock: ManualClock },
): RealmHost {
  const host = new RealmHost({
    alarm: {
      bug: () => undefined,
      fatal: (error) => {
        throw error;
      },
      warn: () => undefined,
    },
    acceptsWrites: () => true,
    durability: new PromptDurability(given.clock),
    onOpen: () => undefined,
    ...given,
  });
  host.openDue();
  return host;
}

export function openFolders(host: RealmHost): number {
  return [...host.openRealms].length;
}
