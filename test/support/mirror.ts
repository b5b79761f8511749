/**
 * A client's copy of the state of POST /register, changed by events as clients do (OpenAPI, GET /events; behaviour 4.4,
 * 4.5), with the reducer of the client package. `snapshot` can be compared with that of a fresh state. It contains only
 * what events can change.
 */

import { unknownUserBody } from "../../domain/people.ts";
import { applyEvent, chatStateOf, type ReducerOptions } from "../../packages/client/src/state/index.ts";
import { FlagsMirror, flagsPicture } from "./mirror-flags.ts";
import { scheduledPicture, scheduledTypes } from "./mirror-scheduled.ts";

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

/** The types of state and events that a mirror follows. */
export const mirroredTypes = [
  "message",
  "delete_message",
  "update_message",
  "update_message_flags",
  "starred_messages",
  "subscription",
  "stream",
  "realm_user",
  "realm_bot",
  "custom_profile_fields",
  "user_group",
  "realm_user_groups",
  "default_streams",
  "user_topic",
  "presence",
  "recent_private_conversations",
  "user_settings",
  "realm_user_settings_defaults",
  "realm",
  ...scheduledTypes,
];

/** Fields of a subscription record beyond the channel's own. */
const ownFields = [
  "color",
  "is_muted",
  "in_home_view",
  "pin_to_top",
  "desktop_notifications",
  "audible_notifications",
  "push_notifications",
  "email_notifications",
  "wildcard_mentions_notify",
];

export class Mirror {
  state: Json;
  readonly #options: ReducerOptions;

  /** @param options the options of the queue's registration */
  constructor(state: Json, { includesSubscribers, isModern }: { includesSubscribers: boolean; isModern: boolean }) {
    this.state = chatStateOf(structuredClone(state));
    // Clients that need an entry insert a placeholder (public API: user_list_incomplete).
    this.#options = { includesSubscribers, unknownUser: isModern ? null : placeholderFor };
  }

  apply(events: readonly Json[]): void {
    for (const event of events) this.state = applyEvent(this.state, event, this.#options);
  }

  /**
   * A fresh state in the form that this client can derive from events: no event says that the user was once subscribed
   * to a channel that became visible again, so the channel is listed as never subscribed.
   */
  asDerivable(fresh: Json): Json {
    const isNotReported = ({ stream_id: id }: Json) => this.state.appeared.has(id);
    const notReported = fresh.unsubscribed.filter(isNotReported).map((record: Json) => plain("unsubscribed", record));
    return {
      ...fresh,
      unsubscribed: fresh.unsubscribed.filter((record: Json) => !isNotReported(record)),
      never_subscribed: [...fresh.never_subscribed, ...notReported],
    };
  }

  /** The state in a fixed order, without the parts that no event reports. */
  snapshot(): Record<string, Json> {
    return { ...snapshotOf(this.state), flags: flagsPicture(this.state) };
  }
}

const orders: Readonly<Record<string, string>> = {
  subscriptions: "stream_id",
  unsubscribed: "stream_id",
  never_subscribed: "stream_id",
  streams: "stream_id",
  realm_users: "user_id",
  realm_non_active_users: "user_id",
  realm_bots: "user_id",
  realm_user_groups: "id",
  recent_private_conversations: "max_message_id",
};

/**
 * Settings and permissions of the organization, without the forms of permissions for older clients (no event reports
 * them).
 */
function realmPicture(state: Json): Json {
  const isOther = /^realm_(users|non_active_users|user_groups|user_settings_defaults|default_streams|bots)$|_policy$/;
  const kept = Object.entries(state).filter(
    ([name]) => name.startsWith("realm_") && (!isOther.test(name) || /(topics|visibility)_policy$/.test(name)),
  );
  return Object.fromEntries(kept);
}

export function snapshotOf(state: Json): Record<string, Json> {
  const snapshot: Record<string, Json> = {
    max_message_id: state.max_message_id,
    flags: new FlagsMirror(state).picture(),
    realm_default_streams: [...state.realm_default_streams].sort((a, b) => a - b),
    user_topics: byPlace(state.user_topics ?? []),
    muted_topics: byPlace(state.muted_topics ?? []),
    presences: state.presences,
    custom_profile_fields: state.custom_profile_fields,
    realm: realmPicture(state),
    user_settings: state.user_settings,
    realm_user_settings_defaults: state.realm_user_settings_defaults,
    ...scheduledPicture(state),
  };
  for (const [name, key] of Object.entries(orders)) {
    snapshot[name] = [...state[name]].sort((a: Json, b: Json) => a[key] - b[key]).map((record) => plain(name, record));
  }
  return snapshot;
}

/**
 * Records are compared by their fields; the settings of a channel that the user has left are internal to the server. A
 * computed avatar is null in the state of clients that compute it, and a URL in events.
 */
function plain(name: string, record: Json): Json {
  const isComputed = record.avatar_url === null || /^https:\/\/secure\.gravatar\.com\//.test(record.avatar_url);
  const shown = "avatar_url" in record && isComputed ? { ...record, avatar_url: "computed" } : record;
  const fields = Object.entries(shown).filter(([field]) => name !== "unsubscribed" || !ownFields.includes(field));
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function placeholderFor(userId: number) {
  const { is_active: _always, ...record } = unknownUserBody(userId);
  return { ...record, profile_data: {} };
}

/** In an order that does not depend on the entries' fields. */
function byPlace(entries: readonly Json[]): readonly string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}
