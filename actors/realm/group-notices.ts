/**
 * Notices from the notification bot to users whom another user added to or removed from a user group (behaviour 2.6).
 */

import type { NamedGroup } from "../../domain/group-permissions.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupMembersStep } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";

const verbs = {
  add: (caller: string, group: string) => `${caller} added you to the group ${group}.`,
  remove: (caller: string, group: string) => `${caller} removed you from the group ${group}.`,
} as const;

/** The caller and bots get no notice. Very large changes send none (`group_notices_max`). */
export function noticeEffects(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  steps: readonly GroupMembersStep[],
): Effect[] {
  return steps.flatMap(({ op, userIds }) => {
    if (userIds.length > limits.group_notices_max) return [];
    const content = verbs[op](silentMention(caller), `@_*${group.name}*`);
    return userIds
      .filter((id) => id !== caller.id && view.users.get(id)?.botType === null)
      .map((id) => effects.send(botDirectMessage(id, content)));
  });
}
