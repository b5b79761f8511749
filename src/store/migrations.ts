/**
 * Upgrades older stores. A row is upgraded when it is read (its version byte is older than the table's); a step over
 * the whole environment runs when the store's version is older. A store that is newer than the program is rejected with
 * a message.
 */
import { messageTraits } from "../../schemas/message-traits.ts";
import { type KeyOf, type RowOf, rowMigrations, rowVersions, type TableName } from "../../schemas/records.ts";
import { DamagedData } from "./damage.ts";
import { sealedSince } from "./seal.ts";
import { sealStore } from "./sealing.ts";
import type { Environment } from "./store.ts";

export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/**
 * Version of the environment's layout: tables, their keys, and how rows are sealed. From version 8 on a store may lack
 * turns that are in the journal, so an older program must not use it.
 */
export const storeVersion = 8;

type Row = Record<string, unknown>;

/**
 * `environmentMigrations[n]` upgrades an environment from version n to n + 1. The steps before `sealedSince` run in one
 * transaction; `migrateEnvironment` runs none after it.
 */
const environmentMigrations: Readonly<Record<number, (environment: Environment) => void>> = {
  1: keySubscriptionsByChannel,
  2: describeIndexedMessages,
  3: listFlagHolders,
  4: dropForgottenCommands,
  5: endQueues,
};

/** The old keys were [user, channel]. */
function keySubscriptionsByChannel(environment: Environment): void {
  const rows: RowOf<"subscriptions">[] = [];
  environment.each("subscriptions", (row) => rows.push(row));
  for (const { userId, channelId } of rows) environment.remove("subscriptions", [userId, channelId]);
  for (const row of rows) environment.put("subscriptions", [row.channelId, row.userId], row);
}

const messagesPerPass = 1000;

/**
 * Indexes gain the sender and the traits of each message. Before that, read state was not recorded: existing messages
 * count as read.
 */
function describeIndexedMessages(environment: Environment): void {
  let newest = 0;
  for (;;) {
    const rows = environment.rows("messages", { start: newest + 1, limit: messagesPerPass });
    for (const { key, row } of rows) {
      newest = key;
      const mentionsPeople = row.mentionedUserIds.length + row.mentionedGroupIds.length > 0;
      const traits = row.traits | (mentionsPeople ? messageTraits.mentionsPeople : 0);
      const { conversationId, senderId } = row;
      const channelId = environment.get("conversations", conversationId)?.channelId ?? null;
      environment.put("messages", key, { ...row, traits });
      environment.put("conversationMessages", [conversationId, key], { senderId, traits });
      if (channelId !== null) {
        environment.put("channelMessages", [channelId, key], { conversationId, senderId, traits });
      }
    }
    if (rows.length < messagesPerPass) break;
  }
  const userIds: number[] = [];
  environment.each("users", ({ id }) => userIds.push(id));
  for (const id of userIds) {
    environment.put("readStates", id, { upTo: newest, at: 0, newest, hasSenderWatermarks: false });
  }
}

/** Flags were stored by user only, and remained when their message was deleted. */
function listFlagHolders(environment: Environment): void {
  const keys: KeyOf<"messageFlags">[] = [];
  environment.each("messageFlags", (_row, key) => keys.push(key));
  for (const [userId, flag, messageId] of keys) {
    if (environment.has("messages", messageId)) environment.put("flagHolders", [messageId, userId, flag], {});
    else environment.remove("messageFlags", [userId, flag, messageId]);
  }
}

/**
 * Muting a user now announces its effects in the same turn. Pending slices of the old command only sent notices, so
 * they are dropped.
 */
const forgottenTypes: ReadonlySet<unknown> = new Set(["read-state.announce-muted"]);

function dropForgottenCommands(environment: Environment): void {
  for (const table of ["mailbox", "timers"] as const) {
    const keys: KeyOf<typeof table>[] = [];
    environment.each(table, ({ command }, key) => {
      if (forgottenTypes.has((command as { readonly type?: unknown }).type)) keys.push(key);
    });
    for (const key of keys) environment.remove(table, key);
  }
}

/** The position since which a user has known a channel was not always recorded, so all queues start again (S1). */
function endQueues(environment: Environment): void {
  const keys: KeyOf<"queues">[] = [];
  environment.each("queues", (_row, key) => keys.push(key));
  for (const key of keys) environment.remove("queues", key);
}

/**
 * Must run before anything is written.
 * @throws StoreTooNew
 */
export function rejectNewer(environment: Environment): void {
  const version = environment.get("meta", "version")?.value as number | undefined;
  if (version === undefined || version <= storeVersion) return;
  throw new StoreTooNew(
    `an organization's data has version ${version}, this program knows ${storeVersion}: use the newer program`,
  );
}

/**
 * The version and the counters cannot be missing where there are rows: a new realm gets its version before its
 * counters, and without either ids would start again.
 * @throws DamagedData
 */
export function refuseWithoutHead(environment: Environment): void {
  if (environment.has("meta", "version") && environment.has("meta", "ledger")) return;
  const tables = (Object.keys(rowVersions) as TableName[]).filter((table) => table !== "meta");
  const filled = tables.find((table) => environment.keys(table, { limit: 1 }).length > 0);
  if (filled === undefined) return;
  throw new DamagedData(environment.file, `its version or its counters are missing, while table ${filled} has rows`);
}

/** The last version whose steps run in one transaction; sealing all rows takes many. */
const lastUnsealed = sealedSince - 1;

/**
 * Upgrades an environment to the current version. After a crash it continues where it stopped.
 * @throws Error when a step is missing
 */
export function migrateEnvironment(environment: Environment, version: number): void {
  if (version < lastUnsealed) {
    environment.transaction(() => {
      for (let at = version; at < lastUnsealed; at++) {
        const step = environmentMigrations[at];
        if (step === undefined) throw new Error(`no migration of a store from version ${at}`);
        step(environment);
      }
      environment.put("meta", "version", { value: lastUnsealed });
    });
  }
  if (version < sealedSince) sealStore(environment);
  if (version < storeVersion)
    environment.transaction(() => environment.put("meta", "version", { value: storeVersion }));
}

/** @throws Error when there is no path from `version` to the current one */
export function migrateRow(table: TableName, version: number, row: Row): Row {
  let current = row;
  if (version > rowVersions[table]) throw new Error(`row of ${table} has version ${version}, newer than this program`);
  for (let at = version; at < rowVersions[table]; at++) {
    const step = rowMigrations[table][at];
    if (step === undefined) throw new Error(`row of ${table}: no migration from version ${at}`);
    current = step(current);
  }
  return current;
}
