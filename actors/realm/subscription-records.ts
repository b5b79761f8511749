/**
 * Subscription rows when a user subscribes or unsubscribes. Their subscription periods determine which messages the
 * user received (architecture, Received messages).
 */

import type { View } from "../../domain/view.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import type { SubscriptionPeriod, SubscriptionRecord } from "../../schemas/subscriptions.ts";

/** Colors assigned in turn to a user's subscriptions; the last one is used when all are taken. */
const colors = [
  "#76ce90",
  "#fae589",
  "#a6c7e5",
  "#e79ab5",
  "#bfd56f",
  "#f4ae55",
  "#b0a5fd",
  "#addfe5",
  "#f5ce6e",
  "#c2726a",
  "#94c849",
  "#bd86e5",
  "#ee7e4a",
  "#a6dcbf",
  "#95a5fd",
  "#53a063",
  "#9987e1",
  "#e4523d",
  "#c2c2c2",
] as const;
const colorFallback = "#c2c2c2";

/** Bound on the stays per subscription; the oldest are dropped. */
const periods_max = 50;

function pickColor(view: View, userId: UserId): string {
  const used = new Set<string>();
  for (const own of view.subscriptions.ofUser(userId)) {
    used.add(own.color);
    if (used.size >= colors.length) return colorFallback;
  }
  return colors.find((color) => !used.has(color)) ?? colorFallback;
}

/** The row of a user who subscribes now: a new stay, and the previous settings if there are any. */
export function newSubscription(
  view: View,
  userId: UserId,
  channelId: ChannelId,
  color: string | null,
): SubscriptionRecord {
  const period = newPeriod(view);
  const before = view.subscriptions.get(userId, channelId);
  if (before !== undefined) return { ...before, isActive: true, periods: boundPeriods([...before.periods, period]) };
  return {
    userId,
    channelId,
    isActive: true,
    color: color ?? pickColor(view, userId),
    isMuted: false,
    pinToTop: false,
    notifications: [null, null, null, null, null],
    periods: [period],
  };
}

function newPeriod(view: View): SubscriptionPeriod {
  return {
    joinedAtPosition: view.position,
    joinedAfterId: view.counter("message"),
    leftAtPosition: null,
    leftAtId: null,
  };
}

/** The row of a user who unsubscribes now. */
export function endSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  return { ...pauseSubscription(view, subscription), isActive: false };
}

/** The row of a deactivated user: the subscription is kept, but messages sent meanwhile are not received. */
export function pauseSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  const periods = subscription.periods.map((period) =>
    period.leftAtPosition === null
      ? { ...period, leftAtPosition: view.position, leftAtId: view.counter("message") }
      : period,
  );
  return { ...subscription, periods };
}

/** The row of a reactivated user. */
export function resumeSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  return { ...subscription, periods: boundPeriods([...subscription.periods, newPeriod(view)]) };
}

/**
 * Keeps the newest stays. Messages received before the oldest kept stay become inaccessible; access is never widened
 * (S1).
 */
function boundPeriods(periods: readonly SubscriptionPeriod[]): readonly SubscriptionPeriod[] {
  return periods.length <= periods_max ? periods : periods.slice(-periods_max);
}
