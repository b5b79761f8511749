/** Who hears of a channel, and how its changes are told (behaviour 2.4; OpenAPI, stream update). */
import type { Audience, ChannelRecord } from "../../schemas/records.ts";
import type { Answer } from "../effects.ts";

/** Whoever may know of the channel, which is by now what the record says; at a repetition, who has known of it since then. */
export function watchers(channel: ChannelRecord, except: readonly number[]): Audience {
  return { to: "channel-watchers", id: channel.id, except, ...archivesOf(channel) };
}

/** People who are told of the channel by name. @param ids ascending */
export function people(channel: ChannelRecord, ids: readonly number[]): Audience {
  return { to: "users", ids, ...archivesOf(channel) };
}

/** To some clients archived channels do not exist: what happens to one meanwhile they are not told later, either, when it is back. */
function archivesOf({ isArchived }: ChannelRecord): Pick<Audience, "archives"> {
  return isArchived ? { archives: "shown" } : {};
}

/** One property that has changed; `more` is what some properties are told with. */
export function updateBody(channel: ChannelRecord, property: string, value: unknown, more: Answer = {}): Answer {
  return { op: "update", stream_id: channel.id, name: channel.name, property, value, ...more };
}
