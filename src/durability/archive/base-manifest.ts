/**
 * A base of an archive: copies of the stores of some organizations, or of all. Each copy holds all records up to `from`
 * and none after `upTo`, so a restore to a time at or after `at` starts from it. The manifest is written last: a base
 * without one does not exist.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32c } from "@node-rs/crc32";
import type { RealmIdentity } from "../../store/realm-identity.ts";
import type { RecordNumber } from "../journal/journal.ts";
import { baseFolder, listBases, publish } from "./layout.ts";
import { ArchiveDamaged } from "./record-reader.ts";

export interface BaseRealm extends RealmIdentity {
  readonly storeVersion: number;
  readonly bytes: number;
  /** CRC32C of the copy. */
  readonly checksum: number;
  /** The uploaded files that its rows claim. */
  readonly files: readonly string[];
}

export interface BaseManifest {
  readonly from: RecordNumber;
  readonly upTo: RecordNumber;
  readonly at: number;
  /** Whether it has every organization. */
  readonly isWhole: boolean;
  readonly realms: readonly BaseRealm[];
}

export interface Base extends BaseManifest {
  readonly generation: number;
  readonly number: number;
}

/** The facts about a base that the server keeps in memory. */
export interface BaseNote {
  readonly number: number;
  readonly at: number;
  readonly isWhole: boolean;
  readonly upTo: RecordNumber;
  readonly realms: readonly { readonly id: number; readonly storeVersion: number }[];
}

export function noteOf({ number, at, isWhole, upTo, realms }: Base): BaseNote {
  return { number, at, isWhole, upTo, realms: realms.map(({ id, storeVersion }) => ({ id, storeVersion })) };
}

export function manifestFile(folder: string): string {
  return join(folder, "manifest.json");
}

/** Two lines: the manifest and its checksum. */
export function writeManifest(folder: string, manifest: BaseManifest): void {
  const text = JSON.stringify(manifest);
  publish(manifestFile(folder), [Buffer.from(`${text}\n${crc32c(text)}\n`)]);
}

/**
 * @returns null if there is no such base
 * @throws ArchiveDamaged
 */
export function readBase(archive: string, generation: number, number: number): Base | null {
  const file = manifestFile(baseFolder(archive, generation, number));
  let lines: string[];
  try {
    lines = readFileSync(file, "utf8").split("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const [text = "", checksum = ""] = lines;
  if (String(crc32c(text)) !== checksum) throw new ArchiveDamaged(`${file} is damaged. Put the file back.`);
  const manifest = JSON.parse(text) as BaseManifest;
  if (!manifest.realms.every(({ id }) => Number.isSafeInteger(id) && id > 0)) {
    throw new ArchiveDamaged(`${file} names an organization that cannot be. Use another archive.`);
  }
  return { ...manifest, generation, number };
}

/** @throws ArchiveDamaged */
export function readBases(archive: string, generation: number): Base[] {
  return listBases(archive, generation).flatMap((number) => readBase(archive, generation, number) ?? []);
}

/** Damaged bases are left out: the server makes another one. */
export function readBaseNotes(archive: string, generation: number): BaseNote[] {
  return listBases(archive, generation).flatMap((number) => {
    try {
      const base = readBase(archive, generation, number);
      return base === null ? [] : [noteOf(base)];
    } catch (error) {
      if (error instanceof ArchiveDamaged) return [];
      throw error;
    }
  });
}
