/** Channels and topics (spec 4.3, 4.13; public API: get-streams). */
import type { ChannelCreate, ChannelUpdate } from "../../../actors/commands.ts";
import { command } from "../../../actors/commands.ts";
import {
  archiveChannel,
  createBigBlueButtonCall,
  createChannel,
  deleteTopic,
  getChannel,
  getChannelEmail,
  getChannelId,
  getStreams,
  updateChannel,
} from "../../../schemas/channels.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { refuse } from "../../../schemas/errors.ts";
import { channelGroupSettingNames, type GroupSettingName } from "../../../schemas/group-settings.ts";
import type { UserRecord } from "../../../schemas/records.ts";
import { type GroupSettingChange, type GroupSettingValue, topicsPolicies } from "../../../schemas/types.ts";
import { canAdministerBot } from "../../domain/bots.ts";
import { renderDescription } from "../../domain/markdown/render.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { hasMetadataAccess, isAdministrator } from "../../domain/permissions.ts";
import { meantTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { channelBody, chosenChannels } from "../../queries/channels.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export interface ChannelRouteOptions {
  /** Server switch of spec 4.3 (D6). */
  readonly webPublicStreamsEnabled: boolean;
  /** How long a deletion's request may work (spec 4.13). */
  readonly topicDeletionTimeoutMs: number;
}

type CreationParams = Omit<
  ParamsOf<typeof createChannel>,
  "name" | "subscribers" | "description" | "send_new_subscription_messages"
>;
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

function channelUpdate(
  view: View,
  caller: UserRecord,
  params: ParamsOf<typeof updateChannel>,
  isWebPublicAllowed: boolean,
): ChannelUpdate {
  const groups: Partial<Record<GroupSettingName, GroupSettingChange>> = {};
  for (const name of channelGroupSettingNames) {
    const change = params[name];
    // The schema is the type: one is declared for both.
    if (change !== undefined) groups[name] = change as GroupSettingChange;
  }
  return {
    channelId: params.stream_id,
    description: params.description === undefined ? null : describe(view, caller, params.description),
    newName: params.new_name?.trim() ?? null,
    isPrivate: params.is_private ?? null,
    isWebPublic: params.is_web_public ?? null,
    isHistoryPublic: params.history_public_to_subscribers ?? null,
    isDefault: params.is_default_stream ?? null,
    messageRetentionDays: params.message_retention_days ?? null,
    isArchived: params.is_archived ?? null,
    folder: params.folder_id === undefined ? null : { id: params.folder_id },
    topicsPolicy: topicsPolicies.find((policy) => policy === params.topics_policy) ?? null,
    groups,
    isWebPublicAllowed,
  };
}

export function channelRoutes(options: ChannelRouteOptions) {
  return [
    bind(createChannel, (call) => {
      const caller = callerOf(call);
      const { name, subscribers, description, send_new_subscription_messages: _tells, ...settings } = call.params;
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
      const { params } = call;
      const { view } = call.realm;
      const caller = callerOf(call);
      if (params.include_all_active && !isAdministrator(caller)) {
        return refuse.badRequest("User not authorized for this query");
      }
      const streams = chosenChannels(view, caller, params).map((channel) => ({
        ...channelBody(view, channel),
        ...(params.include_default ? { is_default: channel.isDefault } : {}),
      }));
      return ok({ streams });
    }),

    bind(getChannel, (call) => {
      const { view } = call.realm;
      const channel = view.channels.get(call.params.stream_id);
      const isKnown = channel !== undefined && hasMetadataAccess(view, callerOf(call), channel);
      return isKnown ? ok({ stream: channelBody(view, channel) }) : refuse.invalidChannelId();
    }),

    bind(getChannelId, (call) => {
      const { view } = call.realm;
      const { stream: name } = call.params;
      const channel = view.channels.byName(name.trim());
      const isKnown = channel !== undefined && hasMetadataAccess(view, callerOf(call), channel);
      return isKnown ? ok({ stream_id: channel.id }) : refuse.channelNameInvalid(name);
    }),

    bind(getChannelEmail, (call) => {
      const { view } = call.realm;
      const caller = callerOf(call);
      const { stream_id: id, sender_id: senderId } = call.params;
      const channel = view.channels.get(id);
      if (channel === undefined || !hasMetadataAccess(view, caller, channel)) return refuse.invalidChannelId();
      const sender = senderId === undefined ? caller : view.users.get(senderId);
      const isOwn = sender !== undefined && (sender.id === caller.id || canAdministerBot(caller, sender));
      // As a public server does that takes no mail.
      return isOwn ? ok({ email: "" }) : refuse.badRequest("No such bot");
    }),

    bind(createBigBlueButtonCall, () => refuse.badRequest("BigBlueButton is not configured.")),

    bind(updateChannel, (call) => {
      const caller = callerOf(call);
      const update = channelUpdate(call.realm.view, caller, call.params, options.webPublicStreamsEnabled);
      return call.realm.dispatcher.ask(command({ actor: "realm" }, "channel.update", update, caller.id), call.claim);
    }),

    bind(archiveChannel, (call) => {
      const { stream_id: channelId } = call.params;
      const asked = command({ actor: "realm" }, "channel.archive", { channelId }, callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
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
