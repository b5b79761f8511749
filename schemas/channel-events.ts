/** Events about channels, subscriptions and policies of topics (spec 2.4; behaviour 2.3 to 2.5). */
import { Type } from "typebox";
import { Channel } from "./channels.ts";
import { defineEvent, sentAsStored } from "./event.ts";
import { GroupValue, SettingValue } from "./event-values.ts";
import { marked, OtherId, OtherIds, OtherText, RenderedText, UserIds } from "./person-marks.ts";
import { Subscription } from "./subscriptions.ts";
import { MutedTopics, UserTopic } from "./user-topics.ts";

const ChannelName = Type.Object({ name: OtherText, stream_id: OtherId });
const peers = { stream_ids: OtherIds, user_ids: UserIds };
/** A reader learns of channels by reference; `subscriber_count` is their number when it happened. */
const arrival = { channel_ids: OtherIds, subscriber_count: Type.Optional(Type.Integer()) };

/** The new value of a property; only a description is Markdown. */
const PropertyValue = Type.Unsafe<unknown>(
  Type.Union([
    marked(Type.String(), { is: "typed", by: null, when: { field: "property", equals: "description" } }),
    Type.Boolean(),
    Type.Integer(),
    Type.Null(),
    GroupValue,
  ]),
);

const channelUpdate = {
  stream_id: OtherId,
  name: OtherText,
  property: OtherText,
  value: PropertyValue,
  rendered_description: Type.Optional(RenderedText),
  history_public_to_subscribers: Type.Optional(Type.Boolean()),
  is_web_public: Type.Optional(Type.Boolean()),
};

const channelDeletion = { streams: Type.Array(Type.Object({ stream_id: OtherId })), stream_ids: OtherIds };
const subscriptionUpdate = { stream_id: OtherId, property: OtherText, value: SettingValue };
const subscriptionEnd = { subscriptions: Type.Array(ChannelName) };

export const channelEvents = {
  stream: defineEvent({
    stored: { create: arrival, update: channelUpdate, delete: channelDeletion },
    wire: {
      create: { streams: Type.Array(Channel) },
      update: channelUpdate,
      delete: channelDeletion,
    },
  }),
  subscription: defineEvent({
    stored: {
      add: arrival,
      remove: subscriptionEnd,
      update: subscriptionUpdate,
      peer_add: peers,
      peer_remove: peers,
    },
    wire: {
      add: { subscriptions: Type.Array(Subscription) },
      remove: subscriptionEnd,
      update: subscriptionUpdate,
      peer_add: peers,
      peer_remove: peers,
    },
  }),
  /** The list is read on delivery. */
  default_streams: defineEvent({ stored: { "": {} }, wire: { "": { default_streams: OtherIds } } }),
  /** The whole list is read on delivery: channel name, topic, UNIX seconds. */
  muted_topics: defineEvent({
    stored: { "": {} },
    wire: { "": { muted_topics: MutedTopics } },
  }),
  /** Sent as it is stored, but the topic's name depends on the client. */
  user_topic: sentAsStored({
    "": UserTopic.properties,
  }),
} as const;
