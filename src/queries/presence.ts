/** Presence of all users for a caller (spec 4.7, 2.8). */

import { accountAt, addressFor, apiEmail, canAccessUser } from "../../domain/people.ts";
import {
  type LegacyPresence,
  legacyPresence,
  type ModernPresence,
  modernPresence,
  onePresence,
} from "../../domain/presence.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/presence.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { BeginSection, PresenceSource, Section, StateRequest } from "./state-section.ts";

export interface PresenceQuery {
  /** null: not passed. */
  readonly lastUpdateId: number | null;
  /** Not applied when `lastUpdateId` is positive. */
  readonly historyDays: number;
  readonly isModern: boolean;
  readonly limitsToAccessible: boolean;
}

export interface PresenceState<P = ModernPresence | LegacyPair> {
  readonly presences: Record<string, P>;
  readonly presence_last_update_id: number;
  readonly server_timestamp: number;
}

interface LegacyPair {
  readonly aggregated: LegacyPresence;
  readonly website: LegacyPresence & { readonly pushable: false };
}

const dayMs = 24 * 60 * 60 * 1000;

/** Presence of all users, or of those newer than `lastUpdateId`. */
export function presenceState(
  view: View,
  source: PresenceSource,
  caller: UserRecord,
  query: PresenceQuery & { readonly isModern: false },
): PresenceState<LegacyPair>;
export function presenceState(
  view: View,
  source: PresenceSource,
  caller: UserRecord,
  query: PresenceQuery,
): PresenceState;
export function presenceState(
  view: View,
  source: PresenceSource,
  caller: UserRecord,
  query: PresenceQuery,
): PresenceState {
  const presences: Record<string, ModernPresence | LegacyPair> = {};
  let newest = query.lastUpdateId ?? -1;
  for (const row of query.lastUpdateId === null ? source.all() : source.newerThan(query.lastUpdateId)) {
    const user = shownUser(view, caller, row, query);
    if (user === null) continue;
    newest = Math.max(newest, row.updateId);
    if (query.isModern) presences[user.id] = modernPresence(row, user.joinedAt);
    else presences[addressFor(view, caller, user)] = legacyPair(row);
  }
  return { presences, presence_last_update_id: newest, server_timestamp: view.now / 1000 };
}

/** The user of a presence row; null if it is not shown. */
function shownUser(view: View, caller: UserRecord, row: PresenceRecord, query: PresenceQuery): UserRecord | null {
  const isIncremental = query.lastUpdateId !== null && query.lastUpdateId > 0;
  // D21: zero days means only users who were active within the last second.
  const since = query.historyDays === 0 ? view.now - 1000 : view.now - query.historyDays * dayMs;
  if (!isIncremental && row.connectedAt < since) return null;
  const user = view.users.get(row.userId);
  return user !== undefined && isShown(view, caller, user, query) ? user : null;
}

/**
 * The presence of one user. A user whom the caller may not see is answered like one who does not exist (S1).
 * @param name an id or an address
 * @param host the host name used in the request
 */
export function presenceOf(
  view: View,
  caller: UserRecord,
  name: string,
  host: string,
): Refusal | { readonly presence: ReturnType<typeof onePresence> } {
  const user = /^\d{1,15}$/.test(name) ? view.users.get(Number(name)) : accountAt(view, caller, name, host);
  if (user === undefined || !user.isActive || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
  if (user.botType !== null) return refuse.badRequest("Presence is not supported for bot users.");
  const row = view.presence(user.id);
  if (row === undefined || !userSetting(user, "presence_enabled")) {
    return refuse.badRequest(`No presence data for ${name}`);
  }
  return { presence: onePresence(row, view.now) };
}

function isShown(view: View, caller: UserRecord, user: UserRecord, query: PresenceQuery): boolean {
  if (!user.isActive || user.botType !== null || !userSetting(user, "presence_enabled")) return false;
  return !query.limitsToAccessible || canAccessUser(view, caller, user);
}

export function legacyPair(row: PresenceRecord): LegacyPair {
  const legacy = legacyPresence(row);
  return { aggregated: legacy, website: { ...legacy, pushable: false } };
}

function queryOf(request: StateRequest): PresenceQuery {
  return {
    lastUpdateId: null,
    historyDays: request.presenceHistoryDays,
    isModern: request.slimPresence,
    limitsToAccessible: request.limitsPresence,
  };
}

export const presenceSection: Section<"presence"> = (view, user, request) => {
  return { ...presenceState(view, request.presences, user, queryOf(request)) };
};

/**
 * The same for a viewer who may see all users. The rows are those of the instant; who they belong to is looked up when
 * they are encoded.
 */
export const presencePieces: BeginSection<"presence"> = (view, _user, request) => ({
  collect(user) {
    const query = queryOf(request);
    const rows = [...request.presences.all()];
    let newest = -1;
    function* presences(parts: (string | Buffer)[]): Iterable<number> {
      parts.push("{");
      let separator = "";
      for (let start = 0; start < rows.length; start += limits.state_items_per_step_max) {
        const entries: string[] = [];
        for (const row of rows.slice(start, start + limits.state_items_per_step_max)) {
          const person = shownUser(view, user, row, query);
          if (person === null) continue;
          newest = Math.max(newest, row.updateId);
          const value = query.isModern ? modernPresence(row, person.joinedAt) : legacyPair(row);
          entries.push(
            `${JSON.stringify(query.isModern ? `${person.id}` : apiEmail(person))}:${JSON.stringify(value)}`,
          );
        }
        const json = entries.join(",");
        if (json !== "") parts.push(separator, json);
        if (json !== "") separator = ",";
        yield json.length + limits.state_items_per_step_max;
      }
      parts.push("}");
    }
    return {
      presences,
      // Written after the rows.
      *presence_last_update_id(parts) {
        parts.push(String(newest));
        yield 1;
      },
      server_timestamp: view.now / 1000,
    };
  },
});
