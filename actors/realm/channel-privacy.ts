/** Changes of a channel's privacy by PATCH /streams/{stream_id} (spec 4.4, level 362; behaviour 2.4, 1 to 3; D18). */

import { hasContentAccess, hasRealmPermission } from "../../domain/permissions.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelRequest } from "./channel-step.ts";
import { checkWebPublic } from "./channels.ts";

/** @returns the same object if nothing changes */
export function changedPrivacy(view: View, request: ChannelRequest): ChannelRecord | Refusal {
  const { channel } = request;
  const after = proposed(request);
  const refused = checkCombination(view, request, after) ?? checkPermission(view, request, after);
  if (refused !== null) return refused;
  const isSame =
    after.isPrivate === channel.isPrivate &&
    after.isWebPublic === channel.isWebPublic &&
    after.isHistoryPublic === channel.isHistoryPublic;
  return isSame ? channel : after;
}

/**
 * Unless the request sets it, a channel's history becomes protected when the channel becomes private, and public when
 * it becomes public.
 */
function proposed({ channel, params }: ChannelRequest): ChannelRecord {
  const { isPrivate, isWebPublic } = params;
  const isHistoryPublic = params.isHistoryPublic ?? (isPrivate === null ? channel.isHistoryPublic : !isPrivate);
  return {
    ...channel,
    isPrivate: isPrivate ?? channel.isPrivate,
    isWebPublic: isWebPublic ?? channel.isWebPublic,
    isHistoryPublic,
  };
}

/** Combinations that are invalid for every caller. */
function checkCombination(view: View, { params }: ChannelRequest, after: ChannelRecord): Refusal | null {
  const isImpossible = after.isWebPublic
    ? after.isPrivate || !after.isHistoryPublic
    : !after.isPrivate && !after.isHistoryPublic;
  if (isImpossible) return refuse.badRequest("Invalid parameters");
  if (after.isPrivate && (params.isDefault ?? after.isDefault)) {
    return refuse.badRequest("A default channel cannot be private.");
  }
  if (!after.isPrivate && realmSetting(view, "moderation_request_channel_id") === after.id) {
    return refuse.badRequest("A moderation request channel cannot be public.");
  }
  return null;
}

/** A caller who opens or restricts access to existing messages must be able to read them (D18). */
function checkPermission(view: View, { caller, before, params }: ChannelRequest, after: ChannelRecord): Refusal | null {
  const opensHistory = after.isHistoryPublic && !before.isHistoryPublic;
  if ((params.isPrivate !== null || opensHistory) && !hasContentAccess(view, caller, before)) {
    return refuse.badRequest("Channel content access is required.");
  }
  if (params.isPrivate !== null) {
    const needed = params.isPrivate ? "can_create_private_channel_group" : "can_create_public_channel_group";
    if (!hasRealmPermission(view, caller, needed)) return refuse.insufficientPermission();
  }
  return params.isWebPublic === true ? checkWebPublic(view, caller, params.isWebPublicAllowed) : null;
}
