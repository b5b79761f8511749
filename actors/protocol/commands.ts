/**
 * All commands by type: the messages that actors receive in their mailboxes. Commands are plain data (they are stored,
 * M3), carry the random values and hashes that a decision needs (M4), and name their caller, whose role is read in the
 * turn.
 */

import type { Answer, Ticket, WaitingRequest } from "../../schemas/answer.ts";
import type { AreaCommands, AreaReplies } from "../../schemas/areas.ts";
import type { NewChannel } from "../../schemas/channels.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";

/** The recipient of a command. Each address has one live actor; commands to the same address keep their order (M7). */
export type Address =
  | { readonly actor: "realm" }
  | { readonly actor: "user"; readonly id: UserId }
  | { readonly actor: "topic"; readonly channelId: ChannelId; readonly topic: string }
  /** Participants, ascending, including the sender. */
  | { readonly actor: "direct"; readonly userIds: readonly UserId[] }
  | { readonly actor: "conversation"; readonly id: ConversationId }
  /** The conversation that a message is in when the command is decided. */
  | { readonly actor: "message"; readonly id: MessageId }
  | { readonly actor: "topic-deletion"; readonly channelId: ChannelId; readonly topic: string }
  | { readonly actor: "retention" }
  | { readonly actor: "mail"; readonly id: number }
  | { readonly actor: "invitation"; readonly id: number }
  | { readonly actor: "webhook"; readonly botId: UserId; readonly id: number }
  | { readonly actor: "presence"; readonly userId: UserId }
  | { readonly actor: "typing"; readonly conversation: string };

/** @throws Error if the address is another actor's, which is a bug of the sender */
export function addressAs<A extends Address["actor"]>(to: Address, actor: A): Extract<Address, { readonly actor: A }> {
  if (to.actor !== actor) throw new Error(`${to.actor} is no ${actor}`);
  return to as Extract<Address, { readonly actor: A }>;
}

/** Parameters by command type. */
export interface CommandParams extends AreaCommands {
  /** Not in an area, because it contains commands. */
  "members.change": MembershipChange;
}

export type CommandType = keyof CommandParams;

export type Params<T extends CommandType> = CommandParams[T];

export interface Command<T extends CommandType = CommandType> {
  readonly to: Address;
  readonly type: T;
  readonly params: CommandParams[T];
  /** The user who made the request; null: the server itself. */
  readonly callerId: UserId | null;
  /** Set by the runtime when a caller waits for the answer. */
  readonly ticket: Ticket | null;
}

/** Builds a command. The runtime sets `ticket`. */
export function command<T extends CommandType>(
  to: Address,
  type: T,
  params: CommandParams[T],
  callerId: UserId | null,
): Command<T> {
  return { to, type, params, callerId, ticket: null };
}

/** The remaining part of a large membership change; `waiting` names the request to answer when it is complete. */
export interface MembershipChange {
  readonly targets: readonly {
    readonly kind: "join" | "leave";
    readonly channelId: ChannelId;
    readonly userIds: readonly UserId[];
    readonly color: string | null;
  }[];
  readonly waiting: (WaitingRequest & { readonly answer: Answer }) | null;
  /** Channels that the request creates, and that are not stored yet; they precede the members. */
  readonly creations?: readonly NewChannel[];
  /** The command to send when the work is done. */
  readonly after: readonly Command[];
}

/** The fields of the reply to a command. */
export type ReplyOf<T> = T extends keyof AreaReplies ? AreaReplies[T] : NoFields;

/** A reply without fields. */
export type NoFields = Readonly<Record<never, never>>;
