/** Channels and topics (spec 4.3, 4.13; public API: get-streams). */
import type { ChannelCreate } from "../../../actors/commands.ts";
import { command } from "../../../actors/commands.ts";
import { createChannel, deleteTopic, getStreams } from "../../../schemas/channels.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { refuse } from "../../../schemas/errors.ts";
import { channelGroupSettingNames, type GroupSettingName } from "../../../schemas/group-settings.ts";
import type { UserRecord } from "../../../schemas/records.ts";
import { type GroupSettingValue, topicsPolicies } from "../../../schemas/types.ts";
import { renderDescription } from "../../domain/markdown/render.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { hasContentAccess } from "../../domain/permissions.ts";
import { meantTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { channelBody, visibleChannels } from "../../queries/channels.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export interface ChannelRouteOptions {
  /** Server switch of spec 4.3 (D6). */
  readonly webPublicStreamsEnabled: boolean;
  /** How long a deletion's request may work (spec 4.13). */
  readonly topicDeletionTimeoutMs: number;
}

type CreationParams = Omit<ParamsOf<typeof createChannel>, "name" | "subscribers" | "description">;
type Template = Omit<ChannelCreate, "name" | "description" | "renderedDescription" | "subscriberIds">;

/** What create-channel and subscribe share: the settings of channels that come to be. */
export function channelTemplate(params: CreationParams, options: ChannelRouteOptions): Template {
  const groups: Partial<Record<GroupSettingName, GroupSettingValue>> = {};
  for (const name of channelGroupSettingNames) {
    const value = params[name];
    if (value !== undefined) groups[name] = value as GroupSettingValue;
  }
  return {
    isPrivate: params.invite_only,
    isWebPublic: params.is_web_public,
    isHistoryPublic: params.history_public_to_subscribers ?? null,
    isDefault: params.is_default_stream,
    messageRetentionDays: params.message_retention_days ?? null,
    folderId: params.folder_id ?? null,
    topicsPolicy: topicsPolicies.find((policy) => policy === params.topics_policy) ?? "inherit",
    groups,
    announce: params.announce,
    isWebPublicAllowed: options.webPublicStreamsEnabled,
  };
}

/** Line breaks in a description become blanks (behaviour 2.3). */
export function describe(view: View, caller: UserRecord, text: string) {
  const description = text.replaceAll(/\r\n|\r|\n/g, " ");
  const rendered =
    description === ""
      ? ""
      : renderDescription(description, { linkifiers: [], translateEmoticons: false }, mentionResolver(view, caller));
  return { description, renderedDescription: rendered };
}

export function channelRoutes(options: ChannelRouteOptions) {
  return [
    bind(createChannel, (call) => {
      const caller = callerOf(call);
      const { name, subscribers, description, ...settings } = call.params;
      if (name.trim() === "") return refuse.badRequest("name cannot be blank");
      const params: ChannelCreate = {
        ...channelTemplate(settings, options),
        ...describe(call.realm.view, caller, description),
        name: name.trim(),
        subscriberIds: subscribers,
      };
      return call.realm.dispatcher.ask(command({ actor: "realm" }, "channel.create", params, caller.id), call.claim);
    }),

    bind(getStreams, (call) => {
      const { realm, params } = call;
      const caller = callerOf(call);
      const shown = visibleChannels(realm.view, caller).filter((channel) => {
        if (params.exclude_archived && channel.isArchived) return false;
        const isSubscribed = realm.view.subscriptions.isSubscribed(caller.id, channel.id);
        return (
          params.include_all ||
          (params.include_subscribed && isSubscribed) ||
          (params.include_public && !channel.isPrivate) ||
          (params.include_web_public && channel.isWebPublic) ||
          (params.include_can_access_content && hasContentAccess(realm.view, caller, channel))
        );
      });
      const streams = shown.map((channel) => ({
        ...channelBody(realm.view, channel),
        ...(params.include_default ? { is_default: channel.isDefault } : {}),
      }));
      return ok({ streams });
    }),

    bind(deleteTopic, (call) => {
      const { stream_id: channelId, topic_name: name } = call.params;
      const { view, dispatcher } = call.realm;
      const asked = command(
        { actor: "topic-deletion", channelId, topic: meantTopic(view, name) },
        "topic-deletion.request",
        { deadline: view.now + options.topicDeletionTimeoutMs },
        callerOf(call).id,
      );
      // A repeated request goes on where the last one stopped: its answer is not kept under a key (architecture).
      return dispatcher.ask(asked);
    }),
  ];
}
