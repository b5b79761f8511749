/** Drafts of a person: whether they are kept at all, in which order they are shown, and how clients know them (OpenAPI Draft). */
import { limits } from "../../schemas/limits.ts";
import type { DraftRecord, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { seconds } from "./presence.ts";
import type { View } from "./view.ts";

/** Spec 2.3, enable_drafts_synchronization: on unless the person turned it off. */
export function keepsDrafts(user: UserRecord): boolean {
  return userSetting(user, "enable_drafts_synchronization");
}

/** The last edited first. */
export function draftsOf(view: View, userId: number): readonly DraftRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.drafts_per_user_max };
  const drafts = view.rows("drafts", range).map(({ row }) => row);
  return drafts.sort((a, b) => b.changedAt - a.changedAt || b.id - a.id);
}

const wireTypes: Readonly<Record<DraftRecord["type"], string>> = { channel: "stream", direct: "private" };

export function draftBody({ id, type, to, topic, content, changedAt }: DraftRecord) {
  return { id, type: wireTypes[type] ?? "", to, topic, content, timestamp: seconds(changedAt) };
}
