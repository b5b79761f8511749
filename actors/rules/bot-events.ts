/** `realm_bot` events: sent only to users who may administer the bot (public API). */

import type { View } from "../../domain/view.ts";
import type { BotField } from "../../schemas/bots.ts";
import type { ChannelId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { administratorsAnd } from "./user-events.ts";
import { endQueues } from "./user-visibility.ts";

/**
 * A change of a bot. The event refers to the bot; its values are read when it is delivered (realtime/bot-events.ts).
 */
export type BotChange = { readonly op: "add" | "delete" } | { readonly op: "update"; readonly field: BotField };

/** API field names of a bot's default channels, with the properties that store them. */
const defaultFields = [
  ["default_sending_stream", "defaultSendingChannelId"],
  ["default_events_register_stream", "defaultEventsChannelId"],
] as const;

/**
 * Sent to the owner and to administrators.
 * @param except users who receive another event instead
 */
export function botEvent(view: View, bot: UserRecord, change: BotChange, except: readonly number[] = []): Effect {
  const ids = administratorsAnd(view, bot.botOwnerId).filter((id) => !except.includes(id));
  return effects.emit("realm_bot", { ...change, user_id: bot.id }, { to: "users", ids });
}

/** After a channel was renamed: bot records contain the names of their default channels (OpenAPI, Bot). */
export function defaultsRenamed(view: View, channelId: ChannelId): Effect[] {
  const named = [...view.bots.all()].flatMap((id) => {
    const [bot, record] = [view.users.get(id), view.row("bots", id)];
    if (bot === undefined || record === undefined) return [];
    return defaultFields.flatMap(([field, stored]) => (record[stored] === channelId ? [{ bot, field }] : []));
  });
  if (named.length <= limits.visibility_events_max) {
    return named.map(({ bot, field }) => botEvent(view, bot, { op: "update", field }));
  }
  // A user who would receive too many events loses their queues instead, so that their clients register again.
  const concerned = new Set(named.flatMap(({ bot }) => administratorsAnd(view, bot.botOwnerId)));
  return [...concerned].sort((a, b) => a - b).flatMap((id) => endQueues(view, id));
}

/**
 * After channels became visible or invisible to bot owners: their bots' records show or hide the channel names (S1).
 * Administrators, who see other users' bots, can see every channel.
 */
export function visibleDefaults(view: View, channelIds: readonly ChannelId[], ownerIds: readonly number[]): Effect[] {
  const concerned = new Set(channelIds);
  const named = ownerIds.flatMap((ownerId) =>
    [...view.bots.ofOwner(ownerId)].flatMap((id) => {
      const [bot, record] = [view.users.get(id), view.row("bots", id)];
      if (bot === undefined || record === undefined) return [];
      return defaultFields.flatMap(([field, stored]) => (concerned.has(record[stored] ?? 0) ? [{ bot, field }] : []));
    }),
  );
  if (named.length > limits.visibility_events_max) {
    const owners = new Set(named.map(({ bot }) => bot.botOwnerId ?? 0));
    return [...owners].sort((a, b) => a - b).flatMap((id) => endQueues(view, id));
  }
  return named.map(({ bot, field }) =>
    effects.emit("realm_bot", { op: "update", field, user_id: bot.id }, { to: "users", ids: [bot.botOwnerId ?? 0] }),
  );
}

/** Events for changes that apply to users and bots alike; none for human users. */
export function botUpdates(view: View, user: UserRecord, fields: readonly BotField[]): Effect[] {
  return user.botType === null ? [] : fields.map((field) => botEvent(view, user, { op: "update", field }));
}
