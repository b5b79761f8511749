/** The notification bot tells people that somebody else has put them into a user group, or out of it (behaviour 2.6). */
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { NamedGroup } from "../../src/domain/group-permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { GroupMembersStep } from "../commands/user-groups.ts";
import { type Effect, effects } from "../effects.ts";
import { botDirectMessage, silently } from "./notification-bot.ts";

const verbs = {
  add: (caller: string, group: string) => `${caller} added you to the group ${group}.`,
  remove: (caller: string, group: string) => `${caller} removed you from the group ${group}.`,
} as const;

/** Nobody is told of what they did themselves, bots of nothing, and of very large changes nobody (`group_notices_max`). */
export function noticeEffects(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  steps: readonly GroupMembersStep[],
): Effect[] {
  return steps.flatMap(({ op, userIds }) => {
    if (userIds.length > limits.group_notices_max) return [];
    const content = verbs[op](silently(caller), `@_*${group.name}*`);
    return userIds
      .filter((id) => id !== caller.id && view.users.get(id)?.botType === null)
      .map((id) => effects.tell(botDirectMessage(id, content)));
  });
}
