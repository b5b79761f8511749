/** How long messages are kept (spec 2.4; public API, message retention policy). */
import type { ChannelRecord } from "../schemas/channels.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Days for which the organization keeps messages; null means forever. */
export function realmRetentionDays(view: Pick<View, "realm">): number | null {
  return limited(realmSetting(view, "message_retention_days"));
}

/** The channel's own limit, or else the organization's, which also applies to direct messages. */
export function channelRetentionDays(view: Pick<View, "realm">, channel: ChannelRecord): number | null {
  return channel.messageRetentionDays === null ? realmRetentionDays(view) : limited(channel.messageRetentionDays);
}

function limited(days: number): number | null {
  return days > 0 ? days : null;
}

/** The first moment at which a message is older than this many days, one millisecond after they have passed. */
export function expiryOf(sentAt: number, days: number): number {
  return sentAt + days * dayMs + 1;
}
