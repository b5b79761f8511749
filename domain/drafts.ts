/** A user's drafts: whether they are kept, their order, and how clients see them (OpenAPI Draft). */

import type { DraftRecord } from "../schemas/drafts.ts";
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import { seconds } from "./presence.ts";
import type { View } from "./view.ts";

/** Spec 2.3, enable_drafts_synchronization: on unless the user turned it off. */
export function keepsDrafts(user: UserRecord): boolean {
  return userSetting(user, "enable_drafts_synchronization");
}

/** The last edited one first. */
export function draftsOf(view: View, userId: UserId): readonly DraftRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.drafts_per_user_max };
  const drafts = view.rows("drafts", range).map(({ row }) => row);
  return drafts.sort((a, b) => b.changedAt - a.changedAt || b.id - a.id);
}

const wireTypes = { "": "", channel: "stream", direct: "private" } as const;

export function draftBody({ id, type, to, topic, content, changedAt }: DraftRecord) {
  return { id, type: wireTypes[type], to, topic, content, timestamp: seconds(changedAt) };
}
