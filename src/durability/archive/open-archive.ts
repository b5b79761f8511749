/** Opens the archive of a data folder, if the configuration names one. */
import { resolve } from "node:path";
import { archiveLimits as limits } from "../../../schemas/limits/archive.ts";
import type { RealmIdentity } from "../../store/realm-identity.ts";
import { journalFolder } from "../journal/apply-journal.ts";
import type { ArchivePorts } from "../journal/open-durability.ts";
import { Archiver, type ArchiverOptions } from "./archiver.ts";
import { breakChain } from "./base-chain.ts";
import type { ErasedNote } from "./layout.ts";

export interface ArchiveConfig {
  readonly archiveDir: string | null;
  readonly archiveDays: number | null;
  readonly archiveBaseHours: number;
}

export interface ArchiveTools extends Pick<ArchiverOptions, "clock" | "hasSpace" | "log"> {
  readonly dataDir: string;
  readonly root: {
    realms(): readonly RealmIdentity[];
    erased(): readonly ErasedNote[];
    onErased(listener: () => void): void;
    revision(): number;
  };
}

/** @returns null without an archive; one that an earlier start had does not continue then */
export function archivePorts(config: ArchiveConfig, { dataDir, root, ...tools }: ArchiveTools): ArchivePorts | null {
  if (config.archiveDir === null) {
    breakChain(dataDir);
    return null;
  }
  const archive = resolve(config.archiveDir);
  return {
    keepsApplied: (bytes) => bytes <= limits.archive_backlog_bytes_max && tools.hasSpace(),
    open: (durable, waitingBytes) =>
      new Archiver({
        ...tools,
        archive,
        dataDir,
        journal: journalFolder(dataDir),
        keptDays: config.archiveDays,
        baseHours: config.archiveBaseHours,
        durable,
        waitingBytes,
        realms: () => root.realms(),
        erased: () => root.erased(),
        onErased: (listener) => root.onErased(listener),
        revision: () => root.revision(),
      }),
  };
}
