/**
 * Decides who may change or archive a channel, or make it a default one (spec 4.4; behaviour 2.4; public API:
 * default_streams). The channel's machine decides (channel-machine.ts). A channel that the caller may not see is
 * answered like one that does not exist (D24).
 */

import { canAdminister, hasContentAccess, hasMetadataAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId } from "../../schemas/ids.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, forAdministrator, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { channelRecords } from "./channel-machine.ts";
import { checkDescription } from "./channels.ts";

/** PATCH /streams/{stream_id}. */
export function updateChannel(
  caller: UserRecord,
  params: Params<"channel.update">,
  view: View,
  command: Command<"channel.update">,
): Outcome {
  const { channelId, description } = params;
  const refused = description === null ? null : checkDescription(description.description);
  if (refused !== null) return refused;
  const row = administeredChannel(view, caller, channelId);
  return isRefusal(row) ? row : decideRecord(channelRecords, { row, caller }, command, view);
}

/** DELETE /streams/{stream_id}. */
export function archiveChannel(
  caller: UserRecord,
  params: Params<"channel.archive">,
  view: View,
  command: Command<"channel.archive">,
): Outcome {
  const row = administeredChannel(view, caller, params.channelId);
  return isRefusal(row) ? row : decideRecord(channelRecords, { row, caller }, command, view);
}

function administeredChannel(view: View, caller: UserRecord, channelId: ChannelId): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  if (channel === undefined) return refuse.invalidChannelId();
  if (canAdminister(view, caller, channel)) return channel;
  return hasContentAccess(view, caller, channel)
    ? refuse.badRequest("You do not have permission to administer this channel.")
    : refuse.invalidChannelId();
}

/** POST and DELETE /default_streams. Requests that change nothing succeed. */
export function setDefaultChannel(
  params: Params<"default-channels.set">,
  view: View,
  caller: UserRecord,
  command: Command<"default-channels.set">,
): Outcome {
  const { channelId, isDefault } = params;
  const row = view.channels.get(channelId);
  const hasAccess = isDefault ? hasContentAccess : hasMetadataAccess;
  if (row === undefined || !hasAccess(view, caller, row)) return refuse.invalidChannelId();
  return decideRecord(channelRecords, { row, caller }, command, view);
}

export const channelChangesDecisions = {
  "channel.update": forUser(updateChannel),
  "channel.archive": forUser(archiveChannel),
  "default-channels.set": forAdministrator(setDefaultChannel),
} as const;
