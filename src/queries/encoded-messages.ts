/**
 * Messages as JSON, for readers who may know everybody. What does not depend on the reader is encoded once and kept with the
 * message's row, which is another object as soon as anything in it changes (runtime/row-cache.ts); of what lies in other rows it
 * keeps which ones they were, and holds only while they are the same. Bounded with the rows: one form each.
 */
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ChannelRecord, ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { flagsOf } from "../domain/message-flags.ts";
import type { ReadState } from "../domain/read-state.ts";
import type { View } from "../domain/view.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageBody } from "./messages.ts";

/** What a message's JSON was made of, beside its row. */
interface Sources {
  readonly topic: string;
  readonly channel: ChannelRecord;
  readonly sender: UserRecord;
  readonly realm: View["realm"];
  readonly linkifiers: View["linkifiers"];
  readonly options: MessageOptions;
}

/** Beside its sources, not together with them: a copy of them with a field more has a hidden class of its own, 300 bytes each. */
interface Encoded {
  readonly sources: Sources;
  /** An object without its end: `{...,`. */
  readonly start: string;
}

const encodedByRow = new WeakMap<MessageRecord, Encoded>();

/**
 * @param state of the reader, the same for all messages of an answer
 * @returns undefined when the message's conversation is gone
 */
export function messageJson(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  options: MessageOptions,
  state: ReadState,
): string | undefined {
  const start = startOf(view, reader, message, options);
  if (start === undefined) return undefined;
  const flags = flagsOf(view, reader, message, state);
  // Names of flags need no escapes.
  return flags.length === 0 ? `${start}"flags":[]}` : `${start}"flags":["${flags.join('","')}"]}`;
}

const rawByRow = new WeakMap<MessageRecord, string>();

/** What was typed, as a JSON string; it is kept with the row, too. */
export function rawContentJson(message: MessageRecord): string {
  const known = rawByRow.get(message);
  if (known !== undefined) return known;
  const json = JSON.stringify(message.content);
  rawByRow.set(message, json);
  return json;
}

function startOf(view: View, reader: UserRecord, message: MessageRecord, options: MessageOptions): string | undefined {
  const sources = sourcesOf(view, message, options);
  if (sources === null) return encode(view, reader, message, options);
  const known = encodedByRow.get(message);
  if (known !== undefined && areSame(known.sources, sources)) return known.start;
  const start = encode(view, reader, message, options);
  if (start !== undefined) encodedByRow.set(message, { sources, start });
  return start;
}

/** Of the reader only what they may know of former places counts, and what was moved is never kept. */
function encode(view: View, reader: UserRecord, message: MessageRecord, options: MessageOptions): string | undefined {
  const body = messageBody(view, message, options, hiddenOrigins(view, reader, message));
  return body === undefined ? undefined : `${JSON.stringify(body).slice(0, -1)},`;
}

/** null: more rows speak of it than could be compared. */
function sourcesOf(view: View, message: MessageRecord, options: MessageOptions): Sources | null {
  const conversation = view.row("conversations", message.conversationId);
  const channel = view.channels.get(conversation?.channelId ?? 0);
  const sender = view.users.get(message.senderId);
  if (conversation === undefined || channel === undefined || sender === undefined) return null;
  const { traits } = message;
  if (isChanged(message, conversation) || hasTrait(traits, "hasReactions") || hasTrait(traits, "hasSubmessages")) {
    return null;
  }
  // The conversation's row is another one with every post: of it only the topic is shown.
  return { topic: conversation.topic, channel, sender, realm: view.realm, linkifiers: view.linkifiers, options };
}

/** Its history lies in other tables. */
function isChanged(message: MessageRecord, conversation: ConversationRecord): boolean {
  return message.editedAt !== null || message.moves.length > 0 || conversation.renames > 0;
}

function areSame(known: Sources, now: Sources): boolean {
  return (
    known.topic === now.topic &&
    known.channel === now.channel &&
    known.sender === now.sender &&
    known.realm === now.realm &&
    known.linkifiers === now.linkifiers &&
    known.options.applyMarkdown === now.options.applyMarkdown &&
    known.options.clientGravatar === now.options.clientGravatar &&
    known.options.allowEmptyTopicName === now.options.allowEmptyTopicName
  );
}
