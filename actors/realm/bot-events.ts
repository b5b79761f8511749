/** `realm_bot` events: only who administers the bot is told (public API). */
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { administratorsAnd } from "../people-events.ts";
import { endQueues } from "./user-sight.ts";

/** What happened to a bot, by reference: the values are read where it is told (realtime/bot-events.ts). */
export interface BotChange {
  readonly op: "add" | "update" | "delete";
  /** The field of the bot's record that has another value now. */
  readonly field?: string;
}

/** Fields of the bot's record that name a channel, by what stores them. */
const defaultFields = [
  ["default_sending_stream", "defaultSendingChannelId"],
  ["default_events_register_stream", "defaultEventsChannelId"],
] as const;

/** For the owner and administrators. @param except who is told in another way */
export function botEvent(view: View, bot: UserRecord, change: BotChange, except: readonly number[] = []): Effect {
  const ids = administratorsAnd(view, bot.botOwnerId).filter((id) => !except.includes(id));
  return effects.emit("realm_bot", { ...change, user_id: bot.id }, { to: "users", ids });
}

/** A channel has another name: records of bots name their default channels (OpenAPI, Bot). */
export function defaultsRenamed(view: View, channelId: number): Effect[] {
  const named = [...view.bots.all()].flatMap((id) => {
    const [bot, record] = [view.users.get(id), view.row("bots", id)];
    if (bot === undefined || record === undefined) return [];
    return defaultFields.flatMap(([field, stored]) => (record[stored] === channelId ? [{ bot, field }] : []));
  });
  if (named.length <= limits.sight_events_max) {
    return named.map(({ bot, field }) => botEvent(view, bot, { op: "update", field }));
  }
  // Who would have to be told of too many asks anew.
  const concerned = new Set(named.flatMap(({ bot }) => administratorsAnd(view, bot.botOwnerId)));
  return [...concerned].sort((a, b) => a - b).flatMap((id) => endQueues(view, id));
}

/**
 * People come to know of channels, or know of them no more: the records of their own bots name those, or do not (S1).
 * Administrators, who see other people's bots, know of every channel.
 */
export function defaultsInSight(view: View, channelIds: readonly number[], ownerIds: readonly number[]): Effect[] {
  const concerned = new Set(channelIds);
  const named = ownerIds.flatMap((ownerId) =>
    [...view.bots.ofOwner(ownerId)].flatMap((id) => {
      const [bot, record] = [view.users.get(id), view.row("bots", id)];
      if (bot === undefined || record === undefined) return [];
      return defaultFields.flatMap(([field, stored]) => (concerned.has(record[stored] ?? 0) ? [{ bot, field }] : []));
    }),
  );
  if (named.length > limits.sight_events_max) {
    const owners = new Set(named.map(({ bot }) => bot.botOwnerId ?? 0));
    return [...owners].sort((a, b) => a - b).flatMap((id) => endQueues(view, id));
  }
  return named.map(({ bot, field }) =>
    effects.emit("realm_bot", { op: "update", field, user_id: bot.id }, { to: "users", ids: [bot.botOwnerId ?? 0] }),
  );
}

/** For changes that are made to bots as to people: nothing for people. */
export function botUpdates(view: View, user: UserRecord, fields: readonly string[]): Effect[] {
  return user.botType === null ? [] : fields.map((field) => botEvent(view, user, { op: "update", field }));
}
