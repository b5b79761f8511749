/**
 * What follows from a message that was posted, beside its rows and its event. Each consequence looks at what was posted
 * and at the state before it, and gives effects; they stand behind the `message` event, so that clients hear of it first.
 */
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ChannelRecord, MessageAttentionRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { isRecentlyActive } from "../../src/domain/channels.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";
import type { View } from "../../src/domain/view.ts";
import { command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";
import { updateBody, watchers } from "../realm/channel-events.ts";
import { followOwnPosts } from "../user/read-floors.ts";
import { callWebhooks } from "../webhook/triggers.ts";
import { claimAttachments } from "./attachments.ts";
import { rememberMissed } from "./missed-messages.ts";

export interface Posted {
  readonly message: MessageRecord;
  readonly sender: UserRecord;
  /** null: a direct conversation. */
  readonly channel: ChannelRecord | null;
  /** "" in a direct conversation. */
  readonly topic: string;
  /** Participants of a direct conversation, ascending; null in channels. */
  readonly userIds: readonly number[] | null;
  readonly rendered: RenderedContent;
  /** Whose attention it calls beside those whom it mentions. */
  readonly attention: MessageAttentionRecord | null;
}

type Consequence = (posted: Posted, view: View) => readonly Effect[];

const consequences: readonly Consequence[] = [
  showActivity,
  findFirstMessage,
  claimFiles,
  callWebhooks,
  remember,
  raiseFloors,
];

export function consequencesOf(posted: Posted, view: View): readonly Effect[] {
  const all: Effect[] = [];
  for (const consequence of consequences) all.push(...consequence(posted, view));
  return all;
}

function showActivity({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || isRecentlyActive(view, channel)) return [];
  return [effects.emit("stream", updateBody(channel, "is_recently_active", true), watchers(channel, []))];
}

function claimFiles({ message, sender, rendered }: Posted, view: View): readonly Effect[] {
  return claimAttachments(view, sender, message.id, rendered.attachmentPaths);
}

/** Where something stands already, whoever put it there has told of it: what is told is told once. */
function findFirstMessage({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || channel.firstMessageId !== null || !isEmpty(view, channel.id)) return [];
  return [effects.tell(command({ actor: "realm" }, "channel.find-first-message", { channelId: channel.id }, null))];
}

function isEmpty(view: View, channelId: number): boolean {
  return view.keys("channelMessages", { start: [channelId], end: [channelId + 1], limit: 1 }).length === 0;
}

function remember({ message, channel, topic, userIds, attention }: Posted, view: View): readonly Effect[] {
  const participantIds = attention?.participantIds ?? [];
  return rememberMissed({ message, channelId: channel?.id ?? null, topic, userIds, participantIds }, view);
}

/** A post that its sender has yet to read stands in the way of its floor. */
function raiseFloors({ message, sender }: Posted, view: View): readonly Effect[] {
  if (hasTrait(message.traits, "isUnreadBySender")) return [];
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined ? [] : followOwnPosts(view, sender.id, { messageId: message.id, conversation });
}
