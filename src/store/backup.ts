/** Copies, restores and checks of a data folder. A restored one begins new epochs, so that old queues are void (E1). */
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { avatarFiles, emojiFiles, uploadName } from "../../schemas/files.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { dataFile } from "./data-file.ts";
import { type Environment, openEnvironment } from "./environment.ts";
import { filesFolder, listFiles } from "./files.ts";
import { flushFoldersTo, flushTree } from "./folders.ts";
import { realmFolder } from "./realm-folders.ts";
import { keepIdentity } from "./realm-identity.ts";
import type { RootStore } from "./root.ts";

/**
 * The root is copied first: realms only come, so the copy names none whose folder is not copied after it. Each realm is of one moment.
 * On disk when this resolves: whoever has a backup may give up an older one.
 */
export async function backupFolder(root: RootStore, dataDir: string, target: string): Promise<void> {
  mkdirSync(join(target, "root"), { recursive: true, mode: 0o700 });
  await root.backup(join(target, "root"));
  for (const { id } of root.realms()) {
    const environment = openEnvironment(realmFolder(dataDir, id));
    mkdirSync(realmFolder(target, id), { recursive: true, mode: 0o700 });
    // Before, because a file may be given up while the rest is copied; and after, because one may be added.
    await copyFiles(realmFolder(dataDir, id), realmFolder(target, id));
    await environment.backup(realmFolder(target, id));
    await environment.close();
    await copyFiles(realmFolder(dataDir, id), realmFolder(target, id));
  }
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith("zuliprc"))) {
    copyFileSync(join(dataDir, name), join(target, name));
  }
  await flushTree(target);
  flushFoldersTo(target);
}

/** Copies what is not there yet: a file never changes. What a row does not claim is swept when the copy is opened. */
async function copyFiles(realm: string, target: string): Promise<void> {
  for (const name of await listFiles(filesFolder(realm))) {
    const copy = join(filesFolder(target), name);
    if (existsSync(copy)) continue;
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    try {
      await copyFile(join(filesFolder(realm), name), copy);
    } catch (error) {
      // Removed since it was listed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

export async function restoreFolder(root: RootStore, dataDir: string): Promise<void> {
  for (const entry of root.realms()) {
    const folder = realmFolder(dataDir, entry.id);
    if (!existsSync(dataFile(folder))) throw new Error(`the backup lacks realm ${entry.id}`);
    const environment = openEnvironment(folder);
    environment.transaction(() => {
      environment.put("meta", "epoch", { value: randomBytes(6).toString("hex") });
      for (const key of environment.keys("queues", { limit: Number.MAX_SAFE_INTEGER }))
        environment.remove("queues", key);
    });
    keepIdentity(environment, entry);
    await environment.close();
  }
}

/** @returns one line per problem */
export async function checkFolder(root: RootStore, dataDir: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of root.realms()) {
    const environment = openEnvironment(realmFolder(dataDir, id));
    const report = (problem: string) => problems.push(`realm ${id}: ${problem}`);
    for (const table of Object.keys(rowFields) as TableName[]) checkRows(environment, table, report);
    checkIndexes(environment, report);
    await checkFiles(environment, realmFolder(dataDir, id), report);
    await environment.close();
  }
  return problems;
}

function checkRows(environment: Environment, table: TableName, report: (problem: string) => void): void {
  try {
    environment.each(table, () => undefined);
  } catch (error) {
    report(`${table}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Every message has its conversation and its index entries, and the other way round. */
function checkIndexes(environment: Environment, report: (problem: string) => void): void {
  let channelMessages = 0;
  environment.each("messages", (message) => {
    const conversation = environment.get("conversations", message.conversationId);
    if (conversation === undefined) {
      report(`message ${message.id} has no conversation`);
      return;
    }
    if (!environment.has("conversationMessages", [conversation.id, message.id])) {
      report(`message ${message.id} is not in its conversation`);
    }
    if (conversation.channelId === null) return;
    channelMessages++;
    if (!environment.has("channelMessages", [conversation.channelId, message.id])) {
      report(`message ${message.id} is not in its channel`);
    }
  });
  const messages = environment.count("messages");
  const inConversations = environment.count("conversationMessages");
  const inChannels = environment.count("channelMessages");
  if (messages !== inConversations) report(`${messages} messages, ${inConversations} entries of conversations`);
  if (channelMessages !== inChannels) report(`${channelMessages} channel messages, ${inChannels} entries of channels`);
}

/** Every file that a row claims is there. */
async function checkFiles(environment: Environment, realm: string, report: (problem: string) => void): Promise<void> {
  const present = new Set(await listFiles(filesFolder(realm)));
  const reportMissing = (owner: string, names: readonly string[]) => {
    for (const name of names) if (!present.has(name)) report(`${owner}: the file ${name} is missing`);
  };
  environment.each("users", (user) => reportMissing(`user ${user.id}`, avatarFiles(user.avatarFile)));
  environment.each("attachments", ({ id, file }) => reportMissing(`attachment ${id}`, [uploadName(file)]));
  environment.each("realmEmoji", (emoji) => reportMissing(`custom emoji ${emoji.id}`, emojiFiles(emoji)));
}
