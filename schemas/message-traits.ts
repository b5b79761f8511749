/** Properties of a message, stored as bits in one number of its row (records.ts, MessageRecord.traits). */
export const messageTraits = {
  isMe: 1,
  mentionsChannel: 2,
  mentionsTopic: 4,
  hasLink: 8,
  hasImage: 16,
  hasAttachment: 32,
  /** Sending the message did not mark it as read for the sender (public API: read_by_sender). */
  isUnreadBySender: 64,
  /** Mentions users or groups, which are listed in the row. */
  mentionsPeople: 128,
  /** There is a row in `messageAlerts` for it. */
  hasAlerts: 256,
  hasReactions: 512,
  isResolveNotice: 1024,
  /** It was moved here from another channel: it counts as read for users who did not receive it there. */
  changedChannel: 2048,
  /** There are rows in `widgets` and `submessages` for it. */
  hasSubmessages: 4096,
} as const;
export type MessageTrait = keyof typeof messageTraits;

export function hasTrait(traits: number, trait: MessageTrait): boolean {
  return (traits & messageTraits[trait]) !== 0;
}

export function traitsOf(given: Readonly<Partial<Record<MessageTrait, boolean>>>): number {
  let traits = 0;
  for (const name in given) if (given[name as MessageTrait] === true) traits |= messageTraits[name as MessageTrait];
  return traits;
}
