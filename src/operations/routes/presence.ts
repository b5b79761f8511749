/** Presence and typing (spec 4.7, section 6): volatile commands, answered at once (E4). */
import { type Address, command } from "../../../actors/protocol/decision.ts";
import { directAddress } from "../../../domain/post-address.ts";
import { nextPresence } from "../../../domain/presence.ts";
import { topicFor } from "../../../domain/topics.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { fold } from "../../../schemas/fold.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  getPresence,
  getUserPresence,
  setTypingStatus,
  setTypingStatusForMessageEdit,
  type TypingTarget,
  updatePresence,
} from "../../../schemas/presence.ts";
import { userSetting } from "../../../schemas/user-settings.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { presenceOf, presenceState } from "../../queries/presence.ts";
import type { Realm } from "../../runtime/realm.ts";
import { type EncodedAnswer, ok } from "../../runtime/results.ts";
import { bind, type Call, callerNow, hostOf, requireCaller } from "../calls.ts";

export interface PresenceRouteOptions {
  /** CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE (spec 4.7, D6). */
  readonly limitsToAccessible: boolean;
}

export function presenceRoutes(options: PresenceRouteOptions) {
  return [
    bind(updatePresence, (call) => {
      const { status } = call.params;
      if (status !== "active" && status !== "idle") return refuse.badRequest(`Invalid status: ${status}`);
      // Read once: most pings change nothing, and are answered at once.
      const { now } = call.realm.view;
      const recorded = record(call.realm, requireCaller(call), status, now);
      if (recorded === null) return answerPing(call, options, now);
      return recorded.then(() => answerPing(call, options, call.realm.view.now));
    }),

    // Here and in `answerPing` presence passes no gate: it may be lost (E4), and no update id is used twice (E1).
    bind(getPresence, (call) => {
      const { view, projections } = call.realm;
      const { presences, server_timestamp } = presenceState(view, projections.presence, requireCaller(call), {
        lastUpdateId: null,
        historyDays: limits.presence_history_days,
        isModern: false,
        limitsToAccessible: options.limitsToAccessible,
      });
      return ok({ presences, server_timestamp });
    }),

    bind(getUserPresence, (call) => {
      const found = presenceOf(call.realm.view, requireCaller(call), call.params.user_id_or_email, hostOf(call));
      return "presence" in found ? ok(found) : found;
    }),

    bind(setTypingStatus, (call) => {
      const sender = requireCaller(call);
      const target = readTarget(call.realm, sender, call.params);
      if (isRefusal(target)) return target;
      const type = call.params.op === "start" ? "typing.start" : "typing.stop";
      return call.realm.dispatcher.ask(command(typingAddress(target), type, { target }, sender.id));
    }),

    bind(setTypingStatusForMessageEdit, (call) => {
      const target = { kind: "edit", messageId: call.params.message_id } as const;
      const type = call.params.op === "start" ? "typing.start" : "typing.stop";
      return call.realm.dispatcher.ask(command(typingAddress(target), type, { target }, requireCaller(call).id));
    }),
  ];
}

/** The presence of the others, or what changed of it, after the caller's own report. */
function answerPing(call: Call<ParamsOf<typeof updatePresence>>, options: PresenceRouteOptions, now: number) {
  const { params, realm } = call;
  const { view, projections } = realm;
  const caller = callerNow(call);
  if (!caller.isActive) return refuse.userDeactivated();
  if (params.new_user_input && userSetting(caller, "presence_enabled")) {
    realm.dispatcher.batches.inputSeen(caller.id, now);
  }
  const lastUpdateId = params.last_update_id ?? null;
  if (params.ping_only) return ok({ presence_last_update_id: lastUpdateId ?? -1 });
  if (lastUpdateId !== null && !projections.presence.hasNewerThan(lastUpdateId)) return nothingNew(lastUpdateId, now);
  const state = presenceState(view, projections.presence, caller, {
    lastUpdateId,
    historyDays: params.history_limit_days ?? limits.presence_history_days,
    isModern: lastUpdateId !== null || params.slim_presence,
    limitsToAccessible: options.limitsToAccessible,
  });
  return ok({ ...state });
}

/**
 * The answer to nearly every ping, written without an object. It shows no users, so there is nothing to redact (S1).
 */
function nothingNew(lastUpdateId: number, now: number): EncodedAnswer {
  const fields = `"presences":{},"presence_last_update_id":${lastUpdateId},"server_timestamp":${now / 1000}`;
  return { kind: "encoded", fields };
}

/**
 * D20: recorded before the answer. A ping that changes nothing runs no machine; users who hide their presence are not
 * recorded.
 * @returns null if there is nothing to record
 */
function record(realm: Realm, caller: UserRecord, status: "active" | "idle", now: number): Promise<unknown> | null {
  const { view } = realm;
  if (!userSetting(caller, "presence_enabled")) return null;
  if (nextPresence(view.presence(caller.id), caller.id, status, now, view.position) === null) return null;
  return realm.dispatcher.ask(
    command({ actor: "presence", userId: caller.id }, "presence.report", { status }, caller.id),
  );
}

function readTarget(
  realm: Realm,
  sender: UserRecord,
  params: ParamsOf<typeof setTypingStatus>,
): TypingTarget | Refusal {
  if (params.type === "channel" || params.type === "stream") {
    const channelId = params.stream_id ?? (params.type === "stream" ? olderChannel(params.to) : undefined);
    if (channelId === undefined) return refuse.badRequest("Missing channel ID");
    if (params.topic === undefined) return refuse.missing("topic");
    return { kind: "channel", channelId, topic: topicFor(realm.view, params.topic) };
  }
  if (params.to === undefined) return refuse.missing("to");
  if (Array.isArray(params.to) && params.to.length === 0) return refuse.badRequest("Empty 'to' list");
  const address = directAddress(realm.view, sender, params.to);
  return isRefusal(address) ? address : { kind: "direct", userIds: address.userIds };
}

/** Where clients older than feature level 215 put the channel id. */
function olderChannel(to: ParamsOf<typeof setTypingStatus>["to"]): number | undefined {
  const target = Array.isArray(to) && to.length === 1 ? to[0] : to;
  return typeof target === "number" ? target : undefined;
}

function typingAddress(target: TypingTarget): Address {
  if (target.kind === "edit") return { actor: "typing", conversation: `edit:${target.messageId}` };
  const conversation =
    target.kind === "direct" ? `direct:${target.userIds.join(",")}` : `${target.channelId}:${fold(target.topic)}`;
  return { actor: "typing", conversation };
}
