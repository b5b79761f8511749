/**
 * POST /user_topics: policies that users set themselves. rules/user-topics.ts contains the policies that follow from
 * settings.
 */

import { hasContentAccess } from "../../domain/permissions.ts";
import { checkTopicName, visibilityPolicy } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { refuse } from "../../schemas/errors.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { topicPolicyEffects } from "../rules/user-topics.ts";

/**
 * POST /user_topics. A policy can be removed wherever one is set, even in a channel that the user can no longer see. It
 * can be set only in channels that the user can read and that are not archived.
 */
export function setUserTopic(user: UserRecord, params: Params<"user-topics.set">, view: View): Outcome {
  const { topic, policy, unknown } = params;
  const channel = channelOf(view, params.channel);
  if (channel === undefined) return unknown;
  const before = visibilityPolicy(view, user.id, channel.id, topic);
  const isTakenBack = policy === topicPolicies.none && before !== topicPolicies.none;
  const isOpen = hasContentAccess(view, user, channel) && (policy === topicPolicies.none || !channel.isArchived);
  if (!isTakenBack && !isOpen) return unknown;
  const badName = before === topicPolicies.none ? checkTopicName(view, user, channel.id, topic) : null;
  if (badName !== null) return badName;
  const isNew = before === topicPolicies.none && policy !== topicPolicies.none;
  if (isNew && !view.hasTopicRoom(user.id)) return refuse.badRequest("Too many topics");
  return done({}, topicPolicyEffects(view, user.id, { channelId: channel.id, topic }, policy));
}

function channelOf(view: View, channel: number | string): ChannelRecord | undefined {
  return typeof channel === "number" ? view.channels.get(channel) : view.channels.byName(channel.trim());
}

export const userTopicsDecisions = {
  "user-topics.set": forUser(setUserTopic),
} as const;
