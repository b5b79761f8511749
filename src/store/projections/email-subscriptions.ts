/** The users who want emails about every message in a channel, so that a post does not check each subscriber. */

import { type SubscriptionRecord, subscriptionNotificationNames } from "../../../schemas/subscriptions.ts";
import { userSetting } from "../../../schemas/user-settings.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

const emailIndex = subscriptionNotificationNames.indexOf("email_notifications");
const nobody: ReadonlySet<number> = new Set();

export class EmailSubscriptionsProjection implements Projection {
  readonly tables = ["subscriptions", "users"] as const;
  readonly #everywhere = new Set<number>();
  readonly #byChannel = new Map<number, Set<number>>();

  apply(delta: Delta<"subscriptions" | "users">): void {
    if (delta.table === "users") this.#applyUser(delta.key, delta.row);
    else this.#applySubscription(delta.key, delta.row);
  }

  #applyUser(id: number, user: UserRecord | null): void {
    if (user !== null && userSetting(user, "enable_stream_email_notifications")) this.#everywhere.add(id);
    else this.#everywhere.delete(id);
  }

  #applySubscription([channelId, userId]: readonly [number, number], row: SubscriptionRecord | null): void {
    const people = this.#byChannel.get(channelId);
    if (row?.isActive === true && row.notifications[emailIndex] === true) {
      if (people === undefined) this.#byChannel.set(channelId, new Set([userId]));
      else people.add(userId);
    } else if (people?.delete(userId) === true && people.size === 0) this.#byChannel.delete(channelId);
  }

  get everywhere(): ReadonlySet<number> {
    return this.#everywhere;
  }

  inChannel(channelId: number): ReadonlySet<number> {
    return this.#byChannel.get(channelId) ?? nobody;
  }

  snapshot(): unknown {
    const byChannel = sortedEntries(this.#byChannel).map(([id, people]) => [id, sortedNumbers(people)]);
    return { everywhere: sortedNumbers(this.#everywhere), byChannel };
  }
}
