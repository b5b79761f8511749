/**
 * The longest rows that one account can store, by table: each text is as long as its bound allows, in characters that
 * take most bytes.
 */
import { eventTypes } from "../../schemas/events.ts";
import { userGroupSettingNames } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import { clientCapabilities } from "../../schemas/queues.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Longest } from "../areas/area.ts";
import { areaCases } from "../areas/index.ts";
import { html } from "../domain/markdown-support.ts";

const userId = 1_000_000;
const now = Date.UTC(2026, 10, 28);
const id = 2 ** 40;

/** Four bytes as UTF-8, and four in memory. */
const widest = "\u{1f600}";
const formula = "$$\\sqrt x$$ ";

/** Formulas have the longest HTML, as many as a message may have; emoji follow. Rendered once for each length. */
const rendered = remembered((codePoints: number) => {
  const formulas = formula.repeat(Math.min(60, Math.floor(codePoints / formula.length)));
  return html(formulas + widest.repeat(codePoints - formulas.length));
});

function remembered(make: (codePoints: number) => string): (codePoints: number) => string {
  const made = new Map<number, string>();
  return (codePoints) => {
    const text = made.get(codePoints) ?? make(codePoints);
    made.set(codePoints, text);
    return text;
  };
}

const wide = (codePoints: number) => widest.repeat(codePoints);
const narrow = (characters: number) => "x".repeat(characters);
const hash = "h".repeat(43);
const recipients = Array.from({ length: limits.direct_recipients_max }, (_, index) => userId + index);
const siteUrl = `https://${narrow(limits.host_header_bytes_max)}`;
const client = narrow(limits.client_name_code_points_max);
const name = wide(limits.emoji_name_or_code_code_points_max);
const message = wide(limits.message_code_points_max);
const wordOf = (own: string) => own + wide(limits.alert_word_code_points_max - own.length);
const topicOf = (own: string) => own.slice(-4) + wide(limits.topic_code_points_max - 4);

type Row<T extends TableName> = readonly [key: KeyOf<T>, row: RowOf<T>];

/** By table: `index` and `own`, its digits, keep the rows apart. */
const longest: { readonly [T in TableName]?: (index: number, own: string) => Row<T> } = {
  queues: (_index, own) => [
    `${own}-${narrow(24)}`,
    {
      id: `${own}-${narrow(24)}`,
      userId,
      createdAt: now,
      createdAtPosition: id,
      lifespanMs: 604_800_000,
      client,
      options: {
        ...{ applyMarkdown: true, clientGravatar: true, slimPresence: true, allPublicStreams: true },
        includeSubscribers: true,
        eventTypes,
        capabilities: clientCapabilities,
        narrow: [["topic", own + wide(limits.queue_narrow_code_points_max - "topic".length - own.length)]],
      },
    },
  ],
  sessions: (index, own) => [
    own + hash,
    {
      ...{ hash: own + hash, id: index, userId, createdAt: now, lastUsedAt: now, dueAt: now, timer: id },
      client: narrow(limits.client_name_code_points_max),
      host: narrow(limits.host_header_bytes_max),
    },
  ],
  apiKeys: (_index, own) => [own + hash, { hash: own + hash, userId, createdAt: now, isKept: true }],
  logins: (_index, own) => [[userId, own + hash], { seenAt: now }],
  pushTokens: (_index, own) => [
    [userId, own + hash],
    {
      kind: "apns",
      token: narrow(limits.push_token_characters_max),
      appId: narrow(limits.push_app_id_characters_max),
      addedAt: now,
    },
  ],
  devices: (index) => [[userId, index], { registeredAt: now }],
  drafts: (index, own) => [
    [userId, index],
    { id: index, userId, type: "direct", to: recipients, topic: topicOf(own), content: message, changedAt: now },
  ],
  alertWords: (_index, own) => [[userId, wordOf(own)], { word: wordOf(own) }],
  botStorage: (_index, own) => [
    [userId, own + hash],
    { key: own, value: wide(limits.bot_storage_code_points_max / limits.bot_storage_entries_max - own.length) },
  ],
  statuses: () => [
    userId,
    {
      userId,
      statusText: wide(limits.status_text_code_points_max),
      ...{ emojiName: name, emojiCode: name, reactionType: "realm_emoji" },
    },
  ],
  profileValues: (index) => [
    [userId, index],
    {
      ...{ userId, fieldId: index, value: wide(limits.profile_long_text_code_points_max) },
      renderedValue: rendered(limits.profile_long_text_code_points_max),
    },
  ],
  scheduledMessages: (index) => [
    [userId, index],
    {
      ...{ id: index, userId, channelId: null, topic: "", userIds: recipients, content: message, siteUrl, client },
      rendered: rendered(limits.message_code_points_max),
      ...{ isReadBySender: true, dueAt: now, timer: id },
    },
  ],
  reminders: (index) => [
    [userId, index],
    {
      ...{
        id: index,
        userId,
        messageId: id,
        note: wide(limits.reminder_note_code_points_max),
        dueAt: now,
        timer: id,
      },
      content: wide(limits.reminder_note_code_points_max + 300),
      rendered: rendered(limits.reminder_note_code_points_max + 300),
    },
  ],
  userTopics: (index, own) => [
    [userId, index, topicOf(own)],
    { topic: topicOf(own), visibilityPolicy: 3, changedAt: now },
  ],
  topicPolicies: (index, own) => [[index, topicOf(own), userId], { visibilityPolicy: 3 }],
  mutedUsers: (index) => [[userId, index], { mutedAt: now }],
  idempotencyAges: (_index, own) => [[userId, now, own + hash], { bytes: 65_536 }],
  attachments: (index) => [
    index,
    {
      ...{ id: index, ownerId: userId, file: narrow(32), name: wide(limits.file_name_code_points_max) },
      ...{ pathName: narrow(limits.upload_path_name_bytes_max), size: 1, createdAt: now, unclaimedSince: now },
      image: { widthPx: 65_535, heightPx: 65_535, contentType: "image/jpeg", isAnimated: true },
      sha256: hash,
    },
  ],
  attachmentFiles: (index) => [narrow(32), { id: index }],
  userAttachments: (index) => [[userId, index], {}],
  invitationSends: (index) => [[userId, now, index], {}],
  invitations: (index) => [
    index,
    {
      ...{ id: index, state: "valid", email: narrow(limits.email_code_points_max), inviterId: userId, createdAt: now },
      ...{ expiresAt: now, role: 400, includesDefaults: true, notifiesInviter: true, timer: id },
      channelIds: Array.from({ length: limits.invitation_channels_max }, (_, at) => userId + at),
      groupIds: Array.from({ length: limits.invitation_groups_max }, (_, at) => userId + at),
      welcomeText: wide(limits.welcome_message_code_points_max),
      keyHashes: Array.from({ length: limits.invitation_links_per_address_max }, () => hash),
    },
  ],
  invitationLinks: (index) => [index, { key: hash }],
  invitationKeys: (index, own) => [own + hash, { id: index }],
  invitationAddresses: (index) => [[narrow(limits.email_code_points_max), index], {}],
  realmEmoji: (index, own) => [
    index,
    {
      ...{ id: index, name: own + narrow(limits.emoji_name_code_points_max - own.length), authorId: userId },
      ...{ isActive: true, file: narrow(40), stillFile: narrow(40), createdAt: now },
    },
  ],
  groups: (index, own) => [
    index,
    {
      ...{
        id: index,
        name: own + wide(limits.group_name_code_points_max - own.length),
        isSystem: false,
        isActive: true,
      },
      ...{ description: wide(limits.group_description_code_points_max), creatorId: userId, createdAt: now },
      ...{ memberIds: [], subgroupIds: [] },
      settings: Object.fromEntries(userGroupSettingNames.map((setting, at) => [setting, userId + at])),
    },
  ],
  groupMembers: (index) => [[index, userId], {}],
  missedMessages: () => [
    userId,
    {
      messageIds: Array.from({ length: limits.missed_messages_per_user_max }, (_, at) => id + at),
      ...{ isCut: true, startedAt: now, dueAt: now, timerDueAt: now, hourStartedAt: now, mailsInHour: 30 },
    },
  ],
  emailChangeRequests: (_index, own) => [[userId, now, own + hash], {}],
  passwordResetRequests: (_index, own) => [[userId, now, own + hash], {}],
};

const parts: Longest = { userId, now, wide, message };
const ofAreas = areaCases.map(({ account }) => account?.longest ?? {});

/** Undefined if the table has no row of an account here. */
export function longestRow(table: TableName, index: number): Row<TableName> | undefined {
  const own = longest[table]?.(index, String(index).padStart(6, "0"));
  return (own ?? ofAreas.find((rows) => table in rows)?.[table]?.(index, parts)) as Row<TableName> | undefined;
}
