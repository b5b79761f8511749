/**
 * Messages encoded as JSON for readers who may see all users. The part that does not depend on the reader is encoded
 * once and cached by the message's row, which is replaced whenever it changes (runtime/caches.ts). An entry is valid
 * while the other rows that it used are the same.
 */

import { flagsOf } from "../../domain/message-flags.ts";
import type { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { MessageFlag } from "../../schemas/message-flags.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageBody } from "./messages.ts";

/** The values besides its row that a message's JSON depends on. */
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
  /** A JSON object without its end: `{...,`. Bytes once it was read again: many messages are read only once. */
  start: string | Buffer;
}

/** The JSON object of a message, in two pieces: what all readers share, and the flags. */
export type MessageJson = readonly [start: string | Buffer, end: string | Buffer];

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
): MessageJson | undefined {
  const start = startOf(view, reader, message, options);
  return start === undefined ? undefined : [start, flagsEnd(flagsOf(view, reader, message, state))];
}

const noFlags = Buffer.from('"flags":[]}');
const justRead = Buffer.from('"flags":["read"]}');

function flagsEnd(flags: readonly MessageFlag[]): Buffer {
  if (flags.length === 0) return noFlags;
  // Flag names need no escaping.
  return flags.length === 1 && flags[0] === "read" ? justRead : Buffer.from(`"flags":["${flags.join('","')}"]}`);
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

function startOf(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  options: MessageOptions,
): string | Buffer | undefined {
  const conversation = view.row("conversations", message.conversationId);
  const channel = view.channels.get(conversation?.channelId ?? 0);
  const sender = view.users.get(message.senderId);
  const isKept = conversation !== undefined && channel !== undefined && sender !== undefined;
  if (!isKept || dependsOnMore(message, conversation)) return encode(view, reader, message, options);
  const { realm, linkifiers } = view;
  const known = encodedByRow.get(message);
  // Compared field by field, because nearly every message of a page is known: an object for each would be garbage.
  if (
    known !== undefined &&
    known.sources.topic === conversation.topic &&
    known.sources.channel === channel &&
    known.sources.sender === sender &&
    known.sources.realm === realm &&
    known.sources.linkifiers === linkifiers &&
    areSame(known.sources.options, options)
  ) {
    if (typeof known.start === "string") known.start = bytesOf(known.start);
    return known.start;
  }
  const start = encode(view, reader, message, options);
  // The conversation's row changes with every post, but only its topic is shown.
  const sources = { topic: conversation.topic, channel, sender, realm, linkifiers, options };
  if (start !== undefined) encodedByRow.set(message, { sources, start });
  return start;
}

/** In memory of its own: a slice of Node's pool would keep all of the pool. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/**
 * The encoding depends on the reader only for messages that moved (former channels the reader may not see), and these
 * are never cached.
 */
function encode(view: View, reader: UserRecord, message: MessageRecord, options: MessageOptions): string | undefined {
  const body = messageBody(view, message, options, hiddenOrigins(view, reader, message));
  return body === undefined ? undefined : `${JSON.stringify(body).slice(0, -1)},`;
}

/** Whether its encoding depends on more rows than can be compared. */
function dependsOnMore(message: MessageRecord, conversation: ConversationRecord): boolean {
  const { traits } = message;
  return isChanged(message, conversation) || hasTrait(traits, "hasReactions") || hasTrait(traits, "hasSubmessages");
}

/** Its history is in other tables. */
function isChanged(message: MessageRecord, conversation: ConversationRecord): boolean {
  return message.editedAt !== null || message.moves.length > 0 || conversation.renames > 0;
}

function areSame(known: MessageOptions, now: MessageOptions): boolean {
  return (
    known.applyMarkdown === now.applyMarkdown &&
    known.clientGravatar === now.clientGravatar &&
    known.allowEmptyTopicName === now.allowEmptyTopicName
  );
}
