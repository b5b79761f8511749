/**
 * A user's topic policies for POST /register (OpenAPI, register): all of them, and the muted topics for older clients.
 */

import { hasMetadataAccess } from "../../domain/permissions.ts";
import { userTopicsOf } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

export const userTopicsState: Section<"user_topic"> = (view, user, { allowsEmptyTopicName }) => ({
  user_topics: userTopicsOf(view, user.id, allowsEmptyTopicName),
});

export const mutedTopicsState: Section<"muted_topics"> = (view, user, { allowsEmptyTopicName }) => ({
  muted_topics: mutedTopics(view, user, allowsEmptyTopicName),
});

/** Channel name, topic, UNIX seconds. Channels that the user can no longer see are omitted (S1). */
export function mutedTopics(view: View, user: UserRecord, allowsEmptyName: boolean) {
  return userTopicsOf(view, user.id, allowsEmptyName).flatMap((entry) => {
    const channel = view.channels.get(entry.stream_id);
    if (entry.visibility_policy !== topicPolicies.muted || channel === undefined) return [];
    if (!hasMetadataAccess(view, user, channel)) return [];
    return [[channel.name, entry.topic_name, entry.last_updated]];
  });
}
