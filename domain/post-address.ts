/**
 * Resolves the destination of a message: a channel by name or id, or users by ids or email addresses (behaviour 5.1).
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import type { ChannelId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { personByAddress } from "./people.ts";
import { hasMetadataAccess } from "./permissions.ts";
import { checkChannelName } from "./text.ts";
import { checkTopicName, topicFor } from "./topics.ts";
import type { View } from "./view.ts";

/** One recipient or several, by id or by name. */
export type PostTarget = number | string | readonly (number | string)[];

export interface ChannelAddress {
  readonly actor: "topic";
  readonly channelId: ChannelId;
  readonly topic: string;
}

export interface DirectAddress {
  readonly actor: "direct";
  /** Ascending, including the sender. */
  readonly userIds: readonly UserId[];
}

/** @param topicName undefined means the empty topic */
export function channelAddress(
  view: View,
  sender: UserRecord,
  to: PostTarget,
  topicName: string | undefined,
): ChannelAddress | Refusal {
  const target = Array.isArray(to) ? to[0] : to;
  if (target === undefined || (Array.isArray(to) && to.length !== 1))
    return refuse.badRequest("Expected exactly one channel");
  const channel = typeof target === "number" ? view.channels.get(target) : view.channels.byName(target.trim());
  if (channel === undefined || !mayKnow(view, sender, channel)) {
    if (typeof target === "number") return refuse.channelIdUnknown(target);
    // A channel that exists may be named as it is, but only to those who may know of it.
    const badName = checkChannelName(target.trim(), limits.channel_name_code_points_max);
    return badName ?? refuse.channelNameUnknown(target);
  }
  if (topicName === undefined) return { actor: "topic", channelId: channel.id, topic: "" };
  const topic = topicFor(view, topicName);
  const badTopic = checkTopicName(view, sender, channel.id, topic);
  if (badTopic !== null) return badTopic;
  return { actor: "topic", channelId: channel.id, topic };
}

/** A bot may know what its owner knows (behaviour 5.1). */
function mayKnow(view: View, sender: UserRecord, channel: ChannelRecord): boolean {
  const owner = sender.botOwnerId === null ? undefined : view.users.get(sender.botOwnerId);
  return hasMetadataAccess(view, sender, channel) || (owner !== undefined && hasMetadataAccess(view, owner, channel));
}

export function directAddress(view: View, sender: UserRecord, to: PostTarget): DirectAddress | Refusal {
  const recipients = Array.isArray(to) ? to : typeof to === "string" ? to.split(",") : [to];
  if (recipients.length === 0) return refuse.badRequest("Message must have recipients");
  if (new Set(recipients.map((recipient) => typeof recipient)).size > 1) {
    return refuse.badRequest("Recipient lists may contain emails or user IDs, but not both.");
  }
  const ids = new Set<number>([sender.id]);
  for (const recipient of recipients) {
    const user = findRecipient(view, sender, recipient);
    if (user === undefined) {
      return refuse.badRequest(
        typeof recipient === "number" ? `Invalid user ID ${recipient}` : `Invalid email '${recipient.trim()}'`,
      );
    }
    ids.add(user.id);
  }
  if (ids.size > limits.direct_recipients_max) return refuse.badRequest("Too many recipients");
  return { actor: "direct", userIds: [...ids].sort((a, b) => a - b) };
}

function findRecipient(view: View, sender: UserRecord, recipient: number | string): UserRecord | undefined {
  return typeof recipient === "number" ? view.users.get(recipient) : personByAddress(view, sender, recipient.trim());
}
