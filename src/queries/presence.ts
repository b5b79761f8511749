/** Everybody's presence for a caller (spec 4.7, 2.8). */

import type { PresenceRecord, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { addressFor, canAccessUser } from "../domain/people.ts";
import { type LegacyPresence, legacyPresence, type ModernPresence, modernPresence } from "../domain/presence.ts";
import type { View } from "../domain/view.ts";

export interface PresenceQuery {
  /** null: none was sent. */
  readonly lastUpdateId: number | null;
  /** Not applied when `lastUpdateId` is positive. */
  readonly historyDays: number;
  readonly isModern: boolean;
  readonly limitsToAccessible: boolean;
}

export interface PresenceState {
  readonly presences: Record<string, ModernPresence | LegacyPair>;
  readonly presence_last_update_id: number;
  readonly server_timestamp: number;
}

interface LegacyPair {
  readonly aggregated: LegacyPresence;
  readonly website: LegacyPresence & { readonly pushable: false };
}

const dayMs = 24 * 60 * 60 * 1000;

export function presenceState(
  view: View,
  rows: Iterable<PresenceRecord>,
  caller: UserRecord,
  query: PresenceQuery,
): PresenceState {
  const presences: Record<string, ModernPresence | LegacyPair> = {};
  let newest = query.lastUpdateId ?? -1;
  const isIncremental = query.lastUpdateId !== null && query.lastUpdateId > 0;
  // D21: zero days means only who is active in this second.
  const since = query.historyDays === 0 ? view.now - 1000 : view.now - query.historyDays * dayMs;
  for (const row of rows) {
    if (query.lastUpdateId !== null && row.updateId <= query.lastUpdateId) continue;
    if (!isIncremental && row.connectedAt < since) continue;
    const user = view.users.get(row.userId);
    if (user === undefined || !isShown(view, caller, user, query)) continue;
    newest = Math.max(newest, row.updateId);
    if (query.isModern) presences[user.id] = modernPresence(row, user.joinedAt);
    else presences[addressFor(view, caller, user)] = legacyPair(row);
  }
  return { presences, presence_last_update_id: newest, server_timestamp: view.now / 1000 };
}

function isShown(view: View, caller: UserRecord, user: UserRecord, query: PresenceQuery): boolean {
  if (!user.isActive || user.botType !== null || !userSetting(user, "presence_enabled")) return false;
  return !query.limitsToAccessible || canAccessUser(view, caller, user);
}

export function legacyPair(row: PresenceRecord): LegacyPair {
  const legacy = legacyPresence(row);
  return { aggregated: legacy, website: { ...legacy, pushable: false } };
}
