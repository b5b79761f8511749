/** Rows of subscriptions as somebody joins and leaves: stays decide what was received (architecture, Who received what). */
import type { Stay, SubscriptionRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";

/** Colours that a person's subscriptions take in turn; the last one serves when all are used. */
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

/** Older stays are merged into one that covers them when there are more. */
const stays_max = 50;

function pickColor(view: View, userId: number): string {
  const used = new Set<string>();
  for (const own of view.subscriptions.ofUser(userId)) {
    used.add(own.color);
    if (used.size >= colors.length) return colorFallback;
  }
  return colors.find((color) => !used.has(color)) ?? colorFallback;
}

/** The row of somebody who joins now: a new stay, and what they had set before if they come back. */
export function newSubscription(
  view: View,
  userId: number,
  channelId: number,
  color: string | null,
): SubscriptionRecord {
  const stay = newStay(view);
  const before = view.subscriptions.get(userId, channelId);
  if (before !== undefined) return { ...before, isActive: true, stays: boundStays([...before.stays, stay]) };
  return {
    userId,
    channelId,
    isActive: true,
    color: color ?? pickColor(view, userId),
    isMuted: false,
    pinToTop: false,
    notifications: [null, null, null, null, null],
    stays: [stay],
  };
}

function newStay(view: View): Stay {
  return {
    joinedAtPosition: view.position,
    joinedAfterId: view.counter("message"),
    leftAtPosition: null,
    leftAtId: null,
  };
}

/** The row of somebody who leaves now. */
export function endSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  return { ...pauseSubscription(view, subscription), isActive: false };
}

/** The row of somebody who is deactivated: the subscription stays, what is written meanwhile was not received. */
export function pauseSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  const stays = subscription.stays.map((stay) =>
    stay.leftAtPosition === null ? { ...stay, leftAtPosition: view.position, leftAtId: view.counter("message") } : stay,
  );
  return { ...subscription, stays };
}

/** The row of somebody who is active again. */
export function resumeSubscription(view: View, subscription: SubscriptionRecord): SubscriptionRecord {
  return { ...subscription, stays: boundStays([...subscription.stays, newStay(view)]) };
}

/** Keeps the newest stays; what was received before the oldest kept one is forgotten, never widened (S1). */
function boundStays(stays: readonly Stay[]): readonly Stay[] {
  return stays.length <= stays_max ? stays : stays.slice(-stays_max);
}
