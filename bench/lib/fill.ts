// Fills a data folder with messages and indexes them for search before the server starts, with the server's own actors
// and indexer (bench/lib/organization.ts). Messages consist of words with the frequency distribution of natural
// language.

import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { messageTerms, senderTerms, topicTerms } from "../../domain/search/terms.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { SearchIndexer } from "../../src/runtime/search-indexer.ts";
import { searchStateKey, stateOf } from "../../src/store/search-index.ts";
import { alarm, askAll, createOrganization, GENERAL, newMember, OWNER } from "./organization.ts";

const CONTENT_CHARACTERS = 200;
const VOCABULARY = 100_000;
const LETTERS = "etaoinshrdlucmfwypvbgkjqxz";

export interface Filling {
  readonly messages: number;
  /** Messages are written to the topics in turn: `topicName(0)`, `topicName(1)`, ... */
  readonly topics: number;
  /** The messages are written by another user, so they are unread for the owner. */
  readonly areUnread: boolean;
  /**
   * The rows of the messages are written as the actors would write them, without their events and the search index:
   * 1,000,000 messages in less than a minute instead of twelve. For scenarios that neither search nor replay.
   */
  readonly areRowsOnly?: boolean;
  /** Number of members besides the owner. By default a single author if the messages are unread, otherwise none. */
  readonly people?: number;
}

/** A word by its rank in the order of frequency, from 1. */
export function word(rank: number): string {
  let text = "";
  for (let rest = rank; rest > 0; rest = Math.floor(rest / LETTERS.length)) text += LETTERS[rest % LETTERS.length];
  return `${text}e`;
}

export function topicName(index: number): string {
  return `topic ${index}`;
}

/** Creates an organization whose channel `general` holds indexed messages of 200 characters. */
export async function fill(dataFolder: string, filling: Filling): Promise<void> {
  await createOrganization(dataFolder, async (realm) => {
    await askAll(realm, Math.max(filling.areUnread ? 1 : 0, filling.people ?? 0), newMember);
    await (filling.areRowsOnly === true ? addRows : addMessages)(realm, filling);
  });
}

/** Messages of one transaction. */
const ROWS_AT_ONCE = 20_000;

/** The first message of each topic, and the last one of all, are posted; the rows of the others are copies of these. */
async function addRows(realm: Realm, { messages, topics, areUnread }: Filling): Promise<void> {
  const random = randomNumbers();
  const senderId = areUnread ? OWNER.id + 1 : OWNER.id;
  const posted = Math.min(messages, topics + 1);
  const { view, lmdb, dispatcher } = realm;
  const first = view.counter("message") + 1;
  await askAll(realm, Math.min(posted, topics), (index) => newMessage(senderId, topicName(index), contentOf(random)));
  const firstId = view.counter("message") + 1;
  const last = firstId + messages - posted;
  const model = view.row("messages", firstId - 1);
  if (model === undefined) return;
  const places = new Map<number, number>();
  for (let id = first; id < firstId; id += 1) {
    const row = view.row("messages", id);
    if (row?.senderId === senderId) places.set(places.size, row.conversationId);
  }
  const newest = new Map<number, number>();
  for (let start = firstId; start < last; start += ROWS_AT_ONCE) {
    lmdb.transaction(() => {
      for (let id = start; id < Math.min(last, start + ROWS_AT_ONCE); id += 1) {
        const content = contentOf(random);
        const conversationId = places.get((id - firstId) % places.size) ?? model.conversationId;
        lmdb.put("messages", id, { ...model, id, conversationId, content, rendered: `<p>${content}</p>` });
        lmdb.put("conversationMessages", [conversationId, id], { senderId, traits: model.traits });
        lmdb.put("channelMessages", [GENERAL, id], { conversationId, senderId, traits: model.traits });
        newest.set(conversationId, id);
      }
    });
  }
  lmdb.transaction(() => {
    for (const [id, lastMessageId] of newest) {
      const row = lmdb.get("conversations", id);
      if (row !== undefined) lmdb.put("conversations", id, { ...row, lastMessageId });
    }
    const indexed = { ...stateOf(undefined, realmSetting(realm.view, "search_language")), messagesUpTo: last };
    lmdb.put("searchState", searchStateKey, indexed);
  });
  dispatcher.realmCounters.turn.counters.message = last - 1;
  // A turn stores the counters.
  await askAll(realm, 1, () => newMessage(senderId, topicName(topics), contentOf(random)));
}

export async function addMessages(realm: Realm, { messages, topics, areUnread }: Filling): Promise<void> {
  const random = randomNumbers();
  const senderId = areUnread ? OWNER.id + 1 : OWNER.id;
  await askAll(realm, messages, (index) => newMessage(senderId, topicName(index % topics), contentOf(random)));
  const terms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };
  const indexer = new SearchIndexer(realm, { clock: systemClock, alarm, terms });
  while (indexer.step());
}

function newMessage(senderId: number, topic: string, content: string) {
  const params = {
    content,
    parsed: parseContent(content, { linkifiers: [], translateEmoticons: false }),
    client: "bench",
    queueId: null,
    localId: null,
    isReadBySender: true,
  };
  return command({ actor: "topic", channelId: GENERAL, topic }, "message.post", params, senderId);
}

/** Pseudo-random numbers from 0 to 1, the same in every run. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

export function contentOf(random: () => number): string {
  let text = "";
  while (text.length < CONTENT_CHARACTERS) text += `${word(Math.ceil(VOCABULARY ** random()))} `;
  return text.slice(0, CONTENT_CHARACTERS).trim();
}
