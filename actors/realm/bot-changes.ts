/** PATCH /bots/{bot_id}: atomic, with one event per property that changed. */

import { shownDefaults } from "../../domain/bots.ts";
import { apiEmail, avatarUrl } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { BotRecord, BotServiceRecord, BotUpdate } from "../../schemas/bots.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { type Role, roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { botEvent } from "../rules/bot-events.ts";
import { refuseNameInUse, refuseTooMany } from "./bot-admission.ts";
import { accessBot, defaultsOf } from "./bots.ts";
import { roleEffects } from "./user-roles.ts";

export function updateBot(caller: UserRecord, params: Params<"bot.update">, view: View): Outcome {
  const bot = accessBot(view, caller, params.botId);
  if (isRefusal(bot)) return bot;
  const account = wantedAccount(view, caller, bot, params);
  if (isRefusal(account)) return account;
  const record = view.row("bots", bot.id) ?? noRecord(bot.id);
  const defaults = defaultsOf(view, caller, record, params);
  if (isRefusal(defaults)) return defaults;
  const service = view.row("botServices", bot.id) ?? null;
  const wanted = wantedService(service, params);
  if (isRefusal(wanted)) return wanted;
  return done(answerOf(view, account, { defaults, service: wanted, viewer: caller ?? account }), [
    ...accountEffects(view, bot, account),
    ...defaultsEffects(view, account, record, defaults),
    ...serviceEffects(view, account, service, wanted),
  ]);
}

interface Changed {
  readonly defaults: BotRecord;
  readonly service: BotServiceRecord | null;
  readonly viewer: UserRecord;
}

/** The bot after the change. */
function answerOf(view: View, bot: UserRecord, { defaults, service, viewer }: Changed) {
  const owner = view.users.get(bot.botOwnerId ?? 0);
  return {
    full_name: bot.fullName,
    avatar_url: avatarUrl(bot, false),
    service_interface: service?.interfaceType ?? null,
    service_payload_url: service?.payloadUrl ?? null,
    bot_owner: owner === undefined ? "" : apiEmail(owner),
    ...shownDefaults(view, defaults, viewer),
  };
}

function noRecord(userId: UserId): BotRecord {
  return { userId, defaultSendingChannelId: null, defaultEventsChannelId: null, isAllPublicByDefault: false };
}

function wantedAccount(
  view: View,
  caller: UserRecord | null,
  bot: UserRecord,
  params: BotUpdate,
): UserRecord | Refusal {
  const fullName = params.fullName ?? bot.fullName;
  const role = (params.role ?? bot.role) as Role; // The route accepts only valid roles.
  const botOwnerId = params.ownerId ?? bot.botOwnerId;
  const refused =
    (fullName === bot.fullName ? null : refuseNameInUse(view, fullName)) ??
    (role === bot.role ? null : refuseRole(caller, bot.role, role)) ??
    (botOwnerId === null || botOwnerId === bot.botOwnerId ? null : refuseOwner(view, botOwnerId));
  return refused ?? { ...bot, fullName, role, botOwnerId };
}

/** Only owners grant and revoke the owner role; administrators change the others (behaviour 2.8). */
function refuseRole(caller: UserRecord | null, before: Role, after: Role): Refusal | null {
  if (caller === null) return null;
  if ((before === roles.owner || after === roles.owner) && caller.role !== roles.owner) return refuse.ownerRequired();
  return isAdministrator(caller) ? null : refuse.administratorRequired();
}

function refuseOwner(view: View, ownerId: UserId): Refusal | null {
  const owner = view.users.get(ownerId);
  if (owner === undefined) return refuse.badRequest("Failed to change owner, no such user");
  if (!owner.isActive) return refuse.badRequest("Failed to change owner, user is deactivated");
  if (owner.botType !== null) return refuse.badRequest("Failed to change owner, bots can't own other bots");
  return refuseTooMany(view, ownerId);
}

function accountEffects(view: View, before: UserRecord, after: UserRecord): Effect[] {
  const all: Effect[] = [];
  const eventForAll = (field: { readonly full_name: string } | { readonly bot_owner_id: number | null }) =>
    all.push(effects.emit("realm_user", { op: "update", person: { user_id: after.id, ...field } }, { to: "realm" }));
  if (after.role !== before.role) all.push(...roleEffects(view, before, { ...before, role: after.role }));
  if (after.fullName !== before.fullName) {
    eventForAll({ full_name: after.fullName });
    all.push(botEvent(view, after, { op: "update", field: "full_name" }));
  }
  if (after.botOwnerId !== before.botOwnerId) {
    all.push(...ownerEvents(view, before, after));
    eventForAll({ bot_owner_id: after.botOwnerId });
  }
  return all.length === 0 ? [] : [effects.put("users", after.id, after), ...all];
}

/**
 * Administrators receive an update. The old and new owner, if they are not administrators, receive a delete and an add.
 */
function ownerEvents(view: View, before: UserRecord, after: UserRecord): Effect[] {
  const members = [before.botOwnerId, after.botOwnerId].flatMap((id) => {
    const owner = id === null ? undefined : view.users.get(id);
    return owner === undefined || isAdministrator(owner) ? [] : [owner.id];
  });
  const ownerEvent = (op: "delete" | "add", id: number | null) =>
    id !== null && members.includes(id)
      ? [effects.emit("realm_bot", { op, user_id: after.id }, { to: "users", ids: [id] })]
      : [];
  return [
    ...ownerEvent("delete", before.botOwnerId),
    ...ownerEvent("add", after.botOwnerId),
    botEvent(view, after, { op: "update", field: "owner_id" }, members),
  ];
}

/** API field names of a bot's defaults, with the properties that store them. */
const defaultFields = [
  ["default_sending_stream", "defaultSendingChannelId"],
  ["default_events_register_stream", "defaultEventsChannelId"],
  ["default_all_public_streams", "isAllPublicByDefault"],
] as const;

function defaultsEffects(view: View, bot: UserRecord, before: BotRecord, after: BotRecord): Effect[] {
  const changed = defaultFields.filter(([, stored]) => before[stored] !== after[stored]);
  if (changed.length === 0) return [];
  return [
    effects.put("bots", bot.id, after),
    ...changed.map(([field]) => botEvent(view, bot, { op: "update", field })),
  ];
}

function wantedService(
  before: BotServiceRecord | null,
  { payloadUrl, interfaceType }: BotUpdate,
): BotServiceRecord | null | Refusal {
  if (before === null) {
    return payloadUrl === null ? null : refuse.badRequest("Only outgoing webhook bots have a payload URL");
  }
  return {
    ...before,
    payloadUrl: payloadUrl ?? before.payloadUrl,
    interfaceType: interfaceType ?? before.interfaceType,
  };
}

function serviceEffects(
  view: View,
  bot: UserRecord,
  before: BotServiceRecord | null,
  after: BotServiceRecord | null,
): Effect[] {
  if (before === null || after === null) return [];
  if (after.payloadUrl === before.payloadUrl && after.interfaceType === before.interfaceType) return [];
  return [effects.put("botServices", bot.id, after), botEvent(view, bot, { op: "update", field: "services" })];
}

export const botChangesDecisions = {
  "bot.update": forUser(updateBot),
} as const;
