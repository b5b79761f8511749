/**
 * `update_message` events (OpenAPI, GET /events; behaviour 4.4) as rows of the log. Each viewer's version is built on
 * delivery (realtime/update-message-events.ts): viewers who can no longer read moved messages receive a deletion.
 */

import { seconds } from "../../domain/presence.ts";
import type { View } from "../../domain/view.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import type { contentFields } from "../../schemas/message-events.ts";
import type { Audience } from "../../schemas/runtime.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { flagsOnMessages, unsubscribedFlagHolders } from "../rules/flag-holders.ts";
import type { TopicContext } from "./context.ts";

/** The event's fields for a content edit. */
export type ContentUpdate = Pick<StoredBody<"update_message">, keyof typeof contentFields>;

export interface MessageUpdate {
  readonly userId: UserId;
  readonly at: number;
  readonly messageId: MessageId;
  /** Ascending. */
  readonly messageIds: readonly MessageId[];
  readonly content: ContentUpdate;
}

/** A change that moves no messages. */
export function updateEvent(
  view: View,
  place: Pick<TopicContext, "channelId" | "userIds">,
  update: MessageUpdate,
): Effect {
  const body = updateBody(update);
  if (place.channelId === null) return effects.emit("update_message", body, { to: "users", ids: place.userIds ?? [] });
  const also = additionalRecipients(view, place.channelId, update.userId, update.messageIds);
  const audience = { to: "channel", id: place.channelId, also } as const;
  return effects.emit("update_message", { ...body, stream_id: place.channelId }, audience);
}

/** Recipients besides the subscribers: the user who made the change, and users who flagged one of the messages. */
export function additionalRecipients(
  view: View,
  channelId: ChannelId,
  userId: UserId,
  messageIds: readonly MessageId[],
): number[] {
  return [...new Set([userId, ...unsubscribedFlagHolders(view, channelId, flagsOnMessages(view, messageIds))])];
}

/** Audience of a change of one message. */
export function changeAudience(
  view: View,
  { channelId, userIds }: Pick<TopicContext, "channelId" | "userIds">,
  userId: UserId,
  messageId: MessageId,
): Audience {
  if (channelId === null) return { to: "users", ids: userIds ?? [] };
  return { to: "channel", id: channelId, also: additionalRecipients(view, channelId, userId, [messageId]) };
}

function updateBody({ userId, at, messageId, messageIds, content }: MessageUpdate) {
  return {
    user_id: userId,
    rendering_only: false,
    message_id: messageId,
    message_ids: messageIds,
    edit_timestamp: seconds(at),
    ...content,
  };
}

/**
 * Events for some of a move's messages, at most `event_ids_per_piece_max`.
 * @param names the topic's name before the move and now
 */
export function moveEvents(
  view: View,
  move: MessageMove,
  messageIds: readonly MessageId[],
  names: { readonly former: string; readonly present: string },
  content: ContentUpdate = {},
): Effect[] {
  const { from, to, movedById } = move;
  const messageId = messageIds.includes(move.messageId) ? move.messageId : (messageIds[0] ?? move.messageId);
  const isElsewhere = from.channelId !== to.channelId;
  const body = {
    ...updateBody({ userId: movedById, at: move.at, messageId, messageIds, content }),
    stream_id: from.channelId,
    propagate_mode: move.propagateMode,
    orig_subject: names.former,
    ...(isElsewhere ? { new_stream_id: to.channelId } : {}),
    ...(names.former === names.present ? {} : { subject: names.present }),
  };
  const also = additionalRecipients(view, from.channelId, movedById, messageIds);
  if (!isElsewhere) return [effects.emit("update_message", body, { to: "channel", id: from.channelId, also })];
  // Viewers who lose the messages may receive the event split, with its own id for each part.
  const span = messageIds.length;
  return [
    effects.emit("update_message", body, { to: "channel", id: from.channelId, also }, span),
    effects.emit(
      "update_message",
      { ...body, is_arrival: true, told_ids: also },
      { to: "channel", id: to.channelId, also: [] },
    ),
  ];
}
