/** How a person's navigation views are kept (records.ts): by the hash of the fragment, which may be longer than a key. */
import { createHash } from "node:crypto";
import { limits } from "../../schemas/limits.ts";
import type { KeyOf, NavigationViewRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

export function navigationViewKey(userId: number, fragment: string): KeyOf<"navigationViews"> {
  return [userId, createHash("sha256").update(fragment).digest("base64url")];
}

/** All views of a person, in no order that means anything. */
export function navigationViewsOf(view: View, userId: number): readonly NavigationViewRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.navigation_views_per_user_max };
  return view.rows("navigationViews", range).map(({ row }) => row);
}
