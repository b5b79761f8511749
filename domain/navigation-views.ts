/** The key of a user's navigation view (records.ts): a hash of the fragment, which may be longer than a key. */

import { createHash } from "node:crypto";
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { NavigationViewRecord } from "../schemas/navigation-views.ts";
import type { KeyOf } from "../schemas/records.ts";
import type { View } from "./view.ts";

export function navigationViewKey(userId: UserId, fragment: string): KeyOf<"navigationViews"> {
  return [userId, createHash("sha256").update(fragment).digest("base64url")];
}

/** All views of a user, in arbitrary order. */
export function navigationViewsOf(view: View, userId: UserId): readonly NavigationViewRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.navigation_views_per_user_max };
  return view.rows("navigationViews", range).map(({ row }) => row);
}
