/** Channels and topics (spec 4.3, 4.13; public API: get-streams). */
import { command } from "../../../actors/protocol/decision.ts";
import { canAdministerBot } from "../../../domain/bots.ts";
import { renderDescription } from "../../../domain/markdown/render.ts";
import { mentionResolver } from "../../../domain/mention-resolver.ts";
import { hasMetadataAccess, isAdministrator } from "../../../domain/permissions.ts";
import { topicFor } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import {
  archiveChannel,
  type ChannelCreate,
  type ChannelUpdate,
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
import { type GroupSettingChange, type GroupSettingValue, topicsPolicies } from "../../../schemas/types.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { channelBody, chosenChannels } from "../../queries/channels.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

export interface ChannelRouteOptions {
  /** Whether the server allows web-public channels (spec 4.3, D6). */
  readonly webPublicStreamsEnabled: boolean;
  /** Time limit of a deletion request (spec 4.13). */
  readonly topicDeletionTimeoutMs: number;
}

type CreationParams = Omit<
  ParamsOf<typeof createChannel>,
  "name" | "subscribers" | "description" | "send_new_subscription_messages"
>;
type Template = Omit<ChannelCreate, "name" | "description" | "renderedDescription" | "subscriberIds">;

/** Settings of new channels, shared by create-channel and subscribe. */
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

/** Line breaks in a description become spaces (behaviour 2.3). */
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
    // The schema guarantees the type; both are declared together.
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
      const caller = requireCaller(call);
      const { name, subscribers, description, send_new_subscription_messages: _tells, ...settings } = call.params;
      if (name.trim() === "") return refuse.badRequest("name cannot be blank");
      const params: ChannelCreate = {
        ...channelTemplate(settings, options),
        ...describe(call.realm.view, caller, description),
        name: name.trim(),
        subscriberIds: subscribers,
      };
      return call.realm.dispatcher.ask(
        command({ actor: "realm" }, "channel.create", params, caller.id),
        call.idempotencyKey,
      );
    }),

    bind(getStreams, (call) => {
      const { params } = call;
      const { view } = call.realm;
      const caller = requireCaller(call);
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
      const isKnown = channel !== undefined && hasMetadataAccess(view, requireCaller(call), channel);
      return isKnown ? ok({ stream: channelBody(view, channel) }) : refuse.invalidChannelId();
    }),

    bind(getChannelId, (call) => {
      const { view } = call.realm;
      const { stream: name } = call.params;
      const channel = view.channels.byName(name.trim());
      const isKnown = channel !== undefined && hasMetadataAccess(view, requireCaller(call), channel);
      return isKnown ? ok({ stream_id: channel.id }) : refuse.invalidChannelName(name);
    }),

    bind(getChannelEmail, (call) => {
      const { view } = call.realm;
      const caller = requireCaller(call);
      const { stream_id: id, sender_id: senderId } = call.params;
      const channel = view.channels.get(id);
      if (channel === undefined || !hasMetadataAccess(view, caller, channel)) return refuse.invalidChannelId();
      const sender = senderId === undefined ? caller : view.users.get(senderId);
      const isOwn = sender !== undefined && (sender.id === caller.id || canAdministerBot(caller, sender));
      // As a public server without incoming mail answers.
      return isOwn ? ok({ email: "" }) : refuse.badRequest("No such bot");
    }),

    bind(createBigBlueButtonCall, () => refuse.badRequest("BigBlueButton is not configured.")),

    bind(updateChannel, (call) => {
      const caller = requireCaller(call);
      const update = channelUpdate(call.realm.view, caller, call.params, options.webPublicStreamsEnabled);
      return call.realm.dispatcher.ask(
        command({ actor: "realm" }, "channel.update", update, caller.id),
        call.idempotencyKey,
      );
    }),

    bind(archiveChannel, (call) => {
      const { stream_id: channelId } = call.params;
      return call.realm.dispatcher.ask(
        command({ actor: "realm" }, "channel.archive", { channelId }, requireCaller(call).id),
        call.idempotencyKey,
      );
    }),

    bind(deleteTopic, (call) => {
      const { stream_id: channelId, topic_name: name } = call.params;
      const { view, dispatcher } = call.realm;
      return dispatcher.ask(
        command(
          { actor: "topic-deletion", channelId, topic: topicFor(view, name) },
          "topic-deletion.request",
          { deadline: view.now + options.topicDeletionTimeoutMs },
          requireCaller(call).id,
        ),
      );
    }),
  ];
}
