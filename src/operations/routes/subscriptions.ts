/** Subscriptions, and a user's own settings for each (public API: get-subscriptions, subscribe, unsubscribe, ...). */
import { command } from "../../../actors/protocol/decision.ts";
import { canAccessUser } from "../../../domain/people.ts";
import { hasMetadataAccess } from "../../../domain/permissions.ts";
import type { View } from "../../../domain/view.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import {
  getSubscribers,
  getSubscriptionStatus,
  getSubscriptions,
  getUserChannels,
  type SubscribeRequest,
  type SubscriptionSetting,
  subscribe,
  subscriptionNotificationNames,
  unsubscribe,
  updateSubscriptionSettings,
  updateSubscriptions,
} from "../../../schemas/subscriptions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { subscribedChannels, subscriptionBody } from "../../queries/channels.ts";
import { subscriberIds } from "../../queries/subscriptions.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";
import { type ChannelRouteOptions, channelTemplate, describe } from "./channels.ts";

export function subscriptionRoutes(options: ChannelRouteOptions) {
  return [
    bind(getSubscriptions, (call) => {
      const { view } = call.realm;
      const subscribed = subscribedChannels(view, requireCaller(call)).filter(({ channel }) => !channel.isArchived);
      const bodies = subscribed.map(({ subscription, channel }) =>
        subscriptionBody(view, subscription, channel, {
          subscriberLists: call.params.include_subscribers,
          allowsNullNotifications: true,
        }),
      );
      return ok({ subscriptions: bodies });
    }),

    bind(subscribe, (call) => {
      const caller = requireCaller(call);
      const {
        subscriptions,
        principals,
        authorization_errors_fatal: areErrorsFatal,
        send_new_subscription_messages: notifiesNewSubscribers,
        ...settings
      } = call.params;
      if (subscriptions.length === 0) return refuse.badRequest("Nothing to do. Specify at least one channel.");
      const channels = readWanted(call.realm.view, caller, subscriptions);
      if (isRefusal(channels)) return channels;
      const template = channelTemplate(settings, options);
      const params = { channels, principals: principals ?? null, areErrorsFatal, notifiesNewSubscribers, template };
      const sent = command({ actor: "realm" }, "subscriptions.add", params, caller.id);
      return call.realm.dispatcher.ask(sent, call.idempotencyKey);
    }),

    bind(unsubscribe, (call) => {
      const params = { channelNames: call.params.subscriptions, principals: call.params.principals ?? null };
      const sent = command({ actor: "realm" }, "subscriptions.remove", params, requireCaller(call).id);
      return call.realm.dispatcher.ask(sent, call.idempotencyKey);
    }),

    bind(updateSubscriptions, (call) => {
      const { add: wanted = [], delete: removeNames } = call.params;
      const caller = requireCaller(call);
      if (wanted.length + removeNames.length === 0) {
        return refuse.badRequest('Nothing to do. Specify at least one of "add" or "delete".');
      }
      const channels = readWanted(call.realm.view, caller, wanted);
      if (isRefusal(channels)) return channels;
      const template = channelTemplate(plainChannel, options);
      const add = { channels, principals: null, areErrorsFatal: true, notifiesNewSubscribers: true, template };
      const sent = command({ actor: "realm" }, "subscriptions.update", { add, removeNames }, caller.id);
      return call.realm.dispatcher.ask(sent, call.idempotencyKey);
    }),

    bind(updateSubscriptionSettings, (call) => {
      const changes: SubscriptionSetting[] = [];
      for (const entry of call.params.subscription_data) {
        const change = readSetting(entry);
        if (isRefusal(change)) return change;
        changes.push(change);
      }
      const { id } = requireCaller(call);
      const sent = command({ actor: "user", id }, "subscription-settings.change", { changes }, id);
      return call.realm.dispatcher.ask(sent, call.idempotencyKey);
    }),

    bind(getSubscribers, (call) => {
      const channelId = knownChannel(call.realm.view, requireCaller(call), call.params.stream_id);
      return channelId === null
        ? refuse.invalidChannelId()
        : ok({ subscribers: subscriberIds(call.realm.view, channelId) });
    }),

    bind(getUserChannels, (call) => {
      const { view } = call.realm;
      const caller = requireCaller(call);
      const user = view.users.get(call.params.user_id);
      if (user === undefined || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
      const known = [...view.subscriptions.ofUser(user.id)].filter(({ isActive, channelId }) => {
        const channel = view.channels.get(channelId);
        return isActive && channel !== undefined && !channel.isArchived && hasMetadataAccess(view, caller, channel);
      });
      return ok({ subscribed_channel_ids: known.map(({ channelId }) => channelId).sort((a, b) => a - b) });
    }),

    bind(getSubscriptionStatus, (call) => {
      const { view } = call.realm;
      const caller = requireCaller(call);
      const user = view.users.get(call.params.user_id);
      if (user === undefined || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
      const channelId = knownChannel(view, caller, call.params.stream_id);
      if (channelId === null) return refuse.invalidChannelId();
      return ok({ is_subscribed: view.subscriptions.isSubscribed(user.id, channelId) });
    }),
  ];
}

/** Settings of channels created by PATCH, which has no parameters for them. */
const plainChannel = { announce: false, invite_only: false, is_web_public: false, is_default_stream: false };

type Wanted = ParamsOf<typeof subscribe>["subscriptions"];

function readWanted(view: View, caller: UserRecord, wanted: Wanted): SubscribeRequest["channels"] | Refusal {
  if (wanted.some(({ color }) => color !== undefined && !isColor(color))) return badColor();
  return wanted.map(({ name, color, description }) => ({
    name: name.trim(),
    color: color ?? null,
    ...describe(view, caller, description ?? ""),
  }));
}

function badColor(): Refusal {
  return refuse.badRequest("color is not a valid hex color code");
}

const flags = ["is_muted", "pin_to_top", ...subscriptionNotificationNames] as const;

function readSetting(entry: ParamsOf<typeof updateSubscriptionSettings>["subscription_data"][number]) {
  const { stream_id: channelId, property: name, value } = entry;
  if (name === "color") {
    if (typeof value !== "string") return refuse.badRequest("color is not a string");
    return isColor(value) ? ({ channelId, property: "color", value } as const) : badColor();
  }
  // The legacy property with the inverse meaning.
  const isInverse = name === "in_home_view";
  const property = flags.find((flag) => flag === (isInverse ? "is_muted" : name));
  if (property === undefined) return refuse.badRequest(`Unknown subscription property: ${name}`);
  if (typeof value !== "boolean") return refuse.badRequest(`${name} is not a boolean`);
  return { channelId, property, value: isInverse ? !value : value };
}

/** Returns null if the caller may not know the channel (D24). */
function knownChannel(view: View, caller: UserRecord, id: number): number | null {
  const channel = view.channels.get(id);
  return channel !== undefined && hasMetadataAccess(view, caller, channel) ? id : null;
}

/** A hash followed by three to six hexadecimal digits. */
function isColor(text: string): boolean {
  return /^#[0-9a-fA-F]{3,6}$/.test(text);
}
