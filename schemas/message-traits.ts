/** What a message is, in bits: stored in one number of its row (records.ts, MessageRecord.traits). */
export const messageTraits = {
  isMe: 1,
  mentionsChannel: 2,
  mentionsTopic: 4,
  hasLink: 8,
  hasImage: 16,
  hasAttachment: 32,
  /** The sender did not read it by sending it (public API: read_by_sender). */
  isUnreadBySender: 64,
  /** Somebody or some group is named: the row says who. */
  mentionsPeople: 128,
  /** There is a row of `messageAttention`. */
  callsAttention: 256,
  hasReactions: 512,
  isResolveNotice: 1024,
  /** It came from another channel: who was not there to receive it has it as read. */
  changedChannel: 2048,
  /** There is a row of `widgets`, and rows of `submessages`. */
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
