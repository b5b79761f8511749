/**
 * The state of an archive that its data folder keeps in `archive.json`. The archive continues where it ended only if
 * nothing but the journal has changed the stores since then. Tools that write to them break the chain, and so do a gap
 * in the journal, a newer form of the stores, and another process that has written the archive: the archive then begins
 * a generation, with new bases.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { archiveNoteFile as fileName } from "../../store/data-file.ts";
import { storeVersion } from "../../store/migrations.ts";
import { namesIn, publishJson, readJson } from "./layout.ts";

export interface BaseChain {
  /** The id of the data folder. An archive belongs to one. */
  readonly id: string;
  /** The last owner of the archive that this folder has been. */
  readonly owner: number;
  /** The generation that continues; null: none does. */
  readonly generation: number | null;
  readonly storeVersion: number;
}

/** A new one if the folder has none. */
export function readChain(dataDir: string): BaseChain {
  const chain = readJson(join(dataDir, fileName)) as BaseChain | undefined;
  return chain ?? { id: randomBytes(16).toString("hex"), owner: 0, generation: null, storeVersion };
}

export function writeChain(dataDir: string, chain: BaseChain): void {
  for (const name of namesIn(dataDir)) {
    const isDraft = name.startsWith(`${fileName}.`) && name.endsWith(".draft");
    if (isDraft) rmSync(join(dataDir, name), { force: true });
  }
  publishJson(join(dataDir, fileName), chain);
}

/** The stores change, or the journal forgets, without the archive. */
export function breakChain(dataDir: string): void {
  const chain = readChain(dataDir);
  if (chain.generation !== null) writeChain(dataDir, { ...chain, generation: null });
}
