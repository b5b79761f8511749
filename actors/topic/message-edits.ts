/**
 * PATCH /messages/{id} (public API: update-message; behaviour 4.4, 5.6): content, topic, channel. Every check in the order of the
 * public server, then the change: content is one row, a topic's new name one more (renames.ts), and messages that go elsewhere
 * are taken in there, in batches (moves.ts).
 */
import { createHash } from "node:crypto";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait, type MessageTrait } from "../../schemas/message-traits.ts";
import type { MessageAttentionRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { checkGroupMentions } from "../../src/domain/group-permissions.ts";
import { type RenderedContent, resolveContent } from "../../src/domain/markdown/render.ts";
import { mentionResolver } from "../../src/domain/mention-resolver.ts";
import {
  type Changeable,
  checkChannelMove,
  checkContentEdit,
  checkTopicEdit,
  findChangeable,
  findTarget,
  isResolvedEmptyTopic,
  type Move,
  topicToggle,
} from "../../src/domain/message-rules.ts";
import { calledBotsOf } from "../../src/domain/read-state.ts";
import { unprintablePosition } from "../../src/domain/text.ts";
import { cutTopic, namedTopic } from "../../src/domain/topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { MessageEdit } from "../commands/messages.ts";
import type { Address, Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { relinkAttachments } from "./attachments.ts";
import { attentionOf } from "./attention.ts";
import { contentFields, messageRows } from "./content.ts";
import type { TopicContext } from "./machine.ts";
import { placeOf } from "./message-deletion.ts";
import { checkTopicPolicy } from "./messages.ts";
import { rememberMentioned } from "./missed-messages.ts";
import { checkMoveLimit, planMove } from "./move-plan.ts";
import { answerOf, startMove } from "./moves.ts";
import { renameTopic } from "./renames.ts";
import { refileMessage } from "./search.ts";
import { type MessageUpdate, updateEvent } from "./update-events.ts";
import { checkWildcards } from "./wildcards.ts";

export function editMessage(context: TopicContext, asked: Command<"message.edit">, view: View): Outcome<TopicContext> {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { id: messageId } = asked.to as Extract<Address, { actor: "message" }>;
  const found = findChangeable(view, caller, messageId, placeOf(context));
  if ("kind" in found) return found;
  const edit = readEdit(context, asked.params, view, { caller, ...found });
  if ("kind" in edit) return edit;
  return edit.move === null ? editContent(context, edit, view) : moveMessages(context, asked, edit, edit.move, view);
}

/** An edit that passed every check. */
interface CheckedEdit extends Changeable {
  readonly caller: UserRecord;
  /** null: the content stays. */
  readonly rendered: RenderedContent | null;
  readonly text: string;
  /** null: no message changes its place. */
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
  const topic = askedTopic(context, params, view);
  const channelId = params.channelId === context.channelId ? null : params.channelId;
  const refusedForm = checkForm(view, params, asking, topic, channelId);
  if (refusedForm !== null) return refusedForm;

  const move =
    channel === null || (topic === null && channelId === null)
      ? null
      : readMove(context, view, asking, topic, channelId);
  if (move !== null && "kind" in move) return move;
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

/** The name that is meant, not cut yet; null: none, or the one that the topic has. */
function askedTopic(context: TopicContext, { topic }: MessageEdit, view: View): string | null {
  if (topic === null) return null;
  const named = namedTopic(view, topic);
  return context.userIds === null && cutTopic(named) === context.topic ? null : named;
}

function checkForm(
  view: View,
  params: MessageEdit,
  { message, channel }: Asking,
  topic: string | null,
  channelId: number | null,
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
  const position = topic === null ? 0 : unprintablePosition(topic);
  if (position > 0) return refuse.badRequest(`Invalid character in topic, at position ${position}!`);
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

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readMove(
  context: TopicContext,
  view: View,
  { caller, channel }: Asking,
  topic: string | null,
  channelId: number | null,
): CheckedMove | Refusal | null {
  if (channel === null) return null;
  const to = channelId === null ? channel : findTarget(view, caller, channelId);
  if ("kind" in to) return to;
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
  // Another spelling is the whole topic's, whichever message was named.
  const isOfWhole = params.propagateMode === "change_all" || isRespelling(context, move);
  const refusedAge = isOfWhole ? checkMoveLimit(view, caller, move, context.id ?? 0) : null;
  if (refusedAge !== null) return refusedAge;
  return context.movingId === null
    ? null
    : refuse.badRequest("Messages of this topic are being moved. Please try again later.");
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

/** Links to files are those of the new content. */
function relinked(view: View, { rendered, text, message, caller }: CheckedEdit) {
  const isSame = rendered === null || text === message.content;
  return isSame ? { effects: [], detached: [] } : relinkAttachments(view, caller, message.id, rendered.attachmentPaths);
}

/** What the event says of the content; null: it is what it was. */
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

/** The message's row and what it was before. @param moveId the move of the same request */
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
  const attention = attentionOf(view, {
    content: text,
    senderId: message.senderId,
    mentionsTopic: rendered.hasTopicWildcard,
    conversationId: message.conversationId,
    channelId: context.channelId,
    userIds: context.userIds,
    calledBotIds: calledBotsOf(view, message),
  });
  const sequence = (keys.at(-1)?.[1] ?? 0) + 1;
  const edited = editedMessage(view, message, { text, rendered, attention });
  const place = { channelId: context.channelId, topic: context.topic, userIds: context.userIds };
  const participantIds = attention?.participantIds ?? [];
  return [
    ...messageRows(edited, context.channelId),
    ...rememberMentioned(message, { message: edited, ...place, participantIds }, view),
    ...attentionRows(message, attention),
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

/** A move that is under way has not come to this message yet: it is still in the conversation that is left. */
function newestMoveBefore({ movingId }: TopicContext, view: View): number {
  const isUnderWay = movingId !== null && view.row("messageMoves", movingId) !== undefined;
  return isUnderWay ? movingId - 1 : view.counter("move");
}

/** Traits that an edit does not touch. */
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
  readonly attention: MessageAttentionRecord | null;
}

function editedMessage(
  view: View,
  message: MessageRecord,
  { text, rendered, attention }: EditedContent,
): MessageRecord {
  const kept = Object.fromEntries(lasting.map((trait) => [trait, hasTrait(message.traits, trait)]));
  const others = { ...kept, callsAttention: attention !== null };
  return { ...message, ...contentFields(text, rendered, others), editedAt: view.now };
}

/** Alert words and topic mentions are those of the new content. */
function attentionRows(message: MessageRecord, attention: MessageAttentionRecord | null): Effect[] {
  if (attention !== null) return [effects.put("messageAttention", message.id, attention)];
  return hasTrait(message.traits, "callsAttention") ? [effects.remove("messageAttention", message.id)] : [];
}

function moveMessages(
  context: TopicContext,
  asked: Command<"message.edit">,
  edit: CheckedEdit,
  checked: CheckedMove,
  view: View,
): Outcome<TopicContext> {
  const { caller, message } = edit;
  const links = relinked(view, edit);
  const planned = planMove(context, asked, view, {
    caller,
    message,
    from: checked.from,
    to: checked.to,
    topic: checked.topic,
  });
  const update = contentUpdate(edit);
  const content = [...contentEffects(context, view, edit, planned.moveId), ...links.effects];
  // A toggle and a change of content in one request: the notice would tell half of it.
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
  const told =
    update === null
      ? []
      : [updateEvent(view, context, { ...update, userId: caller.id, at: view.now, messageIds: [message.id] })];
  return startMove(view, move, [...content, ...told]);
}
