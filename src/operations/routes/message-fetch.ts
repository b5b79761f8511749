/**
 * Reading messages (spec 4.9, 4.10; public API: get-messages, get-message, check-messages-match-narrow,
 * get-stream-topics).
 *
 * An answer that is a list of JSON parts. It stays in pieces: joining, encoding and copying megabytes would block the
 * event loop (S3), and a short one is copied once, by what sends it.
 */
import { extraTypeFor } from "../../../domain/emoji/extra-type.ts";
import { isForSpectators, type Narrowed, readNarrow, termsOf } from "../../../domain/narrow/narrow.ts";
import { ownProperty } from "../../../domain/own-property.ts";
import { canAccessAllUsers, canReadMessage, hasContentAccess } from "../../../domain/permissions.ts";
import { ReadState } from "../../../domain/read-state.ts";
import { VisibleTexts } from "../../../domain/redaction.ts";
import { isSpectator, spectator } from "../../../domain/spectator.ts";
import type { View } from "../../../domain/view.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  checkMessagesMatchNarrow,
  getMessage,
  getMessages,
  getStreamTopics,
  type MessageRecord,
} from "../../../schemas/messages.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { channelTopics } from "../../queries/channel-topics.ts";
import { type MessageJson, messageJson, rawContentJson } from "../../queries/encoded-messages.ts";
import { firstUnread } from "../../queries/first-unread.ts";
import { forgivenIfEmpty } from "../../queries/forgiven-searches.ts";
import {
  type Begin,
  type Fetched,
  type FetchRange,
  fetchMessages,
  MessageWalk,
  UnindexedAllowance,
} from "../../queries/message-fetch.ts";
import { messageForReader, messagePlan } from "../../queries/message-views.ts";
import type { MessageOptions } from "../../queries/messages.ts";
import { finished, type Waiting } from "../../queries/passes.ts";
import { marksPlan, SearchMarks } from "../../queries/search-marks.ts";
import { checkSpectator } from "../../queries/users.ts";
import { type BodyParts, type EncodedAnswer, ok } from "../../runtime/results.ts";
import { bind, type Call, callerNow, requireCaller } from "../calls.ts";

/** The JSON around the list, without the braces of the answer. */
interface ListFrame {
  readonly start: string;
  readonly end: string;
}

const comma = Buffer.from(",");

/** @param parts the pieces of each part; buffers hold UTF-8 */
function encodedList(parts: readonly BodyParts[], { start, end }: ListFrame): EncodedAnswer {
  const fields: (string | Buffer)[] = [start];
  for (const [index, part] of parts.entries()) {
    if (index > 0) fields.push(comma);
    fields.push(...part);
  }
  fields.push(end);
  return { kind: "encoded", fields };
}

type FetchParams = ParamsOf<typeof getMessages>;

export const messageFetchRoutes = [
  bind(getMessages, (call) => {
    const reader = readerOf(call);
    if (isRefusal(reader)) return reader;
    const { view } = call.realm;
    const { params } = call;
    const terms = termsOf(params.narrow ?? []);
    if (isSpectator(reader) && !isForSpectators(terms)) return refuse.notLoggedIn();
    const narrowed = readNarrow(view, reader, terms);
    if (isRefusal(narrowed)) return narrowed;
    const options = {
      applyMarkdown: params.apply_markdown,
      clientGravatar: params.client_gravatar,
      allowEmptyTopicName: params.allow_empty_topic_name,
      extraEmojiType: extraTypeFor(call.client),
    };
    const search = { view, reader, isAbandoned: watchOf(call), unindexed: new UnindexedAllowance() };
    const look = (given: Narrowed): Look => ({
      walk: new MessageWalk(view, reader, given, search.isAbandoned, search),
      show: shower(call, given, options),
    });
    const forgiven = () => forgivenIfEmpty(narrowed, search);
    if (params.message_ids !== undefined) {
      const ofIds = (given: Narrowed) => look({ ...given, includesHistory: true });
      return finished(fetchByIds(params, { narrowed, look: ofIds, forgiven }));
    }
    const anchoring = { view, reader, narrowed, walk: look(narrowed).walk };
    return finished(fetchRange(params, { narrowed, look, forgiven }, (anchor) => anchorId(anchor, anchoring)));
  }),

  bind(getMessage, (call) => {
    const reader = readerOf(call);
    if (isRefusal(reader)) return reader;
    const { view } = call.realm;
    const message = view.row("messages", call.params.message_id);
    const isReadable = message !== undefined && canReadMessage(view, reader, message);
    // Spectators may learn that they must log in; other callers must not learn that the message exists (S1).
    if (!isReadable) return isSpectator(reader) ? refuse.notLoggedIn() : refuse.invalidMessage();
    const options = {
      applyMarkdown: call.params.apply_markdown,
      allowEmptyTopicName: call.params.allow_empty_topic_name,
      extraEmojiType: extraTypeFor(call.client),
      clientGravatar: true,
    };
    if (mayKnowEverybody(view, reader)) {
      const json = messageJson(view, reader, message, options, new ReadState(view, reader.id));
      if (json === undefined) return refuse.invalidMessage();
      return { kind: "encoded", fields: [messageField, ...json, `,"raw_content":${rawContentJson(message)}`] };
    }
    const body = messageForReader(view, reader, message, options);
    return body === undefined ? refuse.invalidMessage() : ok({ message: body, raw_content: message.content });
  }),

  bind(checkMessagesMatchNarrow, (call) => {
    const narrowed = readNarrow(call.realm.view, requireCaller(call), termsOf(call.params.narrow));
    if (isRefusal(narrowed)) return narrowed;
    if (call.params.msg_ids.length > limits.messages_per_fetch_max) return tooMany();
    return finished(matchingMessages(call, narrowed));
  }),

  bind(getStreamTopics, async (call) => {
    const reader = readerOf(call);
    if (isRefusal(reader)) return reader;
    const { view } = call.realm;
    const readable = () => {
      const now = readerOf(call);
      const channel = view.channels.get(call.params.stream_id);
      return isRefusal(now) || channel === undefined || !hasContentAccess(view, now, channel) ? null : channel;
    };
    const channel = readable();
    if (channel === null) return refuse.invalidChannelId();
    const topics = await channelTopics(view, reader, channel, call.params.allow_empty_topic_name);
    if (readable() === null) return refuse.invalidChannelId();
    const parts = topics.map((group) => [group]);
    return encodedList(parts, { start: '"topics":[', end: "]" });
  }),
];

function* matchingMessages(call: Call<ParamsOf<typeof checkMessagesMatchNarrow>>, narrowed: Narrowed) {
  const { view } = call.realm;
  const reader = requireCaller(call);
  const ids = [...new Set(call.params.msg_ids)];
  const search = { view, reader, isAbandoned: watchOf(call), unindexed: new UnindexedAllowance() };
  // Only received messages, whatever the narrow says about history (behaviour 2.9).
  const look = (given: Narrowed) =>
    new MessageWalk(view, reader, { ...given, includesHistory: false }, search.isAbandoned, search);
  const walk = look(narrowed);
  let matching = yield* walk.these(ids);
  const forgiven = matching?.length === 0 ? yield* forgivenIfEmpty(narrowed, search) : null;
  if (forgiven !== null) matching = yield* look(forgiven).these(ids);
  if (matching === null) return tooLong();
  const sought = (forgiven ?? narrowed).search;
  const marks = new SearchMarks({ view, search: sought, allowsEmptyTopic: false, reader });
  const texts = new VisibleTexts(view, reader);
  const parts = yield* (forgiven === null ? walk : look(forgiven)).shown(matching, () => (message) => {
    const part = `"${message.id}":${JSON.stringify(texts.follow(marks.of(message), marksPlan))}`;
    return { value: [part], characters: part.length + marks.costOf(message) };
  });
  return parts === null ? abandoned() : encodedList(parts, { start: '"messages":{', end: "}" });
}

/** The caller's current record, or a spectator if the organization allows them. */
function readerOf(call: Call): UserRecord | Refusal {
  return call.caller === null ? (checkSpectator(call.realm.view, null) ?? spectator) : callerNow(call);
}

/** Whether the caller has disconnected. */
function watchOf(call: Call): () => boolean {
  let isAbandoned = false;
  call.onAbort(() => {
    isAbandoned = true;
  });
  return () => isAbandoned;
}

/** Builds the answer from these messages and the other fields. */
type Show = (
  walk: MessageWalk,
  messages: readonly MessageRecord[],
  others: Readonly<Record<string, unknown>>,
) => Waiting<Refusal | EncodedAnswer>;

/**
 * In a search, each message includes its match positions. Messages are built for the reader as they are when the answer
 * is sent.
 */
function shower(call: Call, { search }: Narrowed, options: MessageOptions): Show {
  const { view } = call.realm;
  const allowsEmptyTopic = options.allowEmptyTopicName;
  const reader = call.caller ?? spectator;
  const marks = search === null ? null : new SearchMarks({ view, search, allowsEmptyTopic, reader });
  const texts = new VisibleTexts(view, reader);
  const begin: Begin<BodyParts> = (now, isLong) => {
    const json = mayKnowEverybody(view, now) ? shared(view, now, options) : redacted(view, now, options, texts);
    return (message) => {
      const body = json(message);
      if (body === undefined) return undefined;
      const [start] = body;
      const end =
        marks === null
          ? body[1]
          : `${String(body[1]).slice(0, -1)},${JSON.stringify(texts.follow(marks.of(message), marksPlan)).slice(1)}`;
      const characters = start.length + end.length + (marks?.costOf(message) ?? 0);
      return { value: isLong && typeof start === "string" ? [Buffer.from(start), end] : [start, end], characters };
    };
  };
  return function* (walk, found, others) {
    const parts = yield* walk.shown(found, begin);
    const now = readerOf(call);
    if (isRefusal(now)) return now;
    const end = `],${JSON.stringify(others).slice(1, -1)}`;
    return parts === null ? abandoned() : encodedList(parts, { start: '"messages":[', end });
  };
}

const messageField = Buffer.from('"message":');

type JsonOf = (message: MessageRecord) => MessageJson | undefined;

function shared(view: View, reader: UserRecord, options: MessageOptions): JsonOf {
  const state = new ReadState(view, reader.id);
  return (message) => messageJson(view, reader, message, options, state);
}

function redacted(view: View, reader: UserRecord, options: MessageOptions, texts: VisibleTexts): JsonOf {
  return (message) => {
    const body = messageForReader(view, reader, message, options);
    return body === undefined ? undefined : [JSON.stringify(texts.follow(body, messagePlan)).slice(0, -1), "}"];
  };
}

/** Answers for other readers are redacted (domain/redaction.ts), so they must not be encoded yet. */
function mayKnowEverybody(view: View, reader: UserRecord): boolean {
  return !isSpectator(reader) && canAccessAllUsers(view, reader);
}

/** The client is gone and does not see this answer. */
function abandoned(): Refusal {
  return refuse.badRequest("The client closed the connection");
}

/** Larger than any id; the value of the anchor `newest` (behaviour 5.4). */
const newestAnchor = 10_000_000_000_000_000 - 1;

interface Look {
  readonly walk: MessageWalk;
  readonly show: Show;
}

interface Looking {
  readonly narrowed: Narrowed;
  look(narrowed: Narrowed): Look;
  /** The narrow with its typos forgiven, if it has no match; else null. */
  forgiven(): Waiting<Narrowed | null>;
}

function* fetchRange(params: FetchParams, looking: Looking, idOf: (anchor: Anchor) => Waiting<number>) {
  const range = readRange(params);
  if (isRefusal(range)) return range;
  const anchor = yield* idOf(range.anchor);
  let { walk, show } = looking.look(looking.narrowed);
  let fetched: Fetched = yield* fetchMessages(walk, { ...range, anchor });
  const forgiven = fetched.messages.length === 0 ? yield* looking.forgiven() : null;
  if (forgiven !== null) {
    ({ walk, show } = looking.look(forgiven));
    fetched = yield* fetchMessages(walk, { ...range, anchor });
  }
  return yield* show(walk, fetched.messages, {
    anchor,
    found_anchor: fetched.foundAnchor,
    found_oldest: anchor === 0 || fetched.foundOldest,
    found_newest: anchor === newestAnchor || fetched.foundNewest,
    history_limited: false,
  });
}

const notWithIds = ["anchor", "include_anchor", "num_after", "num_before", "use_first_unread_anchor"] as const;

function* fetchByIds(params: FetchParams, looking: Looking) {
  const others = notWithIds.filter((name) => params[name] !== undefined);
  if (others.length > 0) return refuse.parameterCombination([...others, "message_ids"].sort());
  const ids = [...new Set(params.message_ids)].sort((a, b) => a - b);
  if (ids.length > limits.messages_per_fetch_max) return tooMany();
  let { walk, show } = looking.look(looking.narrowed);
  let messages = yield* walk.these(ids);
  const forgiven = messages?.length === 0 ? yield* looking.forgiven() : null;
  if (forgiven !== null) {
    ({ walk, show } = looking.look(forgiven));
    messages = yield* walk.these(ids);
  }
  if (messages === null) return tooLong();
  return yield* show(walk, messages, {
    found_anchor: false,
    found_oldest: false,
    found_newest: false,
    history_limited: false,
  });
}

function tooMany(): Refusal {
  return refuse.badRequest(`Too many messages requested (maximum ${limits.messages_per_fetch_max}).`);
}

/** A caller that lists message ids never gets only part of them: the missing ones would look deleted. */
function tooLong(): Refusal {
  return refuse.badRequest(`Messages too long for one answer (maximum ${limits.fetch_characters_max} characters).`);
}

/** A message id, or a description of the anchor. */
type Anchor = number | "first-unread" | { readonly since: number };

function readRange(params: FetchParams): Refusal | (Omit<FetchRange, "anchor"> & { readonly anchor: Anchor }) {
  const { num_before: before, num_after: after } = params;
  if (before === undefined) return refuse.missing("num_before");
  if (after === undefined) return refuse.missing("num_after");
  const anchor = readAnchor(params);
  if (isRefusal(anchor)) return anchor;
  if (before + after > limits.messages_per_fetch_max) return tooMany();
  const includesAnchor = params.include_anchor ?? true;
  if (!includesAnchor && before > 0 && after > 0) {
    return refuse.badRequest("The anchor can only be excluded at an end of the range");
  }
  return { anchor, before, after, includesAnchor };
}

const namedAnchors: Readonly<Record<string, Anchor>> = {
  newest: newestAnchor,
  first_unread: "first-unread",
  oldest: 0,
};

function readAnchor(params: FetchParams): Anchor | Refusal {
  // The legacy parameter wins over `anchor` (public API).
  if (params.use_first_unread_anchor === true) return "first-unread";
  if (params.anchor === undefined) return refuse.badRequest("Missing 'anchor' argument.");
  const text = params.anchor.replaceAll('"', "");
  if (text === "date") return readDate(params.anchor_date);
  const named = ownProperty(namedAnchors, text);
  if (named !== undefined) return named;
  if (!/^-?\d{1,20}$/.test(text)) return refuse.badRequest("Invalid anchor");
  return Math.min(Math.max(0, Number(text)), newestAnchor);
}

function readDate(text: string | undefined): Anchor | Refusal {
  if (text === undefined) return refuse.missing("anchor_date");
  const isIso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text);
  // A date without a time means midnight; a time without a zone is UTC.
  const isZoned = /Z|\d\d:\d\d.*[+-]\d\d:?\d\d$/.test(text) || !/[T ]/.test(text);
  const since = isIso ? Date.parse(isZoned ? text : `${text}Z`) : Number.NaN;
  return Number.isNaN(since) ? refuse.badRequest("Invalid anchor_date") : { since };
}

interface Anchoring {
  readonly view: View;
  readonly reader: UserRecord;
  readonly narrowed: Narrowed;
  readonly walk: MessageWalk;
}

/** The first matching message, or the newest if there is none (public API). */
function* anchorId(anchor: Anchor, { view, reader, narrowed, walk }: Anchoring): Waiting<number> {
  if (typeof anchor === "number") return anchor;
  if (anchor === "first-unread") {
    return (yield* firstUnread(view, reader, narrowed, walk.isAbandoned)) ?? newestAnchor;
  }
  const { messages } = yield* walk.collect(firstMessageSince(view, anchor.since), 1, 1);
  return messages[0]?.id ?? newestAnchor;
}

/**
 * The first message sent at or after a time, by binary search, because times never decrease with ids (M4).
 * @returns one more than the newest id if there is none
 */
function firstMessageSince(view: View, milliseconds: number): number {
  let low = 1;
  let high = view.untracked.message + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = view.rows("messages", { start: middle, end: high, limit: 1 });
    if (found === undefined) high = middle;
    else if (found.row.sentAt < milliseconds) low = found.key + 1;
    else high = middle;
  }
  return low;
}
