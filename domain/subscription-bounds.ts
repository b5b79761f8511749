/**
 * How many subscriptions people may give to others (S3, D282): those of the organization, and those in the channels of
 * one person. People who subscribe themselves are never refused.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import type { ChannelId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { personOf } from "./bots.ts";
import { isAdministrator } from "./permissions.ts";
import type { View } from "./view.ts";

interface Joining {
  readonly channel: Pick<ChannelRecord, "id" | "creatorId">;
  readonly userIds: readonly UserId[];
}

/** Why the caller may not subscribe these users, or null. */
export function checkSubscriptionsLeft(view: View, caller: UserRecord, joins: readonly Joining[]): Refusal | null {
  if (!joins.some(({ userIds }) => userIds.some((id) => id !== caller.id))) return null;
  const added = joins.map(({ channel, userIds }) => ({ channel, count: newRows(view, channel.id, userIds) }));
  const all = added.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return null;
  const most = limits.channel_subscriptions_per_person_max;
  const sums = isUnlimited(view, caller) ? [] : sumsByPerson(view, added);
  if (sums.some((count) => count > most)) {
    return refuse.badRequest(
      `The channels of their creator have too many subscribers (maximum ${most}). People can subscribe themselves.`,
    );
  }
  return view.subscriptions.size + all <= limits.subscriptions_per_realm_max
    ? null
    : refuse.badRequest("This organization has too many subscriptions. People can subscribe themselves.");
}

/** A subscription that ended keeps its row, so a user who had one takes no more room. */
function newRows(view: View, channelId: ChannelId, userIds: readonly UserId[]): number {
  return userIds.filter((id) => view.subscriptions.get(id, channelId) === undefined).length;
}

function isUnlimited(view: View, user: UserRecord): boolean {
  return isAdministrator(user) || isAdministrator(personOf(view, user));
}

/** The sums of the channels of each person and of the person's bots afterwards. Only people with a limit are listed. */
function sumsByPerson(
  view: View,
  added: readonly { readonly channel: Joining["channel"]; readonly count: number }[],
): number[] {
  const sums = new Map<number, number>();
  for (const { channel, count } of added) {
    const creator = channel.creatorId === null ? undefined : view.users.get(channel.creatorId);
    if (creator === undefined || isUnlimited(view, creator) || count === 0) continue;
    const { id } = personOf(view, creator);
    sums.set(id, (sums.get(id) ?? subscriptionsOf(view, id)) + count);
  }
  return [...sums.values()];
}

function subscriptionsOf(view: View, personId: UserId): number {
  const creators = [personId, ...view.bots.ofOwner(personId)];
  return creators.reduce((sum, id) => sum + view.subscriptions.inChannelsOf(id), 0);
}
