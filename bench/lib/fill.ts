// Fills a data folder with messages and indexes them for search before the server starts, with the server's own actors
// and indexer (bench/lib/organization.ts). Messages consist of words with the frequency distribution of natural
// language.

import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { messageTerms, senderTerms, topicTerms } from "../../domain/search/terms.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { SearchIndexer } from "../../src/runtime/search-indexer.ts";
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
    await addMessages(realm, filling);
  });
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
