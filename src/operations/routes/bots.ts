/**
 * Bots (public API: /bots). Parameters are checked and keys and tokens generated here; the realm actor decides the
 * rest.
 */
import { command } from "../../../actors/protocol/decision.ts";
import { botAddress, botDomain, shownDefaults } from "../../../domain/bots.ts";
import { avatarUrl } from "../../../domain/people.ts";
import { checkCharacters, checkFullName } from "../../../domain/text.ts";
import { isWebAddress } from "../../../domain/urls.ts";
import {
  botTypes,
  createBot,
  deactivateBot,
  getBotKey,
  getBots,
  regenerateBotKey,
  updateBot,
  webhookInterfaces,
} from "../../../schemas/bots.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { roles } from "../../../schemas/types.ts";
import { ownBots } from "../../queries/bots.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, callerNow, requireCaller } from "../calls.ts";
import { hashApiKey } from "../identity/authentication.ts";
import { newSecret } from "../identity/secrets.ts";

type CreateParams = ParamsOf<typeof createBot>;
type UpdateParams = ParamsOf<typeof updateBot>;

const realmActor = { actor: "realm" } as const;

export const botRoutes = [
  bind(createBot, (call) => create(call)),

  bind(getBots, (call) => ok({ bots: ownBots(call.realm.view, requireCaller(call)) })),

  bind(updateBot, (call) => update(call)),

  bind(deactivateBot, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "bot.deactivate", { botId: call.params.bot_id }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(regenerateBotKey, async (call) => {
    const key = newSecret();
    const params = { botId: call.params.bot_id, apiKeyHash: hashApiKey(key) };
    const made = await call.realm.dispatcher.ask(
      command(realmActor, "bot.regenerate-key", params, requireCaller(call).id),
    );
    return made.kind === "ok" ? ok({ api_key: key }) : made;
  }),

  bind(getBotKey, async (call) => {
    const key = newSecret();
    const params = { botId: call.params.bot_id, apiKeyHash: hashApiKey(key) };
    const made = await call.realm.dispatcher.ask(command(realmActor, "bot.add-key", params, requireCaller(call).id));
    return made.kind === "ok" ? ok({ api_key: key }) : made;
  }),
];

async function create(call: Call<CreateParams>) {
  const { params, realm } = call;
  const caller = requireCaller(call);
  const fullName = params.full_name.trim();
  const shortName = params.short_name.trim();
  const email = botAddress(shortName, botDomain(call.siteUrl));
  if (email === null) return refuse.badRequest("Bad name or username");
  const refused =
    checkFullName(fullName, limits.full_name_code_points_max) ??
    checkCharacters("service_name", params.service_name ?? "") ??
    refuseType(params) ??
    refuseInterface(params.interface_type) ??
    refuseUrl("payload_url", params.payload_url);
  if (refused !== null) return refused;

  const key = newSecret();
  const made = await realm.dispatcher.ask(
    command(
      realmActor,
      "bot.create",
      {
        email,
        fullName,
        botType: params.bot_type,
        apiKeyHash: hashApiKey(key),
        service:
          params.bot_type !== botTypes.outgoingWebhook
            ? null
            : {
                name: params.service_name?.trim() || shortName,
                payloadUrl: params.payload_url ?? "",
                interfaceType: params.interface_type,
                token: newSecret(),
              },
        defaultSendingChannel: params.default_sending_stream ?? null,
        defaultEventsChannel: params.default_events_register_stream ?? null,
        isAllPublicByDefault: params.default_all_public_streams ?? false,
      },
      caller.id,
    ),
  );
  if (made.kind === "refused") return made;
  const bot = realm.view.users.get(made.answer.user_id);
  if (bot === undefined) throw new Error("a bot that was just created is missing");
  return ok({
    user_id: bot.id,
    email,
    api_key: key,
    avatar_url: avatarUrl(bot, false),
    ...shownDefaults(realm.view, realm.view.row("bots", bot.id), callerNow(call)),
  });
}

/** Integrations and embedded bots are programs shipped with a server; Colloquy ships none. */
function refuseType(params: CreateParams): Refusal | null {
  const { bot_type: type, service_name: service } = params;
  if (type === botTypes.embedded) return refuse.badRequest("Embedded bots are not enabled.");
  if (!isOneOf(botTypes, type)) return refuse.badRequest("Invalid bot type");
  if (type === botTypes.incomingWebhook && service !== undefined && service !== "") {
    return refuse.badRequest(`Invalid integration '${service}'.`);
  }
  return type === botTypes.outgoingWebhook && params.payload_url === undefined ? refuse.missing("payload_url") : null;
}

function refuseInterface(type: number | undefined): Refusal | null {
  return type === undefined || isOneOf(webhookInterfaces, type) ? null : refuse.badRequest("Invalid interface type");
}

function refuseUrl(name: string, url: string | undefined): Refusal | null {
  return url === undefined || isWebAddress(url) ? null : refuse.badRequest(`${name} is not a URL`);
}

function refuseRole(role: number | undefined): Refusal | null {
  return role === undefined || isOneOf(roles, role) ? null : refuse.badRequest("Invalid role");
}

function isOneOf(table: Readonly<Record<string, number>>, value: number): boolean {
  return Object.values(table).includes(value);
}

function update(call: Call<UpdateParams>) {
  const { params, realm } = call;
  const caller = requireCaller(call);
  const fullName = params.full_name?.trim() ?? null;
  const refused =
    (fullName === null ? null : checkFullName(fullName, limits.full_name_code_points_max)) ??
    refuseRole(params.role) ??
    refuseUrl("service_payload_url", params.service_payload_url) ??
    refuseInterface(params.service_interface);
  if (refused !== null) return refused;
  return realm.dispatcher.ask(
    command(
      realmActor,
      "bot.update",
      {
        botId: params.bot_id,
        fullName,
        role: params.role ?? null,
        ownerId: params.bot_owner_id ?? null,
        payloadUrl: params.service_payload_url ?? null,
        interfaceType: params.service_interface ?? null,
        defaultSendingChannel: params.default_sending_stream ?? null,
        defaultEventsChannel: params.default_events_register_stream ?? null,
        isAllPublicByDefault: params.default_all_public_streams ?? null,
      },
      caller.id,
    ),
    call.idempotencyKey,
  );
}
