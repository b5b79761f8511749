/** Who hears of a channel, and how its changes are told (behaviour 2.4; OpenAPI, stream update). */
import type { Audience, ChannelRecord } from "../../schemas/records.ts";
import { opennessOf } from "../../src/domain/channels.ts";
import type { Answer } from "../effects.ts";

/** Whoever may know of the channel, which is by now what the record says; at a repetition, who might then, too. */
export function watchers(channel: ChannelRecord, except: readonly number[]): Audience {
  return { to: "channel-watchers", id: channel.id, except, openness: opennessOf(channel) };
}

/** One property that has changed; `more` is what some properties are told with. */
export function updateBody(channel: ChannelRecord, property: string, value: unknown, more: Answer = {}): Answer {
  return { op: "update", stream_id: channel.id, name: channel.name, property, value, ...more };
}
