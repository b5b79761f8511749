// Fills a data folder with messages before the server starts, and files them in the search index, by the same actors and the same
// indexer as the server's (bench/lib/organization.ts). Contents are words of a vocabulary whose frequencies fall as those of a
// language do.

import { command } from "../../actors/commands.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import { messageTerms, senderTerms, topicTerms } from "../../src/domain/search/terms.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { SearchIndexer } from "../../src/runtime/search-indexer.ts";
import { alarm, askAll, foundOrganization, GENERAL, newMember, OWNER } from "./organization.ts";

const CONTENT_CHARACTERS = 200;
const VOCABULARY = 100_000;
const LETTERS = "etaoinshrdlucmfwypvbgkjqxz";

export interface Filling {
  readonly messages: number;
  /** In turn, one message each: `topicName(0)`, `topicName(1)`, ... */
  readonly topics: number;
  /** Somebody else wrote them: nothing of it is read by the owner. */
  readonly areUnread: boolean;
  /** Members beside the founder; one who writes, when all is unread, and nobody else, when left out. */
  readonly people?: number;
}

/** A word by its place in the order of frequency, from 1. */
export function word(rank: number): string {
  let text = "";
  for (let rest = rank; rest > 0; rest = Math.floor(rest / LETTERS.length)) text += LETTERS[rest % LETTERS.length];
  return `${text}e`;
}

export function topicName(index: number): string {
  return `topic ${index}`;
}

/** Makes an organization whose channel `general` holds messages of 200 characters, filed. */
export async function fill(dataFolder: string, filling: Filling): Promise<void> {
  await foundOrganization(dataFolder, async (realm) => {
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

/** The same numbers in every run, from 0 to 1. */
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
