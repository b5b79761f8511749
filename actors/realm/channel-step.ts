/** What the steps of PATCH /streams/{stream_id} are given and come to (channel-updates.ts). */
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import type { ChannelUpdate } from "../commands.ts";
import type { Answer, Effect } from "../effects.ts";

export interface Asked {
  readonly caller: UserRecord;
  /** As it is; access does not follow from what the same request changes. */
  readonly before: ChannelRecord;
  /** As the steps before left it. */
  readonly channel: ChannelRecord;
  readonly params: ChannelUpdate;
}

/** What a step comes to. */
export interface Change {
  readonly channel: ChannelRecord;
  /** Bodies of `stream` events for whoever may know of the channel. */
  readonly told?: readonly Answer[];
  /** Rows, counters, and events of other types. */
  readonly effects?: readonly Effect[];
  readonly notices?: readonly string[];
}
