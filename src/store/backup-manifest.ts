/**
 * The contents of a backup: `manifest.json`, written last. It says what a restore revives, and has the hash of each
 * file, so that a copy of the backup can be verified years later. A backup without one is not finished.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { programVersion } from "../../schemas/server.ts";
import { filesFolder, listFiles } from "./files.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { formatMark, requireMark, storeVersion } from "./migrations.ts";
import { realmFolder } from "./realm-folders.ts";
import type { RealmEntry } from "./root.ts";

export interface RealmSummary {
  readonly id: number;
  readonly label: string;
  readonly name: string;
  readonly users: number;
  readonly messages: number;
  /** When the newest message was sent; null: there is none. */
  readonly newestMessageAt: string | null;
  readonly files: number;
}

interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupManifest {
  /** See migrations.ts. */
  readonly format: string;
  readonly programVersion: string;
  readonly storeVersion: number;
  readonly createdAt: string;
  readonly realms: readonly RealmSummary[];
  readonly files: readonly ManifestFile[];
}

const manifestName = "manifest.json";

/** LMDB creates them when the copy is opened; they are no part of it. */
const ignored = new Set([manifestName, "lock.mdb", "lock"]);

/** @param now when the backup began */
export async function writeManifest(
  folder: string,
  entries: readonly RealmEntry[],
  now: number,
): Promise<BackupManifest> {
  const files: ManifestFile[] = [];
  for (const path of await pathsIn(folder)) files.push(await described(folder, path));
  const manifest = {
    format: formatMark,
    programVersion,
    storeVersion,
    createdAt: new Date(now).toISOString(),
    realms: await summaries(folder, entries),
    files,
  };
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600, flag: "wx" });
  return manifest;
}

/** The figures of the organizations of a data folder; no process writes to it. */
export async function summaries(folder: string, entries: readonly RealmEntry[]): Promise<RealmSummary[]> {
  const found: RealmSummary[] = [];
  for (const entry of entries) {
    const realm = realmFolder(folder, entry.id);
    const lmdb = openLmdb(realm);
    try {
      found.push({ ...summaryOf(lmdb, entry), files: (await listFiles(filesFolder(realm))).length });
    } finally {
      await lmdb.close();
    }
  }
  return found;
}

function summaryOf(lmdb: Lmdb, { id, label }: RealmEntry): Omit<RealmSummary, "files"> {
  const [newest] = lmdb.rows("messages", { reverse: true, limit: 1 });
  return {
    id,
    label,
    name: lmdb.get("realm", "realm")?.name ?? "",
    users: lmdb.count("users"),
    messages: lmdb.count("messages"),
    newestMessageAt: newest === undefined ? null : new Date(newest.row.sentAt).toISOString(),
  };
}

/** A data folder has none. */
export function removeManifest(folder: string): void {
  rmSync(join(folder, manifestName), { force: true });
}

/**
 * @returns null if the backup has none
 * @throws Error when it is damaged; UnknownFormat
 */
export function readManifest(folder: string): BackupManifest | null {
  const path = join(folder, manifestName);
  if (!existsSync(path)) return null;
  const manifest = parsed(readFileSync(path, "utf8"));
  if (manifest === null || !Array.isArray(manifest.files) || !Array.isArray(manifest.realms)) {
    throw new Error(`${path} is damaged: use another backup`);
  }
  requireMark(folder, manifest.format);
  return manifest as BackupManifest;
}

function parsed(text: string): Partial<BackupManifest> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/**
 * Compares every file with the manifest.
 * @param step called after each
 * @returns one line for each difference
 */
export async function verifyFiles(
  folder: string,
  { files }: BackupManifest,
  step: () => void = () => undefined,
): Promise<string[]> {
  const problems: string[] = [];
  const expected = new Set(files.map(({ path }) => path));
  const present = new Set(await pathsIn(folder));
  for (const path of present) if (!expected.has(path)) problems.push(`${path} is not in the manifest`);
  for (const { path, bytes, sha256 } of files) {
    // The manifest may name anything: only what was found in the folder is read.
    const found = !present.has(path)
      ? "ENOENT"
      : await described(folder, path).catch((error: NodeJS.ErrnoException) => error.code ?? "unreadable");
    if (typeof found === "string") problems.push(`${path} cannot be read: ${found}`);
    else if (found.bytes !== bytes || found.sha256 !== sha256) problems.push(`${path} differs from the manifest`);
    step();
  }
  return problems;
}

async function described(folder: string, path: string): Promise<ManifestFile> {
  const hash = createHash("sha256");
  const full = join(folder, path);
  const { size } = await stat(full);
  for await (const chunk of createReadStream(full)) hash.update(chunk as Buffer);
  return { path, bytes: size, sha256: hash.digest("base64url") };
}

/** In a fixed order. */
async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !ignored.has(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** One line for each organization, and one for what they hold together. */
export function summaryLines(realms: readonly RealmSummary[]): string[] {
  const sum = (of: (realm: RealmSummary) => number) => realms.reduce((total, realm) => total + of(realm), 0);
  const holds = (users: number, messages: number, files: number) =>
    `${users} users, ${messages} messages, ${files} files`;
  const newest = realms
    .flatMap(({ newestMessageAt }) => newestMessageAt ?? [])
    .toSorted()
    .at(-1);
  const each = realms.map(({ label, name, users, messages, files, newestMessageAt }) => {
    const upTo = newestMessageAt === null ? "" : `, up to ${newestMessageAt}`;
    return `organization ${label === "" ? "(first)" : label} (${name}): ${holds(users, messages, files)}${upTo}`;
  });
  const total = holds(
    sum(({ users }) => users),
    sum(({ messages }) => messages),
    sum(({ files }) => files),
  );
  return [
    ...each,
    `together ${realms.length} organizations: ${total}${newest === undefined ? "" : `, up to ${newest}`}`,
  ];
}
