/** The legacy posting policy of older clients, derived from can_send_message_group (behaviour 3.7). */
import type { GroupId } from "../schemas/ids.ts";
import { ownProperty } from "./own-property.ts";
import type { View } from "./view.ts";

const policies: Readonly<Record<string, number>> = {
  "role:everyone": 1,
  "role:administrators": 2,
  "role:fullmembers": 3,
  "role:moderators": 4,
};

/** @returns 1 for a group that has no legacy number */
export function postPolicy(view: View, groupId: GroupId): number {
  return ownProperty(policies, view.groups.get(groupId)?.name ?? "") ?? 1;
}

export function isAnnouncementOnly(policy: number): boolean {
  return policy === 2;
}
