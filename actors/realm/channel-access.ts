/** The channel that somebody wants to change (spec 4.4; behaviour 2.4): archived ones, too. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { canAdminister, hasContentAccess } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";

/** @returns the one answer of an id that does not exist where the caller may not know of the channel (D24) */
export function administeredChannel(view: View, caller: UserRecord, channelId: number): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  if (channel === undefined) return refuse.invalidChannelId();
  if (canAdminister(view, caller, channel)) return channel;
  return hasContentAccess(view, caller, channel)
    ? refuse.badRequest("You do not have permission to administer this channel.")
    : refuse.invalidChannelId();
}
