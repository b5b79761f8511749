/**
 * Messages encoded as JSON for readers who may see all users. The part that does not depend on the reader is encoded
 * once and cached by the message's row, which is replaced whenever it changes (runtime/caches.ts). An entry is valid
 * while the other rows that it used are the same.
 */

import { LRUCache } from "lru-cache";
import { flagsOf } from "../../domain/message-flags.ts";
import { seconds } from "../../domain/presence.ts";
import type { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageFlag } from "../../schemas/message-flags.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { hiddenOrigins, nothingHidden } from "./message-history.ts";
import { type MessageOptions, messageBody, messageIn } from "./messages.ts";

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
  const plain = { conversation, channel, sender, options };
  const known = encodedByRow.get(message);
  if (known !== undefined && isFrom(known.sources, view, plain)) {
    if (typeof known.start === "string") known.start = bytesOf(known.start);
    return known.start;
  }
  const start = encodePlain(view, message, plain);
  if (start !== undefined) encodedByRow.set(message, { sources: sourcesOf(view, plain), start });
  return start;
}

/** The rows that a plain message depends on besides its own, and how it is shown. */
interface PlainMessage {
  readonly conversation: ConversationRecord;
  readonly channel: ChannelRecord;
  readonly sender: UserRecord;
  readonly options: MessageOptions;
}

/** The conversation's row changes with every post, but only its topic is shown. */
function sourcesOf({ realm, linkifiers }: View, { conversation, channel, sender, options }: PlainMessage): Sources {
  return { topic: conversation.topic, channel, sender, realm, linkifiers, options };
}

function isFrom(sources: Sources, { realm, linkifiers }: View, plain: PlainMessage): boolean {
  return (
    sources.topic === plain.conversation.topic &&
    sources.channel === plain.channel &&
    sources.sender === plain.sender &&
    sources.realm === realm &&
    sources.linkifiers === linkifiers &&
    areSame(sources.options, plain.options)
  );
}

/** The end of the encoded messages that one author sent to one topic by one client, from the field `client` on. */
interface SharedEnd {
  readonly sources: Sources;
  readonly client: string;
  readonly isMe: boolean;
  readonly json: string;
}

const sharedEnds = new LRUCache<number, SharedEnd>({ maxSize: limits.message_ends_max, sizeCalculation: () => 1 });

/** A message that depends on no other rows. Only its id, text and time differ from others of its author in its topic. */
function encodePlain(view: View, message: MessageRecord, plain: PlainMessage): string | undefined {
  const { conversation, sender, options } = plain;
  const key = conversation.id * senders_max + sender.id;
  const known = sharedEnds.get(key);
  const isMe = hasTrait(message.traits, "isMe");
  const { client } = message;
  if (known?.client === client && known.isMe === isMe && isFrom(known.sources, view, plain)) {
    const [text, type] = options.applyMarkdown ? [message.rendered, "text/html"] : [message.content, "text/x-markdown"];
    const content = `"content":${JSON.stringify(text)},"content_type":"${type}"`;
    const time = seconds(message.sentAt);
    return `{"id":${message.id},"sender_id":${sender.id},${content},"timestamp":${time}${known.json}`;
  }
  const body = messageIn(view, conversation, message, options, nothingHidden);
  if (body === undefined) return undefined;
  const json = `${JSON.stringify(body).slice(0, -1)},`;
  // Quotes are escaped within strings, and no field before it contains another text.
  const end = json.slice(json.indexOf(',"client":'));
  sharedEnds.set(key, { sources: sourcesOf(view, plain), client, isMe, json: end });
  return json;
}

/** Ids of conversations and senders below this bound make one exact number; other pairs may share an entry. */
const senders_max = 2 ** 26;

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
