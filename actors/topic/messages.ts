/** Posting a message (public API: send-message; spec 2.9): O(1) rows, however many people receive it. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelRecord, MessageAttentionRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { checkGroupMentions } from "../../src/domain/group-permissions.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";
import { resolveContent } from "../../src/domain/markdown/resolve.ts";
import { mentionResolver } from "../../src/domain/mention-resolver.ts";
import { channelIndexRow, indexRow } from "../../src/domain/message-index.ts";
import { mayPost } from "../../src/domain/message-rules.ts";
import { hasMetadataAccess, isGuest } from "../../src/domain/permissions.ts";
import { realmSetting } from "../../src/domain/realm-settings.ts";
import { emptyTopicName } from "../../src/domain/topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { notificationBotId } from "../realm/notification-bot.ts";
import { conversationSight } from "../realm/user-sight.ts";
import { readAtOnce } from "../user/read-rows.ts";
import { tellOwner } from "../webhook/reports.ts";
import { attentionOf, calledBots } from "./attention.ts";
import { policiesAfterPost } from "./automatic-policies.ts";
import { contentTraits } from "./content.ts";
import { directName } from "./context.ts";
import { checkDirectRecipients, checkInitiator } from "./direct-access.ts";
import type { TopicContext } from "./machine.ts";
import { consequencesOf } from "./post-consequences.ts";
import { isSubscribedOrBot } from "./posting-access.ts";
import { widgetRows } from "./submessage-rows.ts";
import { checkWildcards } from "./wildcards.ts";

export function postMessage(context: TopicContext, asked: Command<"message.post">, view: View): Outcome<TopicContext> {
  const outcome = post(context, asked, view);
  const { answersMessageId } = asked.params;
  if (outcome.kind === "done" || answersMessageId === undefined) return outcome;
  return done({}, tellOwner(view, asked.callerId ?? 0, answersMessageId, `Its answer was refused: ${outcome.msg}`));
}

function post(context: TopicContext, asked: Command<"message.post">, view: View): Outcome<TopicContext> {
  const sender = callerOf(asked, view);
  if (sender === null) return refuse.noSuchUser();
  if (!sender.isActive) return refuse.userDeactivated();
  return context.userIds === null
    ? postToChannel(context, asked, view, sender)
    : postDirectly(context, asked, view, sender, context.userIds);
}

function postToChannel(
  context: TopicContext,
  asked: Command<"message.post">,
  view: View,
  sender: UserRecord,
): Outcome<TopicContext> {
  const channel = view.channels.get(context.channelId ?? 0);
  if (channel === undefined) return refuse.channelIdUnknown(context.channelId ?? 0);
  const refused = checkPostingToChannel(view, sender, channel, context.topic);
  if (refused !== null) return refused;
  const rendered = resolveContent(asked.params.parsed, mentionResolver(view, speaker(asked, view, sender)));
  const wildcards = { rendered, channel, conversationId: context.id };
  const forbidden = checkWildcards(view, sender, wildcards) ?? checkGroupMentions(view, rendered);
  if (forbidden !== null) return forbidden;
  const calledBotIds = calledBots(view, channel, rendered.mentionedUserIds);
  const post = writeMessage(context, asked, view, sender, { rendered, calledBotIds });
  const { topic, userIds } = context;
  const { message, attention } = post;
  const posted = { message, attention, sender, channel, topic, userIds, rendered };
  const policies = policiesAfterPost(posted, context.id, view);
  const all = [
    ...post.effects,
    effects.put("channelMessages", [channel.id, post.message.id], channelIndexRow(post.message)),
    ...readBefore(view, channel, asked.params.readById, post.message.id),
    // Clients know what the topic is to them before they decide whether to notify (behaviour 5.1).
    ...policies.effects,
    effects.emit("message", messageEventBody(asked, post.message), {
      to: "channel",
      id: channel.id,
      also: calledBotIds,
    }),
  ];
  if (context.id === null) {
    all.push(effects.put("topicNames", [channel.id, fold(context.topic)], { id: post.message.conversationId }));
  }
  all.push(...consequencesOf(posted, view));
  const { ofSender } = policies;
  const answer = { id: post.message.id, ...(ofSender === null ? {} : { automatic_new_visibility_policy: ofSender }) };
  return done(answer, all, post.context);
}

/** Who is not in the channel has nothing unread there. */
function readBefore(view: View, channel: ChannelRecord, userId: number | undefined, messageId: number): Effect[] {
  const isUnread = userId !== undefined && view.subscriptions.isSubscribed(userId, channel.id);
  return isUnread ? readAtOnce(view, userId, messageId) : [];
}

/** Whose sight decides what is linked: the sender's, or that of whom a bot of the server speaks for. */
function speaker(asked: Command<"message.post">, view: View, sender: UserRecord): UserRecord {
  const { mentionsAs } = asked.params;
  return mentionsAs === undefined ? sender : (view.users.get(mentionsAs) ?? sender);
}

/** The order of the public server: permission to post, then access, then the topic (behaviour 5.1). */
function checkPostingToChannel(view: View, sender: UserRecord, channel: ChannelRecord, topic: string): Refusal | null {
  // It tells of a channel in the channel, whatever becomes of it (behaviour 2.4).
  if (sender.id === notificationBotId) return null;
  const isHidden = channel.isPrivate && !isSubscribedOrBot(view, sender, channel);
  // D24: a channel that the sender may not know answers as one that does not exist.
  if (isHidden && !hasMetadataAccess(view, sender, channel)) return refuse.channelIdUnknown(channel.id);
  if (!mayPost(view, sender, channel)) return refuse.badRequest("You do not have permission to post in this channel.");
  const isGuestOutside =
    isGuest(sender) && !channel.isWebPublic && !view.subscriptions.isSubscribed(sender.id, channel.id);
  if (channel.isArchived || isHidden || isGuestOutside) {
    return refuse.badRequest(`Not authorized to send to channel '${channel.name}'`);
  }
  return checkTopicPolicy(view, channel, topic);
}

/** Spec 2.4: the channel's policy, or the organization's when it inherits. */
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
  asked: Command<"message.post">,
  view: View,
  sender: UserRecord,
  userIds: readonly number[],
): Outcome<TopicContext> {
  const refused = checkDirectRecipients(view, sender, userIds) ?? checkInitiator(context, view, sender);
  if (refused !== null) return refused;
  const rendered = resolveContent(asked.params.parsed, mentionResolver(view, speaker(asked, view, sender)));
  const forbidden = checkGroupMentions(view, rendered);
  if (forbidden !== null) return forbidden;
  const post = writeMessage(context, asked, view, sender, { rendered, calledBotIds: [] });
  const all = [
    ...post.effects,
    effects.emit("message", messageEventBody(asked, post.message), { to: "users", ids: userIds }),
  ];
  if (context.id === null) {
    all.unshift(...conversationSight(view, userIds));
    const id = post.message.conversationId;
    all.push(effects.put("directNames", directName(userIds), { id }));
    for (const userId of userIds) all.push(effects.put("directConversations", [userId, id], {}));
  }
  const { message, attention } = post;
  all.push(...consequencesOf({ message, attention, sender, channel: null, topic: "", userIds, rendered }, view));
  return done({ id: post.message.id }, all, post.context);
}

interface WrittenMessage {
  readonly message: MessageRecord;
  readonly attention: MessageAttentionRecord | null;
  readonly effects: Effect[];
  readonly context: Partial<TopicContext>;
}

/** What a message writes wherever it goes: its row, its place in the conversation, the counters. */
function writeMessage(
  context: TopicContext,
  asked: Command<"message.post">,
  view: View,
  sender: UserRecord,
  { rendered, calledBotIds }: { readonly rendered: RenderedContent; readonly calledBotIds: readonly number[] },
): WrittenMessage {
  const conversationId = context.id ?? view.counter("recipient") + 1;
  const attention = attentionOf(view, {
    content: asked.params.content,
    senderId: sender.id,
    mentionsTopic: rendered.hasTopicWildcard,
    conversationId: context.id,
    channelId: context.channelId,
    userIds: context.userIds,
    calledBotIds,
  });
  const messageId = view.counter("message") + 1;
  const widget = widgetRows(view, { id: messageId, senderId: sender.id, content: asked.params.content });
  // Field by field: what is spread into the middle of an object is copied slowly, and each post would pay for it.
  const { mentionedUserIds, mentionedGroupIds } = rendered;
  const message: MessageRecord = {
    id: messageId,
    conversationId,
    senderId: sender.id,
    sentAt: view.now,
    client: asked.params.client,
    content: asked.params.content,
    rendered: rendered.html,
    traits: contentTraits(rendered, {
      isUnreadBySender: !asked.params.isReadBySender,
      isResolveNotice: asked.params.isResolveNotice === true,
      callsAttention: attention !== null,
      hasSubmessages: widget.length > 0,
    }),
    mentionedUserIds,
    mentionedGroupIds,
    editedAt: null,
    moves: [],
  };
  const { unreadByIds } = asked.params;
  return {
    message,
    attention,
    effects: [
      effects.count("message", message.id),
      ...(context.id === null ? [effects.count("recipient", conversationId)] : []),
      effects.put("messages", message.id, message),
      ...(attention === null ? [] : [effects.put("messageAttention", message.id, attention)]),
      ...(unreadByIds === undefined ? [] : [effects.put("resolveNotices", message.id, { unreadByIds })]),
      effects.put("conversationMessages", [conversationId, message.id], indexRow(message)),
      ...widget,
    ],
    context: { id: conversationId, lastMessageId: message.id },
  };
}

/** The event refers to the message; the sending client's own queue also gets its `local_id` back. */
function messageEventBody(asked: Command<"message.post">, message: MessageRecord): Readonly<Record<string, unknown>> {
  const { queueId, localId } = asked.params;
  return queueId === null || localId === null
    ? { message_id: message.id }
    : { message_id: message.id, queue_id: queueId, local_id: localId };
}
