/** A message as one reader is shown it: with their flags, and its sender as they know them. */
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import { flagsOf } from "../domain/message-flags.ts";
import { avatarForSpectator, canAccessUser, unknownUserBody, userBody } from "../domain/people.ts";
import { canAccessAllUsers } from "../domain/permissions.ts";
import { isSpectator } from "../domain/spectator.ts";
import type { View } from "../domain/view.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageBody } from "./messages.ts";

/** undefined when its conversation is gone. */
export function messageForReader(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  options: MessageOptions,
): Record<string, unknown> | undefined {
  const body = messageBody(view, message, options, hiddenOrigins(view, reader, message));
  if (body === undefined) return undefined;
  // The object is this call's own: a page of messages is not copied twice.
  Object.assign(body, senderFor(view, reader, message.senderId));
  body["flags"] = flagsOf(view, reader, message);
  return body;
}

const asItIs: Readonly<Record<string, unknown>> = {};

/**
 * What differs in the sender's fields for this reader: for restricted guests, people of whom they may not know (D34); for
 * spectators every address (D27).
 */
export function senderFor(view: View, reader: UserRecord, senderId: number): Readonly<Record<string, unknown>> {
  const sender = view.users.get(senderId);
  if (isSpectator(reader) && sender !== undefined) {
    return { sender_email: userBody(sender, null, false).email, avatar_url: avatarForSpectator(sender, false) };
  }
  if (canAccessAllUsers(view, reader)) return asItIs;
  if (sender !== undefined && canAccessUser(view, reader, sender)) return asItIs;
  const unknown = unknownUserBody(senderId);
  return { sender_full_name: unknown.full_name, sender_email: unknown.email, avatar_url: unknown.avatar_url };
}
