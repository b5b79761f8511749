/** Audiences and bodies of channel events (behaviour 2.4; OpenAPI, stream update). */

import type { ChannelRecord } from "../../schemas/channels.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { Audience } from "../../schemas/runtime.ts";

export type StreamUpdate = Extract<StoredBody<"stream">, { readonly op: "update" }>;

/**
 * All users who may see the channel according to its record. A replay includes only users who could already see it at
 * that position.
 */
export function watchers(channel: ChannelRecord, except: readonly number[]): Audience {
  return { to: "channel-watchers", id: channel.id, except, ...archivesOf(channel) };
}

/**
 * Given users, filtered by support for archived channels.
 * @param ids ascending
 */
export function people(channel: ChannelRecord, ids: readonly number[]): Audience {
  return { to: "users", ids, ...archivesOf(channel) };
}

/**
 * Clients without support for archived channels do not receive an archived channel's events, even after it is
 * unarchived.
 */
function archivesOf({ isArchived }: ChannelRecord): Pick<Audience, "archives"> {
  return isArchived ? { archives: "shown" } : {};
}

/** The change of one property; `more` holds extra fields that some properties need. */
export function updateBody(
  channel: ChannelRecord,
  property: string,
  value: unknown,
  more: Omit<StreamUpdate, "op" | "stream_id" | "name" | "property" | "value"> = {},
): StreamUpdate {
  return { op: "update", stream_id: channel.id, name: channel.name, property, value, ...more };
}
