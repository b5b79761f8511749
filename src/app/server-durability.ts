/** What makes the turns of a server durable, and copies them to the archive. */
import { archivePorts } from "../durability/archive/open-archive.ts";
import type { ClusterDurability } from "../durability/cluster/cluster-durability.ts";
import type { Member } from "../durability/cluster/member.ts";
import type { Durability } from "../durability/journal/durability.ts";
import { type OpenDurabilityOptions, openDurability } from "../durability/journal/open-durability.ts";
import type { Log } from "../log/log.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { guardedClock } from "../runtime/guarded-clock.ts";
import type { DiskSpace } from "../store/disk-space.ts";
import type { PageChecks } from "../store/page-checks.ts";
import type { RootStore } from "../store/root.ts";
import type { Config } from "./config.ts";

export interface DurabilityTools extends Pick<OpenDurabilityOptions, "fatal" | "reportBug" | "flushTimes"> {
  readonly dataDir: string;
  readonly root: RootStore;
  readonly clock: Clock;
  readonly space: DiskSpace;
  readonly pageChecks: PageChecks;
  readonly log: Log;
}

/** The journal is in files of this machine. */
export function localDurability(
  config: Config,
  { root, space, pageChecks, log, ...tools }: DurabilityTools,
): Promise<Durability> {
  const { clock, hasSpace } = diskPorts(space, tools.clock, tools.reportBug);
  const archive = archivePorts(config, { dataDir: tools.dataDir, root, clock, hasSpace, log });
  const entries = new Map(root.realms().map((entry) => [entry.id, entry]));
  const checkStore = (id: number) => pageChecks.check(entries.get(id) ?? { id, dueHint: 0 }, false);
  const isErased = (id: number) => root.isErased(id);
  return openDurability({ ...tools, owner: root.token, archive, isErased, checkStore, clock, hasSpace });
}

/** The journals are in the streams of a cluster. */
export function clusterDurability(
  member: Member,
  { root, space, ...tools }: DurabilityTools,
): Promise<ClusterDurability> {
  return member.openDurability({ ...tools, ...diskPorts(space, tools.clock, tools.reportBug), owner: root.token });
}

function diskPorts(space: DiskSpace, { now }: Clock, report: (error: unknown) => void) {
  // Disks work in real time, whatever clock the realms have.
  return { clock: guardedClock({ ...systemClock, now: () => now() }, report), hasSpace: () => space.acceptsWrites() };
}
