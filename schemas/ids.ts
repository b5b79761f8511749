/**
 * Ids by kind. A plain number may be any id, but an id of one kind is no id of another, so that a swapped pair does not
 * compile. Used by the compiler only: an id is a number everywhere.
 */
type IdOf<Kind extends string> = number & { readonly kindOfId?: Kind };

export type UserId = IdOf<"user">;
export type ChannelId = IdOf<"channel">;
export type GroupId = IdOf<"group">;
export type MessageId = IdOf<"message">;
/** A conversation is a topic of a channel, or a group of people who write to each other. */
export type ConversationId = IdOf<"conversation">;
/** A position in the realm's event log (E1), which clients see as the id of an event. */
export type EventPosition = IdOf<"event">;
