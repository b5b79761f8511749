/**
 * `update_message` events (OpenAPI, GET /events; behaviour 4.4) as rows of the log. What each viewer gets of them is built at
 * delivery (realtime/update-message-events.ts): who may not read moved messages where they are now is told that they are gone.
 */
import type { Audience } from "../../schemas/records.ts";
import { seconds } from "../../src/domain/presence.ts";
import type { View } from "../../src/domain/view.ts";
import type { MessageMove } from "../commands/messages.ts";
import { type Effect, effects } from "../effects.ts";
import { flagsHeld, onlookers } from "./flag-holders.ts";
import type { TopicContext } from "./machine.ts";

/** A change of content as the event tells it. */
export type ContentUpdate = Readonly<Record<string, string | boolean>>;

export interface MessageUpdate {
  readonly userId: number;
  readonly at: number;
  readonly messageId: number;
  /** Ascending. */
  readonly messageIds: readonly number[];
  readonly content: ContentUpdate;
}

/** A change that leaves messages where they are. */
export function updateEvent(
  view: View,
  place: Pick<TopicContext, "channelId" | "userIds">,
  update: MessageUpdate,
): Effect {
  const body = updateBody(update);
  if (place.channelId === null) return effects.emit("update_message", body, { to: "users", ids: place.userIds ?? [] });
  const also = toldBeside(view, place.channelId, update.userId, update.messageIds);
  const audience = { to: "channel", id: place.channelId, also } as const;
  return effects.emit("update_message", { ...body, stream_id: place.channelId }, audience);
}

/** Who makes the change, and who follows the messages without being in the channel. */
export function toldBeside(view: View, channelId: number, userId: number, messageIds: readonly number[]): number[] {
  return [...new Set([userId, ...onlookers(view, channelId, flagsHeld(view, messageIds))])];
}

/** Readers of one message, whoever changes something about it. */
export function changeAudience(
  view: View,
  { channelId, userIds }: Pick<TopicContext, "channelId" | "userIds">,
  userId: number,
  messageId: number,
): Audience {
  if (channelId === null) return { to: "users", ids: userIds ?? [] };
  return { to: "channel", id: channelId, also: toldBeside(view, channelId, userId, [messageId]) };
}

function updateBody({ userId, at, messageId, messageIds, content }: MessageUpdate): Record<string, unknown> {
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
 * Some of a move's messages, at most `event_ids_per_piece_max`.
 * @param names what the topics were and are called at this moment
 */
export function moveEvents(
  view: View,
  move: MessageMove,
  messageIds: readonly number[],
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
  const also = toldBeside(view, from.channelId, movedById, messageIds);
  if (!isElsewhere) return [effects.emit("update_message", body, { to: "channel", id: from.channelId, also })];
  // Who loses them may get them in pieces, each of which needs an id of its own.
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
