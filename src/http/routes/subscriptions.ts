/** Who is in which channel (public API: get-subscriptions, subscribe, unsubscribe). */
import { command } from "../../../actors/commands.ts";
import { refuse } from "../../../schemas/errors.ts";
import { getSubscriptions, subscribe, unsubscribe } from "../../../schemas/subscriptions.ts";
import { subscribedChannels, subscriptionBody } from "../../queries/channels.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import { type ChannelRouteOptions, channelTemplate, describe } from "./channels.ts";

export function subscriptionRoutes(options: ChannelRouteOptions) {
  return [
    bind(getSubscriptions, (call) => {
      const { view } = call.realm;
      const subscribed = subscribedChannels(view, callerOf(call)).filter(({ channel }) => !channel.isArchived);
      const bodies = subscribed.map(({ subscription, channel }) =>
        subscriptionBody(view, subscription, channel, {
          includeSubscribers: call.params.include_subscribers !== "false",
          allowsNullNotifications: true,
        }),
      );
      return ok({ subscriptions: bodies });
    }),

    bind(subscribe, (call) => {
      const caller = callerOf(call);
      const {
        subscriptions,
        principals,
        authorization_errors_fatal: areErrorsFatal,
        send_new_subscription_messages: _unused,
        ...settings
      } = call.params;
      if (subscriptions.length === 0) return refuse.badRequest("Nothing to do. Specify at least one channel.");
      const channels = subscriptions.map((wanted) => {
        const described = describe(call.realm.view, caller, wanted.description ?? "");
        return { name: wanted.name.trim(), color: wanted.color ?? null, ...described };
      });
      const params = {
        channels,
        principals: principals ?? null,
        areErrorsFatal,
        template: channelTemplate(settings, options),
      };
      return call.realm.dispatcher.ask(command({ actor: "realm" }, "subscriptions.add", params, caller.id), call.claim);
    }),

    bind(unsubscribe, (call) => {
      const params = { channelNames: call.params.subscriptions, principals: call.params.principals ?? null };
      const asked = command({ actor: "realm" }, "subscriptions.remove", params, callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
    }),
  ];
}
