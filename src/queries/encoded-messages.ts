/**
 * Messages encoded as JSON for readers who may see all users. The part that does not depend on the reader is encoded
 * once and cached by the message's row, which is replaced whenever it changes (runtime/row-cache.ts). An entry is valid
 * while the other rows that it used are the same.
 */

import type { ChannelRecord } from "../../schemas/channels.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { flagsOf } from "../domain/message-flags.ts";
import type { ReadState } from "../domain/read-state.ts";
import type { View } from "../domain/view.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageBody } from "./messages.ts";

/** What a message's JSON depends on besides its row. */
interface Sources {
  readonly topic: string;
  readonly channel: ChannelRecord;
  readonly sender: UserRecord;
  readonly realm: View["realm"];
  readonly linkifiers: View["linkifiers"];
  readonly options: MessageOptions;
}

/**
 * `sources` is a field of its own: a copy of it with one more field would have its own hidden class, 300 bytes each.
 */
interface Encoded {
  readonly sources: Sources;
  /** A JSON object without its end: `{...,`. */
  readonly start: string;
}

const encodedByRow = new WeakMap<MessageRecord, Encoded>();

/**
 * @param state the reader's state, the same for all messages of an answer
 * @returns undefined if the message's conversation no longer exists
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
  // Flag names need no escaping.
  return flags.length === 0 ? `${start}"flags":[]}` : `${start}"flags":["${flags.join('","')}"]}`;
}

const rawByRow = new WeakMap<MessageRecord, string>();

/** The message's source text as a JSON string, also cached by the row. */
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

/**
 * The encoding depends on the reader only for messages that moved (former channels the reader may not see), and these
 * are never cached.
 */
function encode(view: View, reader: UserRecord, message: MessageRecord, options: MessageOptions): string | undefined {
  const body = messageBody(view, message, options, hiddenOrigins(view, reader, message));
  return body === undefined ? undefined : `${JSON.stringify(body).slice(0, -1)},`;
}

/** null: the encoding depends on more rows than can be compared. */
function sourcesOf(view: View, message: MessageRecord, options: MessageOptions): Sources | null {
  const conversation = view.row("conversations", message.conversationId);
  const channel = view.channels.get(conversation?.channelId ?? 0);
  const sender = view.users.get(message.senderId);
  if (conversation === undefined || channel === undefined || sender === undefined) return null;
  const { traits } = message;
  if (isChanged(message, conversation) || hasTrait(traits, "hasReactions") || hasTrait(traits, "hasSubmessages")) {
    return null;
  }
  // The conversation's row changes with every post, but only its topic is shown.
  return { topic: conversation.topic, channel, sender, realm: view.realm, linkifiers: view.linkifiers, options };
}

/** Its history is in other tables. */
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
