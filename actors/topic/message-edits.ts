/**
 * PATCH /messages/{id} (public API: update-message; behaviour 4.4, 5.6): content, topic, channel. All checks run first,
 * in the public server's order. New content changes one row, a rename one more (renames.ts). The target of a move
 * imports the messages in batches (moves.ts).
 */

import { createHash } from "node:crypto";
import { checkGroupMentions } from "../../domain/group-permissions.ts";
import { type RenderedContent, resolveContent } from "../../domain/markdown/render.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import {
  type Changeable,
  checkChannelMove,
  checkContentEdit,
  checkTopicEdit,
  findChangeable,
  isResolvedEmptyTopic,
  type Move,
  topicToggle,
} from "../../domain/message-rules.ts";
import { openChannel } from "../../domain/permissions.ts";
import { mentionedBotsOf } from "../../domain/read-state.ts";
import { checkTopicName, cutTopic, namedTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageEdit } from "../../schemas/message-changes.ts";
import { hasTrait, type MessageTrait } from "../../schemas/message-traits.ts";
import type { MessageAlertsRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  done,
  type Effect,
  effects,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { relinkAttachments } from "../rules/message-rows.ts";
import { rememberMentioned } from "../rules/missed-messages.ts";
import { contentFields, messageRows, type TopicContext } from "./context.ts";
import { checkTopicPolicy } from "./messages.ts";
import { checkMoveLimit, planMove } from "./move-plan.ts";
import { answerOf, startMove } from "./moves.ts";
import { alertsOf, checkWildcards } from "./post-effects.ts";
import { renameTopic } from "./renames.ts";
import { refileMessage } from "./search.ts";
import { type MessageUpdate, updateEvent } from "./update-events.ts";

export function editMessage(
  caller: UserRecord,
  params: Params<"message.edit">,
  view: View,
  command: Command<"message.edit">,
  context: TopicContext,
): Outcome<TopicContext> {
  const edit = checkEdit(context, view, caller, addressAs(command.to, "message").id, params);
  if (isRefusal(edit)) return edit;
  return edit.move === null ? editContent(context, edit, view) : moveMessages(context, command, edit, edit.move, view);
}

/** The content may still change. A second move must wait; that error follows all other checks. */
export function editWhileMoving(
  caller: UserRecord,
  params: Params<"message.edit">,
  view: View,
  { to }: Command<"message.edit">,
  context: TopicContext,
): Outcome<TopicContext> {
  const edit = checkEdit(context, view, caller, addressAs(to, "message").id, params);
  if (isRefusal(edit)) return edit;
  return edit.move === null
    ? editContent(context, edit, view)
    : refuse.badRequest("Messages of this topic are being moved. Please try again later.");
}

function checkEdit(
  context: TopicContext,
  view: View,
  caller: UserRecord,
  messageId: MessageId,
  params: MessageEdit,
): CheckedEdit | Refusal {
  const found = findChangeable(view, caller, messageId, context);
  return isRefusal(found) ? found : readEdit(context, params, view, { caller, ...found });
}

/** An edit that passed all checks. */
interface CheckedEdit extends Changeable {
  readonly caller: UserRecord;
  /** null: the content is unchanged. */
  readonly rendered: RenderedContent | null;
  readonly text: string;
  /** null: no message moves. */
  readonly move: CheckedMove | null;
}

interface CheckedMove extends Move {
  readonly topic: string;
}

type Asking = Changeable & { readonly caller: UserRecord };

function readEdit(context: TopicContext, params: MessageEdit, view: View, asking: Asking): CheckedEdit | Refusal {
  const { caller, message, channel } = asking;
  const refusedContent = params.content === null ? null : checkContentEdit(view, caller, message);
  if (refusedContent !== null) return refusedContent;
  const topic = requestedTopic(context, params, view);
  const channelId = params.channelId === context.channelId ? null : params.channelId;
  const refusedForm = checkForm(context, view, params, asking, { topic, channelId });
  if (refusedForm !== null) return refusedForm;

  const move =
    channel === null || (topic === null && channelId === null)
      ? null
      : readMove(context, view, asking, topic, channelId);
  if (isRefusal(move)) return move;
  const refusedTopic = move === null ? null : checkTopicEdit(view, caller, message, move);
  if (refusedTopic !== null) return refusedTopic;
  const rendered =
    params.content === null ? null : resolveContent(params.content.parsed, mentionResolver(view, caller));
  const refusedWildcard =
    rendered === null || channel === null
      ? null
      : checkWildcards(view, caller, { rendered, channel, conversationId: context.id });
  const refusedMention = refusedWildcard ?? (rendered === null ? null : checkGroupMentions(view, rendered));
  if (refusedMention !== null) return refusedMention;
  const refusedMove = move === null ? null : checkMove(context, view, asking, move, params);
  return refusedMove ?? { ...asking, rendered, text: params.content?.text ?? message.content, move };
}

/** The requested topic, not yet truncated; null: none, or the current name. */
function requestedTopic(context: TopicContext, { topic }: MessageEdit, view: View): string | null {
  if (topic === null) return null;
  const named = namedTopic(view, topic);
  return context.userIds === null && cutTopic(named) === context.topic ? null : named;
}

function checkForm(
  context: TopicContext,
  view: View,
  params: MessageEdit,
  { caller, message, channel }: Asking,
  { topic, channelId }: { readonly topic: string | null; readonly channelId: ChannelId | null },
): Refusal | null {
  if (params.content === null && topic === null && channelId === null) return refuse.badRequest("Nothing to change");
  if (channel === null && channelId !== null) return refuse.badRequest("Direct messages cannot be moved to channels.");
  if (channel === null && topic !== null) return refuse.badRequest("Direct messages cannot have topics.");
  if (params.propagateMode !== "change_one" && topic === null && channelId === null) {
    return refuse.badRequest("Invalid propagate_mode without topic edit");
  }
  if (topic !== null && isResolvedEmptyTopic(view, topic)) {
    return refuse.badRequest("General chat cannot be marked as resolved");
  }
  const badName = topic === null ? null : checkNewTopic(context, view, caller, { topic, channelId });
  if (badName !== null) return badName;
  if (channelId !== null && params.content !== null) {
    return refuse.badRequest("Cannot change message content while changing channel");
  }
  if (params.content !== null && hasTrait(message.traits, "hasSubmessages")) {
    return refuse.badRequest("Widgets cannot be edited.");
  }
  const { prevContentSha256: hash } = params;
  const isExpected = hash === null || hash.toLowerCase() === sha256(message.content);
  return isExpected ? null : refuse.expectationMismatch("prev_content_sha256");
}

/** Resolving a topic, which its name says, keeps the rest of the name. */
function checkNewTopic(
  context: TopicContext,
  view: View,
  caller: UserRecord,
  { topic, channelId }: { readonly topic: string; readonly channelId: ChannelId | null },
): Refusal | null {
  const cut = cutTopic(topic);
  const isToggle = channelId === null && topicToggle(context.topic, cut) !== "none";
  return isToggle ? null : checkTopicName(view, caller, channelId ?? context.channelId ?? 0, cut);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readMove(
  context: TopicContext,
  view: View,
  { caller, channel }: Asking,
  topic: string | null,
  channelId: ChannelId | null,
): CheckedMove | Refusal | null {
  if (channel === null) return null;
  const to = channelId === null ? channel : openChannel(view, caller, channelId);
  if (isRefusal(to)) return to;
  const cut = topic === null ? context.topic : cutTopic(topic);
  const refused = checkTopicPolicy(view, to, cut);
  if (refused !== null) return refused;
  const toggle = topic === null ? "none" : topicToggle(context.topic, cut);
  return { from: channel, to, topic: cut, toggle, isTopicChanged: topic !== null };
}

function checkMove(
  context: TopicContext,
  view: View,
  { caller, message }: Asking,
  move: CheckedMove,
  params: MessageEdit,
): Refusal | null {
  const refused = checkChannelMove(view, caller, message, move);
  if (refused !== null) return refused;
  // A change of spelling always applies to the whole topic, regardless of the message that was named.
  const isOfWhole = params.propagateMode === "change_all" || isRespelling(context, move);
  return isOfWhole ? checkMoveLimit(view, caller, move, message.conversationId) : null;
}

function isRespelling(context: TopicContext, { from, to, topic }: CheckedMove): boolean {
  return from.id === to.id && fold(topic) === fold(context.topic);
}

function editContent(context: TopicContext, edit: CheckedEdit, view: View): Outcome<TopicContext> {
  const update = contentUpdate(edit);
  if (update === null) return done(answerOf({}), []);
  const links = relinked(view, edit);
  return done(answerOf({ detachedUploads: links.detached }), [
    ...contentEffects(context, view, edit, null),
    ...links.effects,
    updateEvent(view, context, { ...update, userId: edit.caller.id, at: view.now, messageIds: [edit.message.id] }),
  ]);
}

/** File links follow the new content. */
function relinked(view: View, { rendered, text, message, caller }: CheckedEdit) {
  const isSame = rendered === null || text === message.content;
  return isSame ? { effects: [], detached: [] } : relinkAttachments(view, caller, message.id, rendered.attachmentPaths);
}

/** The content part of the event; null: the content is unchanged. */
function contentUpdate({ rendered, text, message }: CheckedEdit): Pick<MessageUpdate, "messageId" | "content"> | null {
  if (rendered === null || text === message.content) return null;
  return {
    messageId: message.id,
    content: {
      orig_content: message.content,
      orig_rendered_content: message.rendered,
      content: text,
      rendered_content: rendered.html,
      is_me_message: rendered.isMeMessage,
    },
  };
}

/**
 * The message's new row and a history entry with its previous content.
 * @param moveId the move in the same request, if any
 */
function contentEffects(context: TopicContext, view: View, edit: CheckedEdit, moveId: number | null): Effect[] {
  const { rendered, text, message, caller } = edit;
  if (rendered === null || text === message.content) return [];
  const { content: prevContent, rendered: prevRendered } = message;
  const keys = view.keys("messageEdits", {
    start: [message.id],
    end: [message.id + 1],
    limit: limits.message_history_entries_max,
  });
  const [oldest] = keys;
  const alerts = alertsOf(view, {
    content: text,
    senderId: message.senderId,
    mentionsTopic: rendered.hasTopicWildcard,
    conversationId: message.conversationId,
    channelId: context.channelId,
    userIds: context.userIds,
    mentionedBotIds: mentionedBotsOf(view, message),
  });
  const sequence = (keys.at(-1)?.[1] ?? 0) + 1;
  const edited = editedMessage(view, message, { text, rendered, alerts });
  const place = { channelId: context.channelId, topic: context.topic, userIds: context.userIds };
  const participantIds = alerts?.participantIds ?? [];
  return [
    ...messageRows(edited, context.channelId),
    ...rememberMentioned(message, { message: edited, ...place, participantIds }, view),
    ...alertRows(message, alerts),
    refileMessage(message.id),
    effects.put("messageEdits", [message.id, sequence], {
      userId: caller.id,
      at: view.now,
      prevContent,
      prevRendered,
      moveId,
      afterMoveId: newestMoveBefore(context, view),
    }),
    ...(oldest !== undefined && keys.length === limits.message_history_entries_max
      ? [effects.remove("messageEdits", oldest)]
      : []),
  ];
}

/** While a move is running, the messages that are still in this conversation have not been moved by it. */
function newestMoveBefore({ movingId }: TopicContext, view: View): number {
  const isUnderWay = movingId !== null && view.row("messageMoves", movingId) !== undefined;
  return isUnderWay ? movingId - 1 : view.counter("move");
}

/** Traits that an edit keeps. */
const lasting: readonly MessageTrait[] = [
  "isUnreadBySender",
  "hasReactions",
  "isResolveNotice",
  "changedChannel",
  "hasSubmessages",
];

interface EditedContent {
  readonly text: string;
  readonly rendered: RenderedContent;
  readonly alerts: MessageAlertsRecord | null;
}

function editedMessage(view: View, message: MessageRecord, { text, rendered, alerts }: EditedContent): MessageRecord {
  const kept = Object.fromEntries(lasting.map((trait) => [trait, hasTrait(message.traits, trait)]));
  const others = { ...kept, hasAlerts: alerts !== null };
  return { ...message, ...contentFields(text, rendered, others), editedAt: view.now };
}

/** Alert words and topic mentions follow the new content. */
function alertRows(message: MessageRecord, alerts: MessageAlertsRecord | null): Effect[] {
  if (alerts !== null) return [effects.put("messageAlerts", message.id, alerts)];
  return hasTrait(message.traits, "hasAlerts") ? [effects.remove("messageAlerts", message.id)] : [];
}

function moveMessages(
  context: TopicContext,
  command: Command<"message.edit">,
  edit: CheckedEdit,
  checked: CheckedMove,
  view: View,
): Outcome<TopicContext> {
  const { caller, message } = edit;
  const links = relinked(view, edit);
  const planned = planMove(context, command, view, {
    caller,
    message,
    from: checked.from,
    to: checked.to,
    topic: checked.topic,
  });
  const update = contentUpdate(edit);
  const content = [...contentEffects(context, view, edit, planned.moveId), ...links.effects];
  // The request resolves the topic and edits the content at once. The notice would mention only the first, so none is
  // posted.
  const toggle = content.length === 0 ? checked.toggle : "none";
  const isToggle = checked.toggle !== "none" && planned.isWhole && checked.from.id === checked.to.id;
  const move = {
    ...planned,
    detachedUploads: links.detached,
    ...(isToggle ? { toggle, notifiesNewThread: false } : {}),
  };
  if (move.isRename) {
    return renameTopic(context, view, move, { content, update: update?.content ?? {} });
  }
  const contentEvents =
    update === null
      ? []
      : [updateEvent(view, context, { ...update, userId: caller.id, at: view.now, messageIds: [message.id] })];
  return startMove(view, move, [...content, ...contentEvents]);
}

export const messageEditsDecisions = {
  "message.edit": forUser(editMessage),
} as const;
