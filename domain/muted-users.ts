/** A user's muted users as clients see them (OpenAPI, event muted_users), in state and events. */
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import { seconds } from "./presence.ts";
import type { View } from "./view.ts";

export interface MutedUserBody {
  readonly id: number;
  /** UNIX seconds. */
  readonly timestamp: number;
}

/** In order of ids. */
export function hasMuted(view: View, userId: UserId, otherId: number): boolean {
  return view.row("mutedUsers", [userId, otherId]) !== undefined;
}

export function mutedUsersOf(view: View, userId: UserId): readonly MutedUserBody[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.muted_users_per_user_max };
  return view.rows("mutedUsers", range).map(({ key, row }) => ({ id: key[1], timestamp: seconds(row.mutedAt) }));
}
