/**
 * Posts a message (public API: send-message; spec 2.9). The number of rows does not depend on the number of recipients.
 */

import { checkGroupMentions } from "../../domain/group-permissions.ts";
import type { RenderedContent } from "../../domain/markdown/render.ts";
import { resolveContent } from "../../domain/markdown/resolve.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { mayPost } from "../../domain/message-rules.ts";
import { hasMetadataAccess, isGuest } from "../../domain/permissions.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { emptyTopicName } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import { fold } from "../../schemas/fold.ts";
import type { MessageId, UserId } from "../../schemas/ids.ts";
import type { MessageAlertsRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Command,
  callerOf,
  done,
  type Effect,
  effects,
  forAdministrator,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { widgetRows } from "../rules/message-rows.ts";
import { botDirectMessage, notificationBotId } from "../rules/notification-bot.ts";
import { checkDirectRecipients, checkInitiator, isSubscribedOrBot } from "../rules/posting-access.ts";
import { readAtOnce } from "../rules/read-rows.ts";
import { conversationVisibility } from "../rules/user-visibility.ts";
import { reportFailureToOwner } from "../rules/webhook-reports.ts";
import { channelIndexRow, contentTraits, directName, indexRow, type TopicContext } from "./context.ts";
import { alertsOf, checkWildcards, followUpEffects, namedBots, policiesAfterPost } from "./post-effects.ts";

function postMessage(
  sender: UserRecord,
  { answersMessageId }: Params<"message.post">,
  view: View,
  command: Command<"message.post">,
  context: TopicContext,
): Outcome<TopicContext> {
  const outcome = post(context, command, view, sender);
  if (outcome.kind === "done" || answersMessageId === undefined) return outcome;
  return done({}, reportFailureToOwner(view, sender.id, answersMessageId, `Its answer was refused: ${outcome.msg}`));
}

/** Posts a message for another decision. Its sender may have been deactivated. */
export function postNow(context: TopicContext, command: Command<"message.post">, view: View): Outcome<TopicContext> {
  const sender = callerOf(command, view);
  return sender?.isActive === true ? post(context, command, view, sender) : refuse.userDeactivated();
}

function post(
  context: TopicContext,
  command: Command<"message.post">,
  view: View,
  sender: UserRecord,
): Outcome<TopicContext> {
  return context.userIds === null
    ? postToChannel(context, command, view, sender)
    : postDirectly(context, command, view, sender, context.userIds);
}

function postToChannel(
  context: TopicContext,
  command: Command<"message.post">,
  view: View,
  sender: UserRecord,
): Outcome<TopicContext> {
  const channel = view.channels.get(context.channelId ?? 0);
  if (channel === undefined) return refuse.channelIdUnknown(context.channelId ?? 0);
  const refused = checkPostingToChannel(view, sender, channel, context.topic);
  if (refused !== null) return refused;
  const rendered = resolveContent(command.params.parsed, mentionResolver(view, mentionAuthor(command, view, sender)));
  const wildcards = { rendered, channel, conversationId: context.id };
  const forbidden = checkWildcards(view, sender, wildcards) ?? checkGroupMentions(view, rendered);
  if (forbidden !== null) return forbidden;
  const mentionedBotIds = namedBots(view, channel, rendered.mentionedUserIds);
  const post = writeMessage(context, command, view, sender, { rendered, mentionedBotIds });
  const { topic, userIds } = context;
  const { message, alerts } = post;
  const posted = { message, alerts, sender, channel, topic, userIds, rendered };
  const policies = policiesAfterPost(posted, context.id, view);
  const all = [
    ...post.effects,
    effects.put("channelMessages", [channel.id, post.message.id], channelIndexRow(post.message)),
    ...readBefore(view, channel, command.params.readById, post.message.id),
    // Clients must know the topic's policy before they decide whether to notify (behaviour 5.1).
    ...policies.effects,
    effects.emit("message", messageEventBody(command, post.message), {
      to: "channel",
      id: channel.id,
      also: mentionedBotIds,
    }),
  ];
  if (context.id === null) {
    all.push(effects.put("topicNames", [channel.id, fold(context.topic)], { id: post.message.conversationId }));
  }
  all.push(...followUpEffects(posted, view));
  const { ofSender } = policies;
  const answer = { id: post.message.id, ...(ofSender === null ? {} : { automatic_new_visibility_policy: ofSender }) };
  return done(answer, all, post.context, stateAfter(context));
}

/** Only subscribers have unread messages in a channel. */
function readBefore(view: View, channel: ChannelRecord, userId: UserId | undefined, messageId: MessageId): Effect[] {
  const isUnread = userId !== undefined && view.subscriptions.isSubscribed(userId, channel.id);
  return isUnread ? readAtOnce(view, userId, messageId) : [];
}

/**
 * The user whose access decides which mentions become links: the sender, or the user on whose behalf a bot of the
 * server posts.
 */
function mentionAuthor(command: Command<"message.post">, view: View, sender: UserRecord): UserRecord {
  const { mentionsAs } = command.params;
  return mentionsAs === undefined ? sender : (view.users.get(mentionsAs) ?? sender);
}

/** In the public server's order: permission to post, then access, then the topic (behaviour 5.1). */
function checkPostingToChannel(view: View, sender: UserRecord, channel: ChannelRecord, topic: string): Refusal | null {
  // The notification bot may always post notices about a channel in it (behaviour 2.4).
  if (sender.id === notificationBotId) return null;
  const isHidden = channel.isPrivate && !isSubscribedOrBot(view, sender, channel);
  // D24: a channel that the sender may not see is answered like one that does not exist.
  if (isHidden && !hasMetadataAccess(view, sender, channel)) return refuse.channelIdUnknown(channel.id);
  if (!mayPost(view, sender, channel)) return refuse.badRequest("You do not have permission to post in this channel.");
  const isGuestOutside =
    isGuest(sender) && !channel.isWebPublic && !view.subscriptions.isSubscribed(sender.id, channel.id);
  if (channel.isArchived || isHidden || isGuestOutside) {
    return refuse.badRequest(`Not authorized to send to channel '${channel.name}'`);
  }
  return checkTopicPolicy(view, channel, topic);
}

/** Spec 2.4: the channel's policy, or the organization's if the channel inherits. */
export function checkTopicPolicy(view: View, channel: ChannelRecord, topic: string): Refusal | null {
  const name = emptyTopicName(view);
  const policy = channel.topicsPolicy === "inherit" ? realmSetting(view, "topics_policy") : channel.topicsPolicy;
  if (policy === "empty_topic_only" && topic !== "") {
    return refuse.onlyEmptyTopicAllowed(name);
  }
  if (policy === "disable_empty_topic" && topic === "") {
    return refuse.emptyTopicNotAllowed(name);
  }
  return null;
}

function postDirectly(
  context: TopicContext,
  command: Command<"message.post">,
  view: View,
  sender: UserRecord,
  userIds: readonly UserId[],
): Outcome<TopicContext> {
  const refused = checkDirectRecipients(view, sender, userIds) ?? checkInitiator(context, view, sender);
  if (refused !== null) return refused;
  const rendered = resolveContent(command.params.parsed, mentionResolver(view, mentionAuthor(command, view, sender)));
  const forbidden = checkGroupMentions(view, rendered);
  if (forbidden !== null) return forbidden;
  const post = writeMessage(context, command, view, sender, { rendered, mentionedBotIds: [] });
  const all = [
    ...post.effects,
    effects.emit("message", messageEventBody(command, post.message), { to: "users", ids: userIds }),
  ];
  if (context.id === null) {
    all.unshift(...conversationVisibility(view, userIds));
    const id = post.message.conversationId;
    all.push(effects.put("directNames", directName(userIds), { id }));
    for (const userId of userIds) all.push(effects.put("directConversations", [userId, id], {}));
  }
  const { message, alerts } = post;
  all.push(...followUpEffects({ message, alerts, sender, channel: null, topic: "", userIds, rendered }, view));
  return done({ id: post.message.id }, all, post.context, stateAfter(context));
}

/** The first message opens the conversation. */
function stateAfter({ id }: TopicContext): string | undefined {
  return id === null ? "open" : undefined;
}

interface WrittenMessage {
  readonly message: MessageRecord;
  readonly alerts: MessageAlertsRecord | null;
  readonly effects: Effect[];
  readonly context: Partial<TopicContext>;
}

/** Rows that every message writes: its row, its index entry in the conversation, the counters. */
function writeMessage(
  context: TopicContext,
  command: Command<"message.post">,
  view: View,
  sender: UserRecord,
  { rendered, mentionedBotIds }: { readonly rendered: RenderedContent; readonly mentionedBotIds: readonly UserId[] },
): WrittenMessage {
  const conversationId = context.id ?? view.counter("recipient") + 1;
  const alerts = alertsOf(view, {
    content: command.params.content,
    senderId: sender.id,
    mentionsTopic: rendered.hasTopicWildcard,
    conversationId: context.id,
    channelId: context.channelId,
    userIds: context.userIds,
    mentionedBotIds,
  });
  const messageId = view.counter("message") + 1;
  const { content, widget: given } = command.params;
  const widget = widgetRows(view, { id: messageId, senderId: sender.id, content }, given);
  // Fields are listed one by one because a spread inside an object literal is slow to copy and every post would pay for
  // it.
  const { mentionedUserIds, mentionedGroupIds } = rendered;
  const message: MessageRecord = {
    id: messageId,
    conversationId,
    senderId: sender.id,
    sentAt: view.now,
    client: command.params.client,
    content: command.params.content,
    rendered: rendered.html,
    traits: contentTraits(rendered, {
      isUnreadBySender: !command.params.isReadBySender,
      isResolveNotice: command.params.isResolveNotice === true,
      hasAlerts: alerts !== null,
      hasSubmessages: widget.length > 0,
    }),
    mentionedUserIds,
    mentionedGroupIds,
    editedAt: null,
    moves: [],
  };
  const { unreadByIds } = command.params;
  return {
    message,
    alerts,
    effects: [
      effects.setCounter("message", message.id),
      ...(context.id === null ? [effects.setCounter("recipient", conversationId)] : []),
      effects.put("messages", message.id, message),
      ...(alerts === null ? [] : [effects.put("messageAlerts", message.id, alerts)]),
      ...(unreadByIds === undefined ? [] : [effects.put("resolveNotices", message.id, { unreadByIds })]),
      effects.put("conversationMessages", [conversationId, message.id], indexRow(message)),
      ...widget,
    ],
    context: { id: conversationId, lastMessageId: message.id },
  };
}

/** The event references the message. The sending client's own queue also receives its `local_id`. */
function messageEventBody(command: Command<"message.post">, message: MessageRecord): StoredBody<"message"> {
  const { queueId, localId } = command.params;
  return queueId === null || localId === null
    ? { message_id: message.id }
    : { message_id: message.id, queue_id: queueId, local_id: localId };
}

function testWelcome(
  { text }: Params<"welcome.test">,
  view: View,
  caller: UserRecord,
  _asked: unknown,
  context: TopicContext,
): Outcome<TopicContext> {
  const outcome = postNow(context, botDirectMessage(caller.id, text), view);
  if (outcome.kind === "refused") return outcome;
  return done({ message_id: outcome.answer?.["id"] }, outcome.effects, outcome.context, outcome.to);
}

export const messagesDecisions = {
  "message.post": forUser(postMessage),
  "welcome.test": forAdministrator(testWelcome),
} as const;
