/** POST /register, GET and DELETE /events (docs/realtime.md, Long-poll). Sockets use the same operations. */
import { randomBytes } from "node:crypto";
import { command } from "../../../actors/protocol/decision.ts";
import { type BotQueueDefaults, botQueueDefaults } from "../../../domain/bots.ts";
import { extraTypeFor } from "../../../domain/emoji/extra-type.ts";
import { liveNarrowProblem, readNarrow, termsOf } from "../../../domain/narrow/narrow.ts";
import { canAccessAllUsers, isGuest } from "../../../domain/permissions.ts";
import { codePoints } from "../../../domain/text.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { eventTypes } from "../../../schemas/events.ts";
import { limits } from "../../../schemas/limits.ts";
import { clientCapabilities, deleteQueue, type QueueOptions } from "../../../schemas/queues.ts";
import { getEvents, registerQueue } from "../../../schemas/register.ts";
import { featureLevel, serverVersion } from "../../../schemas/server.ts";
import { bind, type Call, callerNow, requireCaller } from "../../operations/calls.ts";
import { registerState, type StateChoice, StateInPasses } from "../../queries/register-state.ts";
import type { LongSections, Sections, UploadBounds } from "../../queries/state-section.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok } from "../../runtime/results.ts";
import type { Hub } from "./hub.ts";
import { poll } from "./long-poll.ts";

export interface RealtimeRouteOptions {
  /** The sections of POST /register. */
  readonly sections: Sections;
  readonly longSections: LongSections;
  readonly hubOf: (realm: Realm) => Hub;
  /** Lifespan of a queue without a reader, unless the client asks for more. */
  readonly idleQueueTimeoutMs: number;
  readonly limitsPresence: boolean;
  /** Whether the server allows web-public channels (spec 4.3, D6). */
  readonly webPublicStreamsEnabled: boolean;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
  readonly uploads: UploadBounds;
  /** When this process began to serve, in milliseconds. */
  readonly startedAt: number;
}

type RegisterParams = ParamsOf<typeof registerQueue>;

export function realtimeRoutes(options: RealtimeRouteOptions) {
  return [
    bind(registerQueue, (call) => register(call, options)),

    bind(getEvents, (call) => {
      const { queue_id: queueId, last_event_id: lastEventId, dont_block: isImpatient } = call.params;
      const request = { queueId, lastEventId, blocks: !isImpatient };
      return poll(options.hubOf(call.realm), requireCaller(call), request, call);
    }),

    bind(deleteQueue, (call) => {
      const caller = requireCaller(call);
      return call.realm.dispatcher.ask(
        command({ actor: "user", id: caller.id }, "queue.delete", { queueId: call.params.queue_id }, caller.id),
      );
    }),
  ];
}

async function register(call: Call<RegisterParams>, options: RealtimeRouteOptions) {
  const { realm, params } = call;
  const caller = requireCaller(call);
  const queueOptions = optionsOf(params, botQueueDefaults(realm.view, caller));
  if (queueOptions.allPublicStreams && isGuest(caller)) return refuse.badRequest("User not authorized for this query");
  const narrowSize = queueOptions.narrow.flat().reduce((sum, text) => sum + codePoints(text), 0);
  if (narrowSize > limits.queue_narrow_code_points_max) {
    return refuse.badRequest(`narrow is too long (limit: ${limits.queue_narrow_code_points_max} characters)`);
  }
  const terms = termsOf(queueOptions.narrow);
  const problem = liveNarrowProblem(terms);
  if (problem !== null) return problem;
  const narrowed = readNarrow(realm.view, caller, terms);
  if (isRefusal(narrowed)) return narrowed;

  const choice = choiceOf(call, queueOptions, options);
  // Others see placeholders, which are put into the complete answer.
  const state = canAccessAllUsers(realm.view, caller) ? new StateInPasses(realm.view, caller, choice) : null;
  await state?.prepare();
  const queueId = `${realm.epoch}-${randomBytes(12).toString("hex")}`;
  const lifespanMs = Math.max(options.idleQueueTimeoutMs, (params.queue_lifespan_secs ?? 0) * 1000);
  const registered = await realm.dispatcher.ask(
    command(
      { actor: "user", id: caller.id },
      "queue.register",
      {
        queueId,
        lifespanMs,
        client: call.client,
        options: queueOptions,
        others: options.hubOf(realm).othersOf(caller.id),
      },
      caller.id,
    ),
  );
  if (registered.kind === "refused") return registered;
  // Clients that come back together would need the memory of all their answers at once (S3).
  await state?.enter();
  try {
    // The current record: a turn may have changed the caller's role or deactivated the account.
    const owner = callerNow(call);
    if (!owner.isActive) return refuse.userDeactivated();
    // There is no await from here until the state is collected: `last_event_id` and the state belong to one moment,
    // after the flush that made the queue (E2).
    const lastEventId = realm.view.position - 1;
    options.hubOf(realm).queue(queueId)?.startAt(lastEventId);
    const head = headOf(queueId, lastEventId, options);
    if (state === null || !canAccessAllUsers(realm.view, owner)) {
      return ok({ ...head, ...registerState(choice.sections, realm.view, owner, choice.types, choice.request) });
    }
    state.collect(owner);
    const fields = await state.encode(head);
    return callerNow(call).isActive ? { kind: "encoded" as const, fields, values: head } : refuse.userDeactivated();
  } finally {
    state?.leave();
  }
}

function headOf(queueId: string, lastEventId: number, { idleQueueTimeoutMs }: RealtimeRouteOptions) {
  return {
    queue_id: queueId,
    last_event_id: lastEventId,
    zulip_version: serverVersion,
    zulip_merge_base: serverVersion,
    zulip_feature_level: featureLevel,
    idle_queue_timeout_secs: Math.round(idleQueueTimeoutMs / 1000),
  };
}

function choiceOf(call: Call<RegisterParams>, queueOptions: QueueOptions, options: RealtimeRouteOptions): StateChoice {
  const { realm, params } = call;
  const { capabilities } = queueOptions;
  return {
    sections: options.sections,
    longSections: options.longSections,
    types: params.fetch_event_types ?? params.event_types ?? null,
    request: {
      clientGravatar: params.client_gravatar,
      slimPresence: params.slim_presence,
      subscriberLists: params.include_subscribers,
      presenceHistoryDays: params.presence_history_limit_days ?? limits.presence_history_days,
      allowsNullNotifications: capabilities.includes("notification_settings_null"),
      allowsEmptyTopicName: capabilities.includes("empty_topic_name"),
      takesSettingsObject: capabilities.includes("user_settings_object"),
      takesUrlTemplates: capabilities.includes("linkifier_url_template"),
      allowsIncompleteUserList: capabilities.includes("user_list_incomplete"),
      includesDeactivatedGroups: capabilities.includes("include_deactivated_groups"),
      showsArchived: capabilities.includes("archived_channels"),
      extraEmojiType: extraTypeFor(call.client),
      siteUrl: call.siteUrl,
      limitsPresence: options.limitsPresence,
      webPublicStreamsEnabled: options.webPublicStreamsEnabled,
      sendsEmail: options.sendsEmail,
      uploads: options.uploads,
      startedAt: options.startedAt,
      presences: realm.projections.presence,
    },
  };
}

/**
 * Keeps names only from our own lists: what a client sends beside them would be stored, and held in memory, with each of
 * its queues (S3).
 * @param defaults used for parameters that the request omits
 */
function optionsOf(params: RegisterParams, defaults: BotQueueDefaults): QueueOptions {
  const { client_capabilities: declared, event_types: types } = params;
  return {
    applyMarkdown: params.apply_markdown,
    clientGravatar: params.client_gravatar,
    slimPresence: params.slim_presence,
    allPublicStreams: params.all_public_streams ?? defaults.allPublicStreams,
    includeSubscribers: params.include_subscribers !== "false",
    eventTypes: types == null ? null : eventTypes.filter((type) => types.includes(type)),
    narrow: (params.narrow as [string, string][] | null | undefined) ?? defaults.narrow,
    capabilities: clientCapabilities.filter((name) => declared?.[name] === true),
  };
}
