/**
 * Who may change or archive a channel, or make it a default one (spec 4.4; behaviour 2.4; public API: default_streams).
 * The channel's machine decides (channel-machine.ts). A channel that the caller may not see is answered like one that
 * does not exist (D24).
 */

import { canAdminister, hasContentAccess, hasMetadataAccess, isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, type Outcome } from "../protocol/decide.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { channelRecords } from "./channel-machine.ts";
import { checkDescription } from "./channels.ts";

/** PATCH /streams/{stream_id}. */
export function updateChannel(_context: unknown, asked: Command<"channel.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { channelId, description } = asked.params;
  const refused = description === null ? null : checkDescription(description.description);
  if (refused !== null) return refused;
  const row = administeredChannel(view, caller, channelId);
  return isRefusal(row) ? row : decideRecord(channelRecords, { row, caller }, asked, view);
}

/** DELETE /streams/{stream_id}. */
export function archiveChannel(_context: unknown, asked: Command<"channel.archive">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const row = administeredChannel(view, caller, asked.params.channelId);
  return isRefusal(row) ? row : decideRecord(channelRecords, { row, caller }, asked, view);
}

function administeredChannel(view: View, caller: UserRecord, channelId: number): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  if (channel === undefined) return refuse.invalidChannelId();
  if (canAdminister(view, caller, channel)) return channel;
  return hasContentAccess(view, caller, channel)
    ? refuse.badRequest("You do not have permission to administer this channel.")
    : refuse.invalidChannelId();
}

/** POST and DELETE /default_streams. Requests that change nothing succeed. */
export function setDefaultChannel(_context: unknown, asked: Command<"default-channels.set">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  const { channelId, isDefault } = asked.params;
  const row = view.channels.get(channelId);
  const hasAccess = isDefault ? hasContentAccess : hasMetadataAccess;
  if (row === undefined || !hasAccess(view, caller, row)) return refuse.invalidChannelId();
  return decideRecord(channelRecords, { row, caller }, asked, view);
}

export const channelChangesDecisions = {
  "channel.update": updateChannel,
  "channel.archive": archiveChannel,
  "default-channels.set": setDefaultChannel,
} as const;
