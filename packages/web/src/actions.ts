/** What a person does to messages. Reactions and stars show at once, and are taken back if the server rejects them. */
import { signal } from "@preact/signals";
import type { Message } from "../../client/src/api/index.ts";
import { client } from "./api.ts";
import { fenced } from "./compose/fences.ts";
import { hrefOf } from "./navigation.ts";
import { attempt, complain, tell } from "./notices.ts";
import { directNarrow, type Place, topicNarrow, withMessage } from "./state/narrow.ts";
import { applyToStore, channelName, isTopicMuted, mutedChannels, myId, nameOf } from "./store.ts";

/** The message that is being edited in its place. */
export const editing = signal<number | null>(null);

export type MessageDialog = "delete" | "move" | "history" | "receipts" | "react";
/** The dialog about a message that is open. */
export const messageDialog = signal<{ readonly kind: MessageDialog; readonly message: Message } | null>(null);

export interface EmojiChoice {
  readonly emoji_name: string;
  readonly emoji_code: string;
  readonly reaction_type: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
}

export const thumbsUp: EmojiChoice = { emoji_name: "+1", emoji_code: "1f44d", reaction_type: "unicode_emoji" };

export async function toggleReaction(message: Message, emoji: EmojiChoice): Promise<void> {
  const { emoji_name, emoji_code, reaction_type } = emoji;
  const isMine = message.reactions.some(
    (one) => one.user_id === myId.peek() && one.emoji_code === emoji_code && one.reaction_type === reaction_type,
  );
  const show = (op: "add" | "remove") => {
    const user = { user_id: myId.peek(), email: "", full_name: nameOf(myId.peek()) };
    const what = { emoji_name, emoji_code, reaction_type, message_id: message.id, user_id: user.user_id };
    applyToStore({ type: "reaction", id: 0, op, ...what, user });
  };
  show(isMine ? "remove" : "add");
  try {
    const operation = isMine ? "DELETE /messages/{message_id}/reactions" : "POST /messages/{message_id}/reactions";
    await client.call(operation, { message_id: message.id, emoji_name, emoji_code, reaction_type });
  } catch (error) {
    show(isMine ? "add" : "remove");
    complain(isMine ? "The reaction was not removed" : "The reaction was not added", error);
  }
}

export async function toggleStar(message: Message): Promise<void> {
  const isStarred = message.flags.includes("starred");
  const show = (op: "add" | "remove") => {
    const what = { flag: "starred", messages: [message.id], all: false } as const;
    applyToStore({ type: "update_message_flags", id: 0, op, operation: op, ...what });
  };
  show(isStarred ? "remove" : "add");
  try {
    await client.call("POST /messages/flags", {
      flag: "starred",
      op: isStarred ? "remove" : "add",
      messages: [message.id],
    });
  } catch (error) {
    show(isStarred ? "add" : "remove");
    complain("The star was not changed", error);
  }
}

/** The conversation of a message, at the message. */
export function conversationOf(message: Message, near: number | null = message.id): Place {
  if (message.stream_id !== undefined) {
    const target = topicNarrow(message.stream_id, message.subject, near);
    return near === null ? withMessage(target, message.id) : target;
  }
  const people = typeof message.display_recipient === "string" ? [] : message.display_recipient;
  const others = people.map(({ id }) => id).filter((id) => id !== myId.peek());
  return directNarrow(others.length === 0 ? [myId.peek()] : others, near);
}

export function linkTo(message: Message): string {
  return `${location.origin}/${hrefOf(conversationOf(message))}`;
}

export async function copyText(text: string, done: string): Promise<void> {
  await attempt("The browser did not allow copying", async () => {
    await navigator.clipboard.writeText(text);
    tell(done);
  });
}

/** The text that was typed, not its rendering. */
export async function readSource(id: number): Promise<string> {
  const { raw_content: source } = await client.call("GET /messages/{message_id}", {
    message_id: id,
    apply_markdown: false,
    allow_empty_topic_name: true,
  });
  return source;
}

/** A quote of a message, as text for the compose box. */
export async function quoteOf(message: Message): Promise<string> {
  const source = await readSource(message.id);
  const who = `@_**${message.sender_full_name}|${message.sender_id}**`;
  return `${who} [said](${linkTo(message)}):\n${fenced("quote", source)}\n`;
}

const resolvedMark = "✔ ";

export function isResolved(topic: string): boolean {
  return topic.startsWith(resolvedMark);
}

export function shownTopic(topic: string): string {
  return isResolved(topic) ? topic.slice(resolvedMark.length) : topic;
}

/** @param anyId a message of the topic */
export async function toggleResolved(anyId: number, topic: string): Promise<boolean> {
  const next = isResolved(topic) ? topic.slice(resolvedMark.length) : `${resolvedMark}${topic}`;
  return attempt("The topic was not changed", () =>
    client.call("PATCH /messages/{message_id}", {
      message_id: anyId,
      topic: next,
      propagate_mode: "change_all",
      send_notification_to_old_thread: false,
      send_notification_to_new_thread: true,
    }),
  );
}

export async function setTopicPolicy(channelId: number, topic: string, policy: 0 | 1 | 2 | 3): Promise<void> {
  const done = [
    "The topic is as its channel.",
    "The topic is muted.",
    "The topic is unmuted.",
    "You follow the topic.",
  ];
  const isDone = await attempt("The topic was not changed", () =>
    client.call("POST /user_topics", { stream_id: channelId, topic, visibility_policy: policy }),
  );
  if (isDone) tell(done[policy] ?? "");
}

/** In a muted channel, a topic has to be unmuted itself. */
export function toggleTopicMuted(channelId: number, topic: string): Promise<void> {
  if (!isTopicMuted(channelId, topic)) return setTopicPolicy(channelId, topic, 1);
  return setTopicPolicy(channelId, topic, mutedChannels.peek().has(channelId) ? 2 : 0);
}

export async function markTopicRead(channelId: number, topic: string): Promise<void> {
  await attempt("The topic was not marked as read", () =>
    client.call("POST /mark_topic_as_read", { stream_id: channelId, topic_name: topic }),
  );
}

export { channelName };
