/** A message for one reader, with the reader's flags, and the sender as the reader may see them. */

import { flagsOf } from "../../domain/message-flags.ts";
import { avatarForSpectator, canAccessUser, unknownUserBody, userBody } from "../../domain/people.ts";
import { canAccessAllUsers } from "../../domain/permissions.ts";
import { planFor } from "../../domain/redaction-plan.ts";
import { isSpectator } from "../../domain/spectator.ts";
import type { View } from "../../domain/view.ts";
import type { MessageFlag } from "../../schemas/message-flags.ts";
import { MessageBody, type MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageBody } from "./messages.ts";

/** undefined if its conversation no longer exists. */
export function messageForReader(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  options: MessageOptions,
): MessageForReader | undefined {
  const body = messageBody(view, message, options, hiddenOrigins(view, reader, message));
  if (body === undefined) return undefined;
  // The object belongs to this call, so it can be modified instead of copied.
  const flags = { flags: flagsOf(view, reader, message) };
  return Object.assign(body, senderFor(view, reader, message.senderId), flags);
}

/** The parts of a message that are redacted for a restricted guest. */
export const messagePlan = planFor(MessageBody);

type MessageForReader = MessageBody & { readonly flags: readonly MessageFlag[] };
type SenderFields = Partial<Pick<MessageBody, "sender_full_name" | "sender_email" | "avatar_url">>;

const asItIs: SenderFields = {};

/** Whether the reader sees the sender as everybody does. */
export function isSenderShown(view: View, reader: UserRecord, senderId: number): boolean {
  return senderFor(view, reader, senderId) === asItIs;
}

/**
 * Sender fields that differ for this reader: for restricted guests, users they may not see (D34); for spectators, all
 * addresses (D27).
 */
export function senderFor(view: View, reader: UserRecord, senderId: number): SenderFields {
  const sender = view.users.get(senderId);
  if (isSpectator(reader) && sender !== undefined) {
    return { sender_email: userBody(sender, null, false).email, avatar_url: avatarForSpectator(sender, false) };
  }
  if (canAccessAllUsers(view, reader)) return asItIs;
  if (sender !== undefined && canAccessUser(view, reader, sender)) return asItIs;
  const unknown = unknownUserBody(senderId);
  return { sender_full_name: unknown.full_name, sender_email: unknown.email, avatar_url: unknown.avatar_url };
}
