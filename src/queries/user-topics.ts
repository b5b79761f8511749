/**
 * A user's topic policies for POST /register (OpenAPI, register): all of them, and the muted topics for older clients.
 */

import { hasMetadataAccess } from "../../domain/permissions.ts";
import { userTopicsOf } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section, StateRequest } from "./state-section.ts";

/** Both sections of a state show the same rows, which are read once, in the same instant. */
const topicsOfRequests = new WeakMap<StateRequest, ReturnType<typeof userTopicsOf>>();

export const userTopicsState: Section<"user_topic"> = (view, user, request) => {
  const topics = userTopicsOf(view, user.id, request.allowsEmptyTopicName);
  topicsOfRequests.set(request, topics);
  return { user_topics: topics };
};

export const mutedTopicsState: Section<"muted_topics"> = (view, user, request) => {
  const topics = topicsOfRequests.get(request) ?? userTopicsOf(view, user.id, request.allowsEmptyTopicName);
  return { muted_topics: mutedAmong(view, user, topics) };
};

/** Channel name, topic, UNIX seconds. Channels that the user can no longer see are omitted (S1). */
export function mutedTopics(view: View, user: UserRecord, allowsEmptyName: boolean) {
  return mutedAmong(view, user, userTopicsOf(view, user.id, allowsEmptyName));
}

function mutedAmong(view: View, user: UserRecord, topics: ReturnType<typeof userTopicsOf>) {
  return topics.flatMap((entry) => {
    const channel = view.channels.get(entry.stream_id);
    if (entry.visibility_policy !== topicPolicies.muted || channel === undefined) return [];
    if (!hasMetadataAccess(view, user, channel)) return [];
    return [[channel.name, entry.topic_name, entry.last_updated]];
  });
}
