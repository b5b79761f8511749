/**
 * Bots as seen by their owners and administrators: GET /bots, `realm_bots` of POST /register, `realm_bot` events. A key
 * is shown only when it is created (S2), so `api_key` is "" here, for clients that require a string.
 */

import { shownDefaults } from "../../domain/bots.ts";
import { avatarUrl } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { botTypes } from "../../schemas/bots.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** The bot object (OpenAPI, Bot). */
export function botBody(view: View, bot: UserRecord, viewer: UserRecord) {
  const service = view.row("botServices", bot.id);
  return {
    user_id: bot.id,
    email: bot.email,
    full_name: bot.fullName,
    bot_type: bot.botType,
    is_active: bot.isActive,
    api_key: "" as const,
    avatar_url: avatarUrl(bot, false),
    owner_id: bot.botOwnerId,
    ...shownDefaults(view, view.row("bots", bot.id), viewer),
    services:
      service === undefined
        ? []
        : [{ base_url: service.payloadUrl, interface: service.interfaceType, token: service.token }],
  };
}

function botsById(view: View, ids: Iterable<number>): UserRecord[] {
  return [...ids].sort((a, b) => a - b).flatMap((id) => view.users.get(id) ?? []);
}

/** GET /bots: the caller's active bots. */
export function ownBots(view: View, caller: UserRecord) {
  return botsById(view, view.bots.ofOwner(caller.id))
    .filter((bot) => bot.isActive)
    .map((bot) => ({
      user_id: bot.id,
      username: bot.email,
      full_name: bot.fullName,
      bot_type: bot.botType ?? botTypes.generic,
      api_key: "" as const,
      avatar_url: avatarUrl(bot, false),
      ...shownDefaults(view, view.row("bots", bot.id), caller),
    }));
}

/** `realm_bots`: all bots for administrators, the user's own for others; deactivated ones included. */
export const botsState: Section<"realm_bot"> = (view, user) => {
  const ids = isAdministrator(user) ? view.bots.all() : view.bots.ofOwner(user.id);
  return { realm_bots: botsById(view, ids).map((bot) => botBody(view, bot, user)) };
};
