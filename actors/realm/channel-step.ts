/** The decisions of a channel about itself, and the steps of PATCH /streams/{stream_id} (channel-updates.ts). */
import type { ChannelRecord, ChannelUpdate } from "../../schemas/channels.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Effect } from "../protocol/decision.ts";
import type { RecordContext } from "../protocol/record-machines.ts";
import type { StreamUpdate } from "../rules/channel-events.ts";

/** The context of a channel's decisions (channel-machine.ts). */
export interface ChannelContext extends RecordContext<ChannelRecord> {
  readonly caller: UserRecord;
}

export function channelState({ isArchived }: ChannelRecord): string {
  return isArchived ? "archived" : "open";
}

export interface ChannelRequest {
  readonly caller: UserRecord;
  /** The channel before the request; access is decided by it, not by what the same request changes. */
  readonly before: ChannelRecord;
  /** The channel after the previous steps. */
  readonly channel: ChannelRecord;
  readonly params: ChannelUpdate;
}

/** Result of a step. */
export interface Change {
  readonly channel: ChannelRecord;
  /** Bodies of `stream` events, sent to everybody who may see the channel. */
  readonly streamEvents?: readonly StreamUpdate[];
  /** Rows, counters, and events of other types. */
  readonly effects?: readonly Effect[];
  readonly notices?: readonly string[];
}
