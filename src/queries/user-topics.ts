/** What a person thinks of topics, at POST /register (OpenAPI, register): all of it, and for older clients what is muted. */
import type { UserRecord } from "../../schemas/records.ts";
import { hasMetadataAccess } from "../domain/permissions.ts";
import { topicPolicies, userTopicsOf } from "../domain/user-topics.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

export const userTopicsState: Section = (view, user, { allowsEmptyTopicName }) => ({
  user_topics: userTopicsOf(view, user.id, allowsEmptyTopicName),
});

export const mutedTopicsState: Section = (view, user, { allowsEmptyTopicName }) => ({
  muted_topics: mutedTopics(view, user, allowsEmptyTopicName),
});

/** Channel's name, topic, UNIX seconds. Channels that the person may not know any more have no names for them (S1). */
export function mutedTopics(view: View, user: UserRecord, allowsEmptyName: boolean) {
  return userTopicsOf(view, user.id, allowsEmptyName).flatMap((entry) => {
    const channel = view.channels.get(entry.stream_id);
    if (entry.visibility_policy !== topicPolicies.muted || channel === undefined) return [];
    if (!hasMetadataAccess(view, user, channel)) return [];
    return [[channel.name, entry.topic_name, entry.last_updated]];
  });
}
