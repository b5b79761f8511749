/** Presence arithmetic (spec 2.8, 4.7; behaviour 6). Milliseconds internally, seconds in the API (D26). */
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { PresenceRecord } from "../schemas/presence.ts";

const updateMinMs = limits.presence_update_min_s * 1000;
/** After slightly more than two missed pings, a user who is active again is announced. */
const newsAfterMs = (limits.presence_offline_threshold_s - limits.presence_ping_interval_s - 10) * 1000;
const legacyOffsetMs = limits.presence_legacy_active_offset_s * 1000;

export interface PresenceChange {
  readonly row: PresenceRecord;
  /** Whether other users are notified at once (docs/realtime.md). */
  readonly isNews: boolean;
}

/** @returns null if the report changes nothing, like most pings within a minute */
export function nextPresence(
  before: PresenceRecord | undefined,
  userId: UserId,
  status: "active" | "idle",
  now: number,
  updateId: number,
): PresenceChange | null {
  const isActive = status === "active";
  if (before === undefined) {
    return { row: { userId, activeAt: isActive ? now : null, connectedAt: now, updateId }, isNews: true };
  }
  const isActiveStale = before.activeAt === null || now - before.activeAt > updateMinMs;
  const isConnectedStale = now - before.connectedAt > updateMinMs;
  const activeAt = isActive && isActiveStale ? now : before.activeAt;
  const connectedAt = isConnectedStale || (isActive && isActiveStale) ? now : before.connectedAt;
  if (activeAt === before.activeAt && connectedAt === before.connectedAt) return null;
  const isNews = isActive && (before.activeAt === null || now - before.activeAt > newsAfterMs);
  return { row: { userId, activeAt, connectedAt, updateId }, isNews };
}

export interface ModernPresence {
  readonly active_timestamp: number;
  readonly idle_timestamp: number;
}

/** A missing time is reported as the time the user joined (behaviour 2.7). */
export function modernPresence(row: PresenceRecord, joinedAt: number): ModernPresence {
  return { active_timestamp: seconds(row.activeAt ?? joinedAt), idle_timestamp: seconds(row.connectedAt) };
}

export interface LegacyPresence {
  readonly client: "website";
  readonly status: "active" | "idle";
  readonly timestamp: number;
}

export function legacyPresence(row: PresenceRecord): LegacyPresence {
  const { status, at } = lastHeard(row);
  return { client: "website", status, timestamp: seconds(at) };
}

function lastHeard(row: PresenceRecord): { readonly status: "active" | "idle"; readonly at: number } {
  const isActive = row.activeAt !== null && row.activeAt + legacyOffsetMs >= row.connectedAt;
  return isActive ? { status: "active", at: row.activeAt ?? row.connectedAt } : { status: "idle", at: row.connectedAt };
}

export interface OnePresence {
  readonly status: "active" | "idle" | "offline";
  readonly timestamp: number;
}

const offlineAfterMs = limits.presence_offline_threshold_s * 1000;

/** For a request about one user: if not heard of for long, they are offline in the summary (behaviour 2.7). */
export function onePresence(row: PresenceRecord, now: number): { aggregated: OnePresence; website: OnePresence } {
  const { status, at } = lastHeard(row);
  const website = { status, timestamp: seconds(at) };
  const isOffline = now - at > offlineAfterMs;
  return { aggregated: isOffline ? { ...website, status: "offline" } : website, website };
}

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
