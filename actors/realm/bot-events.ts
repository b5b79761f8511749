/** `realm_bot` events: only who administers the bot is told (public API). */
import type { UserRecord } from "../../schemas/records.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

/** What happened to a bot, by reference: the values are read where it is told (realtime/bot-events.ts). */
export interface BotChange {
  readonly op: "add" | "update" | "delete";
  /** The field of the bot's record that has another value now. */
  readonly field?: string;
}

/** For the owner and administrators. @param except who is told in another way */
export function botEvent(view: View, bot: UserRecord, change: BotChange, except: readonly number[] = []): Effect {
  const ids = administratorsOf(view, bot).filter((id) => !except.includes(id));
  return effects.emit("realm_bot", { ...change, user_id: bot.id }, { to: "users", ids });
}

function administratorsOf(view: View, bot: UserRecord): number[] {
  const administrators = [...view.users.all()].filter((user) => user.isActive && isAdministrator(user));
  const ids = new Set(administrators.map((user) => user.id));
  if (bot.botOwnerId !== null) ids.add(bot.botOwnerId);
  return [...ids].sort((a, b) => a - b);
}

/** For changes that are made to bots as to people: nothing for people. */
export function botUpdates(view: View, user: UserRecord, fields: readonly string[]): Effect[] {
  return user.botType === null ? [] : fields.map((field) => botEvent(view, user, { op: "update", field }));
}
