/**
 * Bots: accounts with an owner and API keys, but without a password (public API as its web client uses it: /bots). Only
 * the owner and administrators can change a bot and see its private settings.
 */

import { canAdministerBot, isOwnedBot } from "../../domain/bots.ts";
import { hasContentAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { BotRecord } from "../../schemas/bots.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { furtherKey, newApiKey, replaceKeys } from "../rules/api-keys.ts";
import { botEvent } from "../rules/bot-events.ts";
import { refuseCaller, refuseCreation, refuseNameInUse } from "./bot-admission.ts";
import { newUser } from "./realm-creation.ts";
import { deactivationEffects } from "./user-deactivation.ts";
import { joinedGroupEvents } from "./user-groups.ts";
import { waitingEffects } from "./waiting-period.ts";

/** POST /bots. The caller becomes the owner; name and address must be unused. */
export function createBot(caller: UserRecord, params: Params<"bot.create">, view: View): Outcome {
  const refused = refuseCreation(view, caller, params.botType) ?? refuseInUse(view, params);
  if (refused !== null) return refused;
  const id = view.counter("user") + 1;
  const record = defaultsOf(view, caller, { ...noDefaults, userId: id }, params);
  if (isRefusal(record)) return record;
  const { email, fullName, service } = params;
  const account = newUser({ id, email, fullName, role: roles.member, now: view.now });
  const bot: UserRecord = { ...account, botType: params.botType, botOwnerId: caller.id };
  return done({ user_id: id }, [
    effects.setCounter("user", id),
    effects.put("users", id, bot),
    effects.put("bots", id, record),
    ...(service === null
      ? []
      : [
          effects.put("botServices", id, {
            userId: id,
            serviceName: service.name,
            payloadUrl: service.payloadUrl,
            interfaceType: service.interfaceType,
            token: service.token,
          }),
        ]),
    effects.put("apiKeys", params.apiKeyHash, newApiKey(view, id, params.apiKeyHash, "kept")),
    effects.emit("realm_user", { op: "add", user_id: id }, { to: "realm" }),
    ...joinedGroupEvents(view, bot),
    ...waitingEffects(view, bot),
    botEvent(view, bot, { op: "add" }),
  ]);
}

function refuseInUse(view: View, { email, fullName }: { email: string; fullName: string }): Refusal | null {
  if (view.users.byEmail(email) !== undefined) return refuse.badRequest("Username already in use");
  return refuseNameInUse(view, fullName);
}

const noDefaults = { defaultSendingChannelId: null, defaultEventsChannelId: null, isAllPublicByDefault: false };

interface WantedDefaults {
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean | null;
}

/**
 * A bot's defaults after the change. The caller needs access to the channels (S1). null keeps a value, "" clears it.
 */
export function defaultsOf(
  view: View,
  caller: UserRecord,
  before: BotRecord,
  wanted: WantedDefaults,
): BotRecord | Refusal {
  const sending = channelNamed(view, caller, wanted.defaultSendingChannel, before.defaultSendingChannelId);
  if (typeof sending === "object" && sending !== null) return sending;
  const events = channelNamed(view, caller, wanted.defaultEventsChannel, before.defaultEventsChannelId);
  if (typeof events === "object" && events !== null) return events;
  return {
    userId: before.userId,
    defaultSendingChannelId: sending,
    defaultEventsChannelId: events,
    isAllPublicByDefault: wanted.isAllPublicByDefault ?? before.isAllPublicByDefault,
  };
}

function channelNamed(
  view: View,
  caller: UserRecord,
  name: string | null,
  before: number | null,
): number | null | Refusal {
  if (name === null) return before;
  if (name.trim() === "") return null;
  const channel = view.channels.byName(name.trim());
  const isOpen = channel !== undefined && !channel.isArchived && hasContentAccess(view, caller, channel);
  return isOpen ? channel.id : refuse.badRequest(`Invalid channel name '${name}'`);
}

/** Returns the bot if the caller may change it. */
export function accessBot(view: View, caller: UserRecord, botId: UserId): UserRecord | Refusal {
  const refused = refuseCaller(caller);
  if (refused !== null) return refused;
  const bot = view.users.get(botId);
  if (bot === undefined || !isOwnedBot(bot)) return refuse.badRequest("No such bot");
  return canAdministerBot(caller, bot) ? bot : refuse.insufficientPermission();
}

/** DELETE /bots/{bot_id}. Has no effect on a bot that is already deactivated. */
export function deactivateBot(caller: UserRecord, params: Params<"bot.deactivate">, view: View): Outcome {
  const bot = accessBot(view, caller, params.botId);
  if (isRefusal(bot)) return bot;
  return done({}, bot.isActive ? deactivationEffects(view, bot) : []);
}

/** POST /bots/{bot_id}/api_key/regenerate: the turn that creates the new key invalidates the old one. */
export function regenerateBotKey(caller: UserRecord, params: Params<"bot.regenerate-key">, view: View): Outcome {
  const bot = accessBot(view, caller, params.botId);
  if (isRefusal(bot)) return bot;
  return done({}, replaceKeys(view, bot.id, params.apiKeyHash));
}

/**
 * GET /bots/{bot_id}/api_key: existing keys cannot be shown again because only hashes are stored (S2), so the bot gets
 * one more key.
 */
export function addBotKey(caller: UserRecord, params: Params<"bot.add-key">, view: View): Outcome {
  const bot = accessBot(view, caller, params.botId);
  if (isRefusal(bot)) return bot;
  return done({}, furtherKey(view, bot.id, params.apiKeyHash));
}

export const botsDecisions = {
  "bot.create": forUser(createBot),
  "bot.deactivate": forUser(deactivateBot),
  "bot.regenerate-key": forUser(regenerateBotKey),
  "bot.add-key": forUser(addBotKey),
} as const;
