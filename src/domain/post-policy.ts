/** What older clients know of who may post: derived from can_send_message_group (behaviour 3.7). */
import { lookUp } from "./look-up.ts";
import type { View } from "./view.ts";

const policies: Readonly<Record<string, number>> = {
  "role:everyone": 1,
  "role:administrators": 2,
  "role:fullmembers": 3,
  "role:moderators": 4,
};

/** @returns 1 for whatever group that the older clients have no number for */
export function postPolicy(view: View, groupId: number): number {
  return lookUp(policies, view.groups.get(groupId)?.name ?? "") ?? 1;
}

export function isAnnouncementOnly(policy: number): boolean {
  return policy === 2;
}
