// Numbers that a realm counts: ids that were given out, and how far something is.
/** Counters of a realm: ids follow decisions (M4). `position` is leased ahead (E1), the others are exact. */
export const counterNames = [
  "message",
  "user",
  "channel",
  "recipient",
  "group",
  "queue",
  "sequence",
  "boot",
  "profileField",
  "savedSnippet",
  "draft",
  "emoji",
  "mail",
  "webhook",
  "channelFolder",
  "linkifier",
  "playground",
  "invitation",
  /** Milliseconds: until when it was told whose waiting period is over. */
  "waitingPeriodsEnded",
  /** Milliseconds: until when it was told which channels are not recently active any more. */
  "inactivityTold",
  "move",
  "readMark",
  "scheduledMessage",
  "reminder",
  "attachment",
  /** Of all attachments together; it falls, too. */
  "attachmentBytes",
  "submessage",
  "realmDomain",
  "device",
] as const;
export type CounterName = (typeof counterNames)[number];
