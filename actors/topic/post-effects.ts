/**
 * Further effects of a posted message besides its rows and its event. Each consequence sees the post and the state
 * before it. The effects follow the `message` event.
 */

import { isRecentlyActive } from "../../domain/channels.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId } from "../../schemas/ids.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import { command } from "../protocol/commands.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";
import { linkAttachments } from "../rules/message-attachments.ts";
import { rememberMissed } from "../rules/missed-messages.ts";
import { followOwnPosts } from "../rules/read-watermarks.ts";
import type { Posted } from "./content.ts";
import { callWebhooks } from "./webhook-triggers.ts";

type FollowUp = (posted: Posted, view: View) => readonly Effect[];

const followUps: readonly FollowUp[] = [
  showActivity,
  findFirstMessage,
  linkFiles,
  callWebhooks,
  remember,
  raiseWatermarks,
];

export function followUpEffects(posted: Posted, view: View): readonly Effect[] {
  const all: Effect[] = [];
  for (const followUp of followUps) all.push(...followUp(posted, view));
  return all;
}

function showActivity({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || isRecentlyActive(view, channel)) return [];
  return [effects.emit("stream", updateBody(channel, "is_recently_active", true), watchers(channel, []))];
}

function linkFiles({ message, sender, rendered }: Posted, view: View): readonly Effect[] {
  return linkAttachments(view, sender, message.id, rendered.attachmentPaths);
}

/** A channel that already contains messages has announced its first one; it must not be announced twice. */
function findFirstMessage({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || channel.firstMessageId !== null || !isEmpty(view, channel.id)) return [];
  return [effects.send(command({ actor: "realm" }, "channel.find-first-message", { channelId: channel.id }, null))];
}

function isEmpty(view: View, channelId: ChannelId): boolean {
  return view.keys("channelMessages", { start: [channelId], end: [channelId + 1], limit: 1 }).length === 0;
}

function remember({ message, channel, topic, userIds, alerts }: Posted, view: View): readonly Effect[] {
  const participantIds = alerts?.participantIds ?? [];
  return rememberMissed({ message, channelId: channel?.id ?? null, topic, userIds, participantIds }, view);
}

/** If senders have not read their own post, it must stay above their watermark. */
function raiseWatermarks({ message, sender }: Posted, view: View): readonly Effect[] {
  if (hasTrait(message.traits, "isUnreadBySender")) return [];
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined ? [] : followOwnPosts(view, sender.id, { messageId: message.id, conversation });
}
