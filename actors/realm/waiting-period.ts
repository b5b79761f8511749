/**
 * A member becomes a full member when the organization's waiting period is over (spec 3; behaviour 3.1). Permissions
 * depend on the time alone. Durable timers (M8) send the change to clients: `user_group` events, and private channels
 * visible to full members. A counter stores up to when changes were announced, so a late or repeated timer announces
 * exactly what is new.
 */

import { withOverrides } from "../../domain/overlay-view.ts";
import { isInSystemGroup, waitingPeriodMs } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { SystemGroupName } from "../../schemas/group-settings.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, done, type Effect, effects, forServer, type Outcome } from "../protocol/decision.ts";
import { channelsVisibleTo, channelVisibility } from "./channel-visibility.ts";

const fullMembers: SystemGroupName = "role:fullmembers";

/** Timer: some waiting periods may have ended. */
export function endWaitingPeriods(_params: unknown, view: View): Outcome {
  const before = lastAnnounced(view);
  const ended = [...view.users.all()].some((user) => endOf(view, user) > before.now && endOf(view, user) <= view.now);
  return done(
    {},
    ended ? [...announcementEffects(before, view), effects.setCounter(counter, view.now), ...nextTimer(view)] : [],
  );
}

/** The organization's waiting period changed: announces members who became full members or no longer are. */
export function waitingPeriodEffects(view: View, after: View): Effect[] {
  return [
    ...announcementEffects(lastAnnounced(view), after),
    effects.setCounter(counter, view.now),
    ...nextTimer(after),
  ];
}

/** Sets the timer for a new user. */
export function waitingEffects(view: View, user: UserRecord): Effect[] {
  return endOf(view, user) > view.now ? [timerAt(endOf(view, user))] : [];
}

const counter = "waitingPeriodsEnded";

/** The view as of the last announcement. Without a waiting period nothing depends on the time. */
function lastAnnounced(view: View): View {
  return waitingPeriodMs(view) === 0 ? view : withOverrides(view, { now: view.counter(counter) });
}

/** End of the user's waiting period, in milliseconds. */
function endOf(view: View, user: UserRecord): number {
  return user.joinedAt + waitingPeriodMs(view);
}

function timerAt(dueAt: number): Effect {
  return effects.schedule(dueAt, command({ actor: "realm" }, "realm.end-waiting-periods", {}, null));
}

function nextTimer(view: View): Effect[] {
  let next = Number.POSITIVE_INFINITY;
  for (const user of view.users.all()) {
    const end = endOf(view, user);
    if (end > view.now && end < next) next = end;
  }
  return Number.isFinite(next) ? [timerAt(next)] : [];
}

/** Users who can no longer see a channel receive its deletion first; users who can see it now receive it last. */
function announcementEffects(before: View, after: View): Effect[] {
  const group = after.groups.system(fullMembers);
  const isFull = (view: View, user: UserRecord) => isInSystemGroup(view, user, fullMembers);
  const shifted = [...after.users.all()].filter(
    (user) => user.isActive && user.role === roles.member && isFull(before, user) !== isFull(after, user),
  );
  if (group === undefined || shifted.length === 0) return [];
  const ids = shifted.map((user) => user.id).sort((a, b) => a - b);
  const channels = channelsVisibleTo(after, group.id).map((channel) => channel.id);
  const visibility = channelVisibility(before, after, channels, ids);
  const isGaining = (user: UserRecord) => isFull(after, user);
  const memberEvent = (op: "add_members" | "remove_members", users: readonly UserRecord[]) =>
    users.length === 0
      ? []
      : [
          effects.emit(
            "user_group",
            { op, group_id: group.id, user_ids: users.map((user) => user.id).sort((a, b) => a - b) },
            { to: "realm" },
          ),
        ];
  return [
    ...visibility.vanishing,
    ...memberEvent(
      "remove_members",
      shifted.filter((user) => !isGaining(user)),
    ),
    ...memberEvent("add_members", shifted.filter(isGaining)),
    ...visibility.appearing,
  ];
}

export const waitingPeriodDecisions = {
  "realm.end-waiting-periods": forServer(endWaitingPeriods),
} as const;
