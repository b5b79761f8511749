/**
 * What an older store needs to become today's. Two kinds: a row that is upgraded when it is read (its version byte is
 * older than the table's), and a step over the whole environment when the store's version is older.
 * A store that is newer than the program is refused with a message (issue 7), never guessed at.
 */
import { messageTraits } from "../../schemas/message-traits.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { DamagedData } from "./damage.ts";
import type { Environment } from "./environment.ts";
import { sealedSince } from "./seal.ts";
import { sealStore } from "./sealing.ts";

export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/** Version of the environment's layout: tables and their keys, and how rows are sealed. */
export const storeVersion = 7;

/** Version of each table's rows. Raise it together with a row migration. */
export const rowVersions: Readonly<Record<TableName, number>> = {
  meta: 1,
  realm: 2,
  users: 2,
  credentials: 1,
  apiKeys: 2,
  groups: 2,
  groupMembers: 1,
  channelFolders: 1,
  userTopics: 1,
  topicPolicies: 1,
  channelSights: 1,
  channels: 1,
  subscriptions: 1,
  conversations: 2,
  topicNames: 1,
  directNames: 1,
  directConversations: 1,
  messages: 2,
  conversationMessages: 1,
  channelMessages: 1,
  searchState: 1,
  searchPostings: 1,
  searchTopics: 1,
  searchPending: 1,
  attachments: 1,
  attachmentFiles: 1,
  uploadUsage: 1,
  userAttachments: 1,
  attachmentMessages: 1,
  messageAttachments: 1,
  messageEdits: 2,
  topicRenames: 1,
  messageMoves: 1,
  reactions: 1,
  messageAttention: 1,
  resolveNotices: 1,
  readStates: 1,
  readFloors: 1,
  readExceptions: 1,
  readAnnouncements: 1,
  readDepartures: 1,
  messageFlags: 1,
  flagHolders: 1,
  snapshots: 1,
  events: 1,
  queues: 1,
  mailbox: 1,
  timers: 1,
  deadLetters: 1,
  deadMails: 1,
  idempotency: 1,
  idempotencyAges: 1,
  presence: 1,
  userInputs: 1,
  bots: 1,
  botServices: 1,
  statuses: 1,
  profileFields: 1,
  profileValues: 1,
  savedSnippets: 1,
  navigationViews: 1,
  drafts: 1,
  alertWords: 1,
  mutedUsers: 1,
  realmEmoji: 1,
  emailChanges: 1,
  emailChangeRequests: 1,
  mails: 1,
  webhookDeliveries: 1,
  webhookReports: 1,
  missedMessages: 1,
  linkifiers: 1,
  playgrounds: 1,
  invitations: 1,
  invitationKeys: 1,
  invitationLinks: 1,
  invitationAddresses: 1,
  invitationSends: 1,
  logins: 1,
  scheduledMessages: 1,
  reminders: 1,
  pushTokens: 1,
  devices: 1,
  realmDomains: 1,
  realmPictures: 1,
  botStorage: 1,
  botStorageUse: 1,
  submessages: 1,
  widgets: 1,
};

type Row = Record<string, unknown>;

/** `environmentMigrations[n]` turns an environment of version n into one of version n + 1, all of them inside one transaction. */
const environmentMigrations: Readonly<Record<number, (environment: Environment) => void>> = {
  1: keySubscriptionsByChannel,
  2: describeIndexedMessages,
  3: listFlagHolders,
  4: dropForgottenCommands,
  5: endQueues,
};

/** Their keys were [user, channel]. */
function keySubscriptionsByChannel(environment: Environment): void {
  const rows: RowOf<"subscriptions">[] = [];
  environment.each("subscriptions", (row) => rows.push(row));
  for (const { userId, channelId } of rows) environment.remove("subscriptions", [userId, channelId]);
  for (const row of rows) environment.put("subscriptions", [row.channelId, row.userId], row);
}

const messagesPerPass = 1000;

/** Indexes say who sent a message and what it is. Until then nobody's reading was known: what there is counts as read. */
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
    environment.put("readStates", id, { upTo: newest, at: 0, newest, hasSenderFloors: false });
  }
}

/** Flags were kept by person alone, and stayed when their message went. */
function listFlagHolders(environment: Environment): void {
  const keys: KeyOf<"messageFlags">[] = [];
  environment.each("messageFlags", (_row, key) => keys.push(key));
  for (const [userId, flag, messageId] of keys) {
    if (environment.has("messages", messageId)) environment.put("flagHolders", [messageId, userId, flag], {});
    else environment.remove("messageFlags", [userId, flag, messageId]);
  }
}

/** What is told of by muting somebody is told in that turn now; slices that were waiting are nobody's, and nothing but notices. */
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

/** From when on their owners knew of a channel was not always written down (channelSights): they begin anew (S1). */
function endQueues(environment: Environment): void {
  const keys: KeyOf<"queues">[] = [];
  environment.each("queues", (_row, key) => keys.push(key));
  for (const key of keys) environment.remove("queues", key);
}

/** Before anything is written. @throws StoreTooNew */
export function rejectNewer(environment: Environment): void {
  const version = environment.get("meta", "version")?.value as number | undefined;
  if (version === undefined || version <= storeVersion) return;
  throw new StoreTooNew(
    `an organization's data has version ${version}, this program knows ${storeVersion}: use the newer program`,
  );
}

/**
 * What says how old a store is, and what it counts, cannot be missing where rows are: a new realm has its version before its
 * counters, and ids would begin anew without either. @throws DamagedData
 */
export function refuseWithoutHead(environment: Environment): void {
  if (environment.has("meta", "version") && environment.has("meta", "ledger")) return;
  const tables = (Object.keys(rowVersions) as TableName[]).filter((table) => table !== "meta");
  const filled = tables.find((table) => environment.keys(table, { limit: 1 }).length > 0);
  if (filled === undefined) return;
  throw new DamagedData(environment.file, `its version or its counters are missing, while table ${filled} has rows`);
}

/** The last version whose steps are made inside one transaction; sealing all rows takes many. */
const lastUnsealed = sealedSince - 1;

/** Makes an environment of `version` one of today's. After a crash it goes on where it was. @throws Error when a step is missing */
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
}

/** `rowMigrations[table][n]` turns a row of version n into one of version n + 1. */
const rowMigrations: Partial<Record<TableName, Readonly<Record<number, (row: Row) => Row>>>> = {
  // Which of them stands in zuliprc is not known any more: none is lost.
  apiKeys: { 1: (row) => ({ ...row, isKept: true }) },
  conversations: { 1: (row) => ({ ...row, renames: 0, movingId: null }) },
  groups: { 1: (row) => ({ ...row, settings: {} }) },
  messageEdits: { 1: (row) => ({ ...row, afterMoveId: null }) },
  messages: { 1: (row) => ({ ...row, editedAt: null, moves: [] }) },
  realm: { 1: (row) => ({ ...row, userDefaults: {} }) },
  users: { 1: (row) => ({ ...row, canChangeUserEmails: false }) },
};

/** @throws Error when there is no way from `version` to today's. */
export function migrateRow(table: TableName, version: number, row: Row): Row {
  let current = row;
  if (version > rowVersions[table]) throw new Error(`row of ${table} has version ${version}, newer than this program`);
  for (let at = version; at < rowVersions[table]; at++) {
    const step = rowMigrations[table]?.[at];
    if (step === undefined) throw new Error(`row of ${table}: no migration from version ${at}`);
    current = step(current);
  }
  return current;
}
