/**
 * Backup, restore and check of a data folder. A restored folder gets new epochs, so that old queues are invalid (E1).
 */
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { copyFile, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { avatarFiles, emojiFiles, fileNameShape, realmPictureFile, uploadName } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import { type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import { writeManifest } from "./backup-manifest.ts";
import { dataFile } from "./data-file.ts";
import { type FileLock, type FileLockPorts, lockFiles } from "./file-hold.ts";
import { fileIn, filesFolder, listFiles } from "./files.ts";
import { flushFoldersTo } from "./folders.ts";
import { flushTreeGently } from "./gentle-flush.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { refuseWithoutHead } from "./migrations.ts";
import { realmFolder } from "./realm-folders.ts";
import { keepIdentity } from "./realm-identity.ts";
import type { RealmEntry, RootStore } from "./root.ts";

/** Holds back what the copies may still need, and completes them. */
export interface BackupPorts extends FileLockPorts {
  /** Keeps the journal from forgetting what the copies of the stores lack. */
  lockJournal(): Promise<FileLock>;
  /** Brings what the journal has into the copies of the stores in a folder. */
  applyRecords(target: string): Promise<void>;
  /** Called with the progress; absent where it is not shown. */
  readonly progress?: (done: number, total: number) => void;
}

/**
 * The root is copied first: realms are only added, so the copy names no realm whose folder is not copied after it. Then
 * the stores, then what the journal has beyond them: all realms are as they were at one moment. When this resolves, the
 * backup is flushed and verified, so an older backup can be deleted.
 * @returns problems of the copy, one line each
 */
export async function backupFolder(
  root: RootStore,
  dataDir: string,
  target: string,
  ports: BackupPorts,
): Promise<string[]> {
  mkdirSync(join(target, "root"), { recursive: true, mode: 0o700 });
  const startedAt = ports.now();
  const locks: FileLock[] = [];
  const step = stepsOf(ports, 3 * root.realms().length);
  try {
    locks.push(await ports.lockJournal());
    await root.backup(join(target, "root"));
    const realms = root.realms().map(({ id }) => ({ from: realmFolder(dataDir, id), to: realmFolder(target, id) }));
    for (const { from } of realms) locks.push(await lockFiles(from, ports));
    for (const { from, to } of realms) await copyStore(from, to, locks).then(step);
    await ports.applyRecords(target);
    for (const { from, to } of realms) await copyFiles(from, to, await referencedBy(to), locks).then(step);
  } finally {
    for (const lock of locks) await lock.release();
  }
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith("zuliprc"))) {
    copyFileSync(join(dataDir, name), join(target, name));
  }
  const problems = await checkRealms(root.realms(), target, { checked: step, leftOut: ports.warn });
  // A copy with problems gets no manifest, so it cannot be mistaken for a good one.
  if (problems.length === 0) await writeManifest(target, root.realms(), startedAt);
  // Created by the check; nothing else uses the copy.
  for (const { id } of root.realms()) rmSync(join(realmFolder(target, id), "lock.mdb"), { force: true });
  await flushTreeGently(target);
  flushFoldersTo(target);
  return problems;
}

/**
 * Checks a data folder whose server runs: the rows in copies of the stores, as they were at one moment, and the files
 * in place.
 * @param copies an empty folder, on a disk with space for the stores
 */
export async function checkDuringService(
  root: RootStore,
  dataDir: string,
  copies: string,
  ports: BackupPorts,
): Promise<string[]> {
  const realms = root.realms();
  const locks: FileLock[] = [];
  const step = stepsOf(ports, 2 * realms.length);
  try {
    locks.push(await ports.lockJournal());
    for (const { id } of realms) locks.push(await lockFiles(realmFolder(dataDir, id), ports));
    for (const { id } of realms) await copyStore(realmFolder(dataDir, id), realmFolder(copies, id), locks).then(step);
    await ports.applyRecords(copies);
    const beforeEach = () => renewed(locks);
    return await checkRealms(realms, copies, { filesDir: dataDir, beforeEach, checked: step });
  } finally {
    for (const lock of locks) await lock.release();
  }
}

/** @returns counts one more step of so many */
export function stepsOf({ progress }: Pick<BackupPorts, "progress">, total: number): () => void {
  let done = 0;
  return () => progress?.(Math.min(++done, total), total);
}

async function copyStore(folder: string, target: string, locks: readonly FileLock[]): Promise<void> {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const lmdb = openLmdb(folder);
  lmdb.clearDeadReaders();
  await lmdb.backup(target).finally(() => lmdb.close());
  await renewed(locks);
}

async function renewed(locks: readonly FileLock[]): Promise<void> {
  for (const lock of locks) await lock.renew();
}

async function referencedBy(folder: string): Promise<Map<string, string>> {
  const copy = openLmdb(folder, "all-pages");
  try {
    return referencedIn(copy);
  } finally {
    await copy.close();
  }
}

/**
 * The files that rows claim, each with a description of its owner. The server removes none of them meanwhile.
 * @param report called for a name that no file of the server has; it is left out, because it could lead anywhere
 */
export function referencedIn(lmdb: Lmdb, report: (problem: string) => void = () => undefined): Map<string, string> {
  const referenced = new Map<string, string>();
  const refer = (owner: string, names: readonly string[]) => {
    for (const name of names) {
      if (fileNameShape.test(name)) referenced.set(name, owner);
      else report(`${owner}: ${JSON.stringify(name)} is not the name of a file`);
    }
  };
  lmdb.each("users", (user) => refer(`user ${user.id}`, avatarFiles(user.avatarFile)));
  lmdb.each("attachments", ({ id, file }) => refer(`attachment ${id}`, [uploadName(file)]));
  lmdb.each("realmPictures", (row, name) => refer(`organization's ${name}`, [realmPictureFile(row)]));
  lmdb.each("realmEmoji", (emoji) => refer(`custom emoji ${emoji.id}`, emojiFiles(emoji)));
  return referenced;
}

async function copyFiles(
  realm: string,
  target: string,
  referenced: ReadonlyMap<string, string>,
  locks: readonly FileLock[],
): Promise<void> {
  for (const name of referenced.keys()) {
    await renewed(locks);
    const copy = fileIn(filesFolder(target), name);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    try {
      await copyFile(fileIn(filesFolder(realm), name), copy);
    } catch (error) {
      // The check of the copy reports the missing file.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** @param sha256 null if only the size is known */
async function isIntact(path: string, size: number, sha256: string | null): Promise<boolean> {
  if ((await stat(path)).size !== size) return false;
  if (sha256 === null) return true;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("base64url") === sha256;
}

export async function restoreFolder(root: RootStore, dataDir: string): Promise<void> {
  for (const entry of root.realms()) {
    const folder = realmFolder(dataDir, entry.id);
    if (!existsSync(dataFile(folder))) throw new Error(`the backup lacks realm ${entry.id}`);
    const lmdb = openLmdb(folder, "all-pages");
    lmdb.transaction(() => {
      lmdb.put("meta", "epoch", { value: randomBytes(6).toString("hex") });
      for (const key of lmdb.keys("queues", { limit: Number.MAX_SAFE_INTEGER })) lmdb.remove("queues", key);
    });
    keepIdentity(lmdb, entry);
    await lmdb.close();
  }
}

/**
 * Reads everything: pages, rows, index entries and files.
 * @returns one line per problem
 */
export function checkFolder(root: RootStore, dataDir: string, progress?: BackupPorts["progress"]): Promise<string[]> {
  const realms = root.realms();
  let done = 0;
  return checkRealms(realms, dataDir, { checked: () => progress?.(++done, realms.length) });
}

export interface CheckOptions {
  /** The data folder with the uploaded files, if it is another one. */
  readonly filesDir?: string;
  readonly beforeEach?: () => Promise<void>;
  /** Called after each realm. */
  readonly checked?: () => void;
  /** Told of rows whose keys cannot be read; without it, they are problems. A copy with them is as good as its original. */
  readonly leftOut?: (line: string) => void;
}

export async function checkRealms(
  realms: readonly RealmEntry[],
  dataDir: string,
  { filesDir = dataDir, beforeEach, checked, leftOut }: CheckOptions = {},
): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of realms) {
    await beforeEach?.();
    const report = (problem: string) => problems.push(`realm ${id}: ${problem}`);
    try {
      await checkRealm(realmFolder(dataDir, id), realmFolder(filesDir, id), { report, leftOut: leftOut ?? report });
    } catch (error) {
      // Nothing more of this realm can be read.
      report(error instanceof Error ? error.message : String(error));
    }
    checked?.();
  }
  return problems;
}

/** Called with one line for each finding. */
interface Findings {
  readonly report: (problem: string) => void;
  readonly leftOut: (line: string) => void;
}

async function checkRealm(folder: string, realm: string, findings: Findings): Promise<void> {
  const lmdb = openLmdb(folder, "all-pages");
  try {
    if (checkTables(lmdb, findings)) await checkFiles(lmdb, realm, findings.report);
  } finally {
    await lmdb.close();
  }
}

/**
 * Reads everything in the store of a realm, whose files are elsewhere.
 * @returns one line per problem
 */
export async function checkStore(folder: string): Promise<string[]> {
  const problems: string[] = [];
  try {
    const lmdb = openLmdb(folder, "all-pages");
    try {
      checkTables(lmdb, { report: (problem) => problems.push(problem), leftOut: () => undefined });
    } finally {
      await lmdb.close();
    }
  } catch (error) {
    // Nothing more of it can be read.
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}

/** @returns whether every row is what was written */
function checkTables(lmdb: Lmdb, { report, leftOut }: Findings): boolean {
  let damaged = 0;
  for (const table of Object.keys(rowFields) as TableName[]) damaged += checkRows(lmdb, table, report);
  for (const line of lmdb.unreadableRows) leftOut(line);
  // The following checks compare rows and need all of them to be readable.
  if (damaged > 0) return false;
  refuseWithoutHead(lmdb);
  checkIndexes(lmdb, report);
  return true;
}

/** @returns the number of damaged rows in the table; only the first ones are reported */
function checkRows(lmdb: Lmdb, table: TableName, report: (problem: string) => void): number {
  let damaged = 0;
  lmdb.verify(table, (error) => {
    if (++damaged <= limits.check_rows_reported_max) report(error instanceof Error ? error.message : String(error));
  });
  const unsaid = damaged - limits.check_rows_reported_max;
  if (unsaid > 0) report(`${unsaid} more rows of table ${table} are damaged`);
  return damaged;
}

/** Every message has its conversation and index entries, and every entry its message. */
function checkIndexes(lmdb: Lmdb, report: (problem: string) => void): void {
  let channelMessages = 0;
  lmdb.each("messages", (message) => {
    const conversation = lmdb.get("conversations", message.conversationId);
    if (conversation === undefined) {
      report(`message ${message.id} has no conversation`);
      return;
    }
    if (!lmdb.has("conversationMessages", [conversation.id, message.id])) {
      report(`message ${message.id} is not in its conversation`);
    }
    if (conversation.channelId === null) return;
    channelMessages++;
    if (!lmdb.has("channelMessages", [conversation.channelId, message.id])) {
      report(`message ${message.id} is not in its channel`);
    }
  });
  const messages = lmdb.count("messages");
  const inConversations = lmdb.count("conversationMessages");
  const inChannels = lmdb.count("channelMessages");
  if (messages !== inConversations) report(`${messages} messages, ${inConversations} entries of conversations`);
  if (channelMessages !== inChannels) report(`${channelMessages} channel messages, ${inChannels} entries of channels`);
}

/** Every file that a row claims exists, and an uploaded file has its original content. */
async function checkFiles(lmdb: Lmdb, realm: string, report: (problem: string) => void): Promise<void> {
  const present = new Set(await listFiles(filesFolder(realm)));
  for (const [name, owner] of referencedIn(lmdb, report)) {
    if (!present.has(name)) report(`${owner}: the file ${name} is missing`);
  }
  const uploads: RowOf<"attachments">[] = [];
  lmdb.each("attachments", (attachment) => uploads.push(attachment));
  for (const { id, file, size, sha256 } of uploads) {
    const name = uploadName(file);
    const isDamaged = present.has(name) && !(await isIntact(fileIn(filesFolder(realm), name), size, sha256));
    if (isDamaged) report(`attachment ${id}: the file ${name} is damaged`);
  }
}
