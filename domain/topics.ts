/**
 * Topic names: which topic a client means, and the display name of the empty one (spec 2.4, 2.9, level 334; behaviour
 * 1.8, 5.1).
 */

import { type Refusal, refuse } from "../schemas/errors.ts";
import { fold } from "../schemas/fold.ts";
import type { ChannelId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { hasContentAccess } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import { codePoints, truncate, unprintablePosition } from "./text.ts";
import type { View } from "./view.ts";

export function emptyTopicName(view: View): string {
  return realmSetting(view, "empty_topic_display_name");
}

/**
 * Topics that are too long are truncated and not rejected, in every request: so a stored name fits into a key, and the
 * full name still finds it.
 */
export function cutTopic(topic: string): string {
  const isLong = codePoints(topic) > limits.topic_code_points_max;
  return isLong ? `${truncate(topic, limits.topic_code_points_max - 3)}...` : topic;
}

/** The topic that a client means: trimmed and truncated, with the empty topic's display names read as empty. */
export function topicFor(view: View, topic: string): string {
  return cutTopic(namedTopic(view, topic));
}

/** The same without truncation. */
export function namedTopic(view: View, topic: string): string {
  const trimmed = topic.trim();
  return trimmed === emptyTopicName(view) || trimmed === "(no topic)" ? "" : trimmed;
}

/**
 * Why the topic may not have this name, or null. Users who can read the channel may use the name of a topic that exists:
 * an import may have brought one that no new topic gets.
 */
export function checkTopicName(view: View, user: UserRecord, channelId: ChannelId, topic: string): Refusal | null {
  const position = unprintablePosition(topic);
  if (position === 0) return null;
  const channel = view.channels.get(channelId);
  const isKnown = channel !== undefined && hasContentAccess(view, user, channel);
  if (isKnown && view.row("topicNames", [channelId, fold(topic)]) !== undefined) return null;
  return refuse.badRequest(`Invalid character in topic, at position ${position}!`);
}

/** The empty topic has a display name for clients that do not support it. */
export function shownTopic(view: View, topic: string, allowsEmpty: boolean): string {
  return topic === "" && !allowsEmpty ? emptyTopicName(view) : topic;
}
