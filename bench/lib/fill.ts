// Fills a data folder with messages before the server starts, and files them in the search index: by the same commands, the same
// actors and the same indexer as the server's. Contents are words of a vocabulary whose frequencies fall as those of a language do.

import { join } from "node:path";
import { command } from "../../actors/commands.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import { messageTerms, senderTerms, topicTerms } from "../../src/domain/search/terms.ts";
import { foundRealm } from "../../src/founding.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { SearchIndexer } from "../../src/runtime/search-indexer.ts";
import { RootStore } from "../../src/store/root.ts";
import { writeZuliprc } from "../../src/zuliprc.ts";

/** Commands that are under way at once; under the server's `queued_commands_max`. */
const AT_ONCE = 1_000;
const OWNER = { email: "owner@bench.example.com", id: 2 };
const GENERAL = 1;
const CONTENT_CHARACTERS = 200;
const VOCABULARY = 100_000;
/** Every topic has a full page. */
const MESSAGES_PER_TOPIC = 150;
const LETTERS = "etaoinshrdlucmfwypvbgkjqxz";

/** What goes wrong here is wrong with the bench. */
const alarm = {
  bug(error: unknown) {
    throw error;
  },
  fatal(error: unknown): never {
    throw error;
  },
};

/** A word by its place in the order of frequency, from 1. */
export function word(rank: number): string {
  let text = "";
  for (let rest = rank; rest > 0; rest = Math.floor(rest / LETTERS.length)) text += LETTERS[rest % LETTERS.length];
  return `${text}e`;
}

export function topicName(index: number): string {
  return `topic ${index}`;
}

/** Makes an organization whose channel `general` holds `count` messages of 200 characters, filed. */
export async function fill(dataFolder: string, count: number): Promise<void> {
  const root = RootStore.open(dataFolder);
  try {
    root.lock();
    const tools = { dataDir: dataFolder, root, clock: systemClock, alarm };
    const wanted = { label: "", hosts: [], name: "Bench", ownerEmail: OWNER.email, ownerPassword: null };
    await foundRealm(wanted, tools, (key) =>
      writeZuliprc(join(dataFolder, "zuliprc"), { email: OWNER.email, key, site: "http://127.0.0.1:9991" }),
    );
    for (const { id } of root.realms()) await addMessages(realmFolder(dataFolder, id), count);
  } finally {
    root.unlock();
    await root.close();
  }
}

async function addMessages(folder: string, count: number): Promise<void> {
  const realm = new Realm({ folder, clock: systemClock, alarm, acceptsWrites: () => true });
  const random = randomNumbers();
  const topics = Math.max(1, Math.floor(count / MESSAGES_PER_TOPIC));
  for (let first = 0; first < count; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - first);
    const sent = Array.from({ length: size }, (_, offset) =>
      realm.dispatcher.ask(newMessage(topicName((first + offset) % topics), contentOf(random))),
    );
    for (const result of await Promise.all(sent)) if (result.kind === "refused") throw new Error(result.msg);
  }
  const terms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };
  const indexer = new SearchIndexer(realm, { clock: systemClock, alarm, terms });
  while (indexer.step());
  await realm.close();
}

function newMessage(topic: string, content: string) {
  const params = {
    content,
    parsed: parseContent(content, { linkifiers: [], translateEmoticons: false }),
    client: "bench",
    queueId: null,
    localId: null,
    isReadBySender: true,
  };
  return command({ actor: "topic", channelId: GENERAL, topic }, "message.post", params, OWNER.id);
}

/** The same numbers in every run, from 0 to 1. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function contentOf(random: () => number): string {
  let text = "";
  while (text.length < CONTENT_CHARACTERS) text += `${word(Math.ceil(VOCABULARY ** random()))} `;
  return text.slice(0, CONTENT_CHARACTERS).trim();
}
