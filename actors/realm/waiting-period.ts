/**
 * Members are full members once the organization's waiting period is over (spec 3; behaviour 3.1). What they may follows from
 * the time alone; that clients learn of it is done here, by durable timers (M8): `user_group` events, and the private channels
 * that full members know of. Until when it was told is a counter: so a timer that comes late, or again, tells all and only what
 * is new, and whoever tells sets the timer for the next one.
 */
import type { SystemGroupName } from "../../schemas/group-settings.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { isInSystemGroup, waitingPeriodMs } from "../../src/domain/permissions.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { channelSight, channelsKnownBy } from "./channel-sight.ts";

const fullMembers: SystemGroupName = "role:fullmembers";

/** A timer: waiting periods may be over. */
export function endWaitingPeriods(
  _context: unknown,
  _command: Command<"realm.end-waiting-periods">,
  view: View,
): Outcome {
  const before = lastTold(view);
  const ended = [...view.users.all()].some((user) => endOf(view, user) > before.now && endOf(view, user) <= view.now);
  return done({}, ended ? [...toldEffects(before, view), effects.count(counter, view.now), ...nextTimer(view)] : []);
}

/** The organization has another waiting period: who is a full member by it, or is not any more. */
export function waitingPeriodEffects(view: View, after: View): Effect[] {
  return [...toldEffects(lastTold(view), after), effects.count(counter, view.now), ...nextTimer(after)];
}

/** Somebody new will be a full member later. */
export function waitingEffects(view: View, user: UserRecord): Effect[] {
  return endOf(view, user) > view.now ? [timerAt(endOf(view, user))] : [];
}

const counter = "waitingPeriodsEnded";

/** The view as clients know it: without a waiting period nothing is ever waited for. */
function lastTold(view: View): View {
  return waitingPeriodMs(view) === 0 ? view : supposing(view, { now: view.counter(counter) });
}

/** When the account is no longer new; milliseconds. */
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

/** Who has lost a channel is told first, who has gained one last. */
function toldEffects(before: View, after: View): Effect[] {
  const group = after.groups.system(fullMembers);
  const isFull = (view: View, user: UserRecord) => isInSystemGroup(view, user, fullMembers);
  const shifted = [...after.users.all()].filter(
    (user) => user.isActive && user.role === roles.member && isFull(before, user) !== isFull(after, user),
  );
  if (group === undefined || shifted.length === 0) return [];
  const ids = shifted.map((user) => user.id).sort((a, b) => a - b);
  const channels = channelsKnownBy(after, group.id).map((channel) => channel.id);
  const sight = channelSight(before, after, channels, ids);
  const isGaining = (user: UserRecord) => isFull(after, user);
  const told = (op: "add_members" | "remove_members", users: readonly UserRecord[]) =>
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
    ...sight.vanishing,
    ...told(
      "remove_members",
      shifted.filter((user) => !isGaining(user)),
    ),
    ...told("add_members", shifted.filter(isGaining)),
    ...sight.appearing,
  ];
}
