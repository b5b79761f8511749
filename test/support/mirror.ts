/**
 * A client's copy of the state of POST /register, changed by events as clients do (OpenAPI, GET /events; behaviour 4.4,
 * 4.5). `picture` can be compared with that of a fresh state. It contains only what events can change.
 */

import { unknownUserBody } from "../../src/domain/people.ts";

import { FlagsMirror } from "./mirror-flags.ts";
import { applyUserGroup } from "./mirror-groups.ts";
import { applyScheduled, scheduledPicture, scheduledTypes } from "./mirror-scheduled.ts";

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

const lists = ["subscriptions", "unsubscribed", "never_subscribed"] as const;

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
  readonly state: Json;
  readonly #includesSubscribers: boolean;
  readonly #isModern: boolean;
  readonly #flags: FlagsMirror;
  /** Channels that became visible by an event and were not joined since. */
  readonly #appeared = new Set<number>();

  /** @param options the options of the queue's registration */
  constructor(state: Json, options: { includesSubscribers: boolean; isModern: boolean }) {
    this.state = structuredClone(state);
    this.#includesSubscribers = options.includesSubscribers;
    this.#isModern = options.isModern;
    this.#flags = new FlagsMirror(state);
  }

  apply(events: readonly Json[]): void {
    for (const event of events) {
      this.#appliers[event.type]?.(event);
      this.#flags.apply(event);
      applyScheduled(this.state, event);
    }
  }

  readonly #appliers: Readonly<Record<string, (event: Json) => void>> = {
    message: (event) => this.#message(event.message),
    subscription: (event) => this.#subscription(event),
    stream: (event) => this.#stream(event),
    realm_user: (event) => this.#realmUser(event),
    realm_bot: (event) => this.#realmBot(event),
    custom_profile_fields: (event) => this.#profileFields(event.fields),
    user_group: (event) => applyUserGroup(this.state, event),
    default_streams: (event) => {
      this.state.realm_default_streams = event.default_streams;
    },
    user_topic: (event) => this.#userTopic(event),
    muted_topics: (event) => {
      this.state.muted_topics = event.muted_topics;
    },
    presence: (event) => this.#presence(event),
    // After `deactivated` nothing is served until the organization is reactivated.
    realm: (event) => (event.op === "deactivated" ? undefined : this.#realm(event.data)),
    user_settings: (event) => {
      this.state.user_settings[event.property] = event.value;
    },
    realm_user_settings_defaults: (event) => {
      this.state.realm_user_settings_defaults[event.property] = event.value;
    },
  };

  #realm(data: Json): void {
    for (const [name, value] of Object.entries(data)) this.state[`realm_${name}`] = value;
    this.state.realm_allow_edit_history = this.state.realm_message_edit_history_visibility_policy !== "none";
  }

  /** Every record of a channel, wherever the client keeps it. */
  #records(channelId: number): Json[] {
    const all = [this.state.streams, ...lists.map((name) => this.state[name])];
    return all.flatMap((list: Json[]) => list.filter((record) => record.stream_id === channelId));
  }

  #message(message: Json): void {
    this.state.max_message_id = Math.max(this.state.max_message_id, message.id);
    if (message.type === "stream") return;
    const ids: number[] = message.display_recipient.map((person: Json) => person.id);
    const others = ids.filter((id) => id !== this.state.user_id).sort((a, b) => a - b);
    const conversations: Json[] = this.state.recent_private_conversations;
    const known = conversations.find((entry) => entry.user_ids.join() === others.join());
    if (known === undefined) conversations.push({ user_ids: others, max_message_id: message.id });
    else known.max_message_id = message.id;
  }

  #subscription(event: Json): void {
    switch (event.op) {
      case "add":
        for (const record of event.subscriptions) this.#join(record);
        return;
      case "remove":
        for (const { stream_id: channelId } of event.subscriptions) this.#leave(channelId);
        return;
      case "peer_add":
      case "peer_remove":
        for (const channelId of event.stream_ids) this.#peers(channelId, event.op === "peer_add", event.user_ids);
        return;
      case "update":
        for (const name of lists) {
          const record = this.state[name].find((candidate: Json) => candidate.stream_id === event.stream_id);
          if (record !== undefined) record[event.property] = event.value;
        }
        return;
      default:
        throw new Error(`subscription ${event.op}`);
    }
  }

  #join(record: Json): void {
    for (const name of lists) this.#drop(name, record.stream_id);
    this.#appeared.delete(record.stream_id);
    this.state.subscriptions.push(structuredClone(record));
    for (const known of this.#records(record.stream_id)) known.subscriber_count = record.subscriber_count;
  }

  #leave(channelId: number): void {
    const record = this.state.subscriptions.find((candidate: Json) => candidate.stream_id === channelId);
    // A replay may report the end of a subscription whose start the user may no longer see.
    if (record === undefined) return;
    this.#drop("subscriptions", channelId);
    this.state.unsubscribed.push(record);
    this.#peers(channelId, false, [this.state.user_id]);
  }

  #peers(channelId: number, isJoining: boolean, userIds: readonly number[]): void {
    for (const record of this.#records(channelId)) {
      record.subscriber_count += isJoining ? userIds.length : -userIds.length;
      if (record.subscribers === undefined) continue;
      const subscribers = new Set<number>(record.subscribers);
      for (const id of userIds) {
        if (isJoining) subscribers.add(id);
        else subscribers.delete(id);
      }
      record.subscribers = [...subscribers].sort((a, b) => a - b);
    }
  }

  #stream(event: Json): void {
    switch (event.op) {
      case "create":
        for (const record of event.streams) {
          if (this.#records(record.stream_id).length > 0) throw new Error(`channel ${record.stream_id} created twice`);
          this.#appeared.add(record.stream_id);
          this.state.streams.push(structuredClone(record));
          const subscribers = this.#includesSubscribers ? { subscribers: [] } : {};
          this.state.never_subscribed.push({ ...structuredClone(record), ...subscribers });
        }
        return;
      case "update":
        for (const record of this.#records(event.stream_id)) updateChannel(record, event);
        return;
      case "delete":
        for (const channelId of event.stream_ids) {
          for (const name of ["streams", ...lists]) this.#drop(name, channelId);
        }
        return;
      default:
        throw new Error(`stream ${event.op}`);
    }
  }

  #drop(name: string, channelId: number): void {
    this.state[name] = this.state[name].filter((record: Json) => record.stream_id !== channelId);
  }

  #realmUser({ op, person }: Json): void {
    const others = (list: Json[]) => list.filter((candidate) => candidate.user_id !== person.user_id);
    if (op === "add" || op === "remove") {
      // A user who becomes visible to a guest may have had a placeholder, or been visible before.
      this.state.realm_users = others(this.state.realm_users);
      if (op === "remove") this.state.realm_non_active_users = others(this.state.realm_non_active_users);
      const { is_active: _always, ...record } = person;
      if (op === "add") this.state.realm_users.push(record);
      // Clients that need an entry insert a placeholder (public API: user_list_incomplete).
      else if (!this.#isModern) this.state.realm_users.push(placeholderFor(person.user_id));
      return;
    }
    if (op !== "update") throw new Error(`realm_user ${op}`);
    const { user_id: userId, is_active: isActive, custom_profile_field: value, ...received } = person;
    const { new_email: email, role, avatar_source: _source, avatar_url_medium: _medium, ...rest } = received;
    const changes = { ...rest, ...(email === undefined ? {} : { email }), ...rolesOf(role) };
    const find = (list: Json[]) => list.find((record) => record.user_id === userId);
    const record = find(this.state.realm_users) ?? find(this.state.realm_non_active_users);
    // A replay may report a change of a user before the event that makes the user visible, which then carries
    // everything.
    if (record === undefined) return;
    Object.assign(record, changes);
    if (value !== undefined) setProfileValue(record, value);
    if (isActive === undefined) return;
    this.state.realm_users = others(this.state.realm_users);
    this.state.realm_non_active_users = others(this.state.realm_non_active_users);
    this.state[isActive ? "realm_users" : "realm_non_active_users"].push(record);
    if (!isActive) this.#dropFromGroups(userId);
  }

  /** Values of a removed field are removed with it. */
  #profileFields(fields: Json[]): void {
    this.state.custom_profile_fields = fields;
    const ids = fields.map(({ id }: Json) => String(id));
    for (const { profile_data: data } of [...this.state.realm_users, ...this.state.realm_non_active_users]) {
      for (const id of Object.keys(data ?? {})) if (!ids.includes(id)) delete data[id];
    }
  }

  #realmBot({ op, bot }: Json): void {
    const others = this.state.realm_bots.filter((record: Json) => record.user_id !== bot.user_id);
    const known = this.state.realm_bots.find((record: Json) => record.user_id === bot.user_id);
    if (op === "delete") this.state.realm_bots = others;
    else if (op === "add") this.state.realm_bots = [...others, bot];
    else if (known !== undefined) Object.assign(known, bot);
    // A replay shows a bot in its current form, or not at all; earlier changes are skipped.
  }

  /** No event removes a deactivated user from permissions: clients do it themselves (behaviour 2.20). */
  #dropFromGroups(userId: number): void {
    for (const group of this.state.realm_user_groups) {
      group.members = group.members.filter((id: number) => id !== userId);
    }
    const { streams, realm_user_groups: groups } = this.state;
    const records = [streams, groups, ...lists.map((name) => this.state[name]), realmPicture(this.state)].flat();
    for (const value of records.flatMap((record: Json) => Object.values(record)) as Json[]) {
      if (!Array.isArray(value?.direct_members)) continue;
      value.direct_members = value.direct_members.filter((id: number) => id !== userId);
    }
  }

  /** Topics are compared without case; without a policy there is no entry. */
  #userTopic({ stream_id: id, topic_name: name, last_updated: at, visibility_policy: policy }: Json): void {
    const isSame = (entry: Json) => entry.stream_id === id && entry.topic_name.toLowerCase() === name.toLowerCase();
    this.state.user_topics = this.state.user_topics.filter((entry: Json) => !isSame(entry));
    if (policy === 0) return;
    const entry = { stream_id: id, topic_name: name, last_updated: at, visibility_policy: policy };
    this.state.user_topics.push(entry);
  }

  #presence(event: Json): void {
    if (this.#isModern) {
      Object.assign(this.state.presences, event.presences);
      return;
    }
    const { pushable: _always, ...website } = event.presence.website;
    this.state.presences[event.email] = { aggregated: website, website: event.presence.website };
  }

  /**
   * A fresh state in the form that this client can derive from events: no event says that the user was once subscribed
   * to a channel that became visible again, so the channel is listed as never subscribed.
   */
  asDerivable(fresh: Json): Json {
    const isNotReported = ({ stream_id: id }: Json) => this.#appeared.has(id);
    const notReported = fresh.unsubscribed.filter(isNotReported).map((record: Json) => plain("unsubscribed", record));
    return {
      ...fresh,
      unsubscribed: fresh.unsubscribed.filter((record: Json) => !isNotReported(record)),
      never_subscribed: [...fresh.never_subscribed, ...notReported],
    };
  }

  /** The state in a fixed order, without the parts that no event reports. */
  snapshot(): Record<string, Json> {
    return { ...snapshotOf(this.state), flags: this.#flags.picture() };
  }
}

/** Some properties change together with others; the event has the channel's former name. */
function updateChannel(record: Json, event: Json): void {
  const { type: _type, op: _op, id: _id, stream_id: _channel, name: _before, property, value, ...more } = event;
  Object.assign(record, more, { [property]: value });
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

function placeholderFor(userId: number): Json {
  const { is_active: _always, ...record } = unknownUserBody(userId);
  return { ...record, profile_data: {} };
}

/** In an order that does not depend on the entries' fields. */
function byPlace(entries: readonly Json[]): readonly string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

/** Applies an event's custom profile field value. */
function setProfileValue({ profile_data: data }: Json, { id, ...value }: Json): void {
  if (value.value === null) delete data[id];
  else data[id] = value;
}

/** What clients derive from a role. */
function rolesOf(role: number | undefined): Json {
  if (role === undefined) return {};
  return { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 };
}
