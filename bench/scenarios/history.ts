// `history`: reads in a large store: one message, the newest 100 of a topic and of a channel, searches by one word, by
// two words and within a topic, and a search for unread messages that finds none. Messages are written and indexed
// before the server starts, by its own actors and indexer. bench/lib/reads.ts describes the measurement.

import { Api } from "../lib/api.ts";
import { topicName, word } from "../lib/fill.ts";
import { filled } from "../lib/filled.ts";
import { measureReads } from "../lib/reads.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";

const PAGE_MESSAGES = 100;
/** Every topic has at least a full page. */
const MESSAGES_PER_TOPIC_MIN = 150;
/** As many as in the large store of other scenarios, so that they can share that store. */
const TOPICS_MAX = 1_000;
/** Number of stored messages. */
const MESSAGES = { tiny: 300, small: 20_000, full: 1_000_000 } as const;

export const history: Scenario = {
  name: "history",
  summary: "GET 100 messages of a topic, and searches, in a store of 1,000,000",
  baseline: "baselines/answer",
  supportsUrl: false,
  sizes: {
    tiny: {
      connections: 2,
      ratePerSecond: 50,
      durationSeconds: 0.2,
      warmupSeconds: 0.1,
      runs: 1,
      users: 0,
      receivers: 0,
      messages: MESSAGES.tiny,
    },
    small: {
      connections: 16,
      ratePerSecond: 500,
      durationSeconds: 1,
      warmupSeconds: 1,
      runs: 2,
      users: 0,
      receivers: 0,
      messages: MESSAGES.small,
    },
    full: {
      connections: 16,
      ratePerSecond: 500,
      durationSeconds: 4,
      warmupSeconds: 2,
      runs: 4,
      users: 0,
      receivers: 0,
      messages: MESSAGES.full,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const messages = context.settings.messages ?? 0;
  const topics = Math.min(TOPICS_MAX, Math.max(1, Math.floor(messages / MESSAGES_PER_TOPIC_MIN)));
  const server = await context.openServer(await filled(context, { messages, topics, areUnread: true }));
  const api = new Api(server, server.credentials);
  await api.call("POST", "/mark_all_as_read");
  const page = (...narrow: readonly (readonly [string, string])[]) => ({
    anchor: "newest",
    num_before: String(PAGE_MESSAGES),
    num_after: "0",
    narrow: JSON.stringify(narrow.map(([operator, operand]) => ({ operator, operand }))),
  });
  const channel = ["channel", "general"] as const;
  const topic = ["topic", topicName(0)] as const;
  const read = (key: string, title: string, query: Readonly<Record<string, string>>) => ({
    key,
    title: `${title} (${messages} stored)`,
    path: "/messages",
    query,
  });
  return measureReads({ context, server, api }, [
    read("topic", `GET ${PAGE_MESSAGES} messages of a topic`, page(channel, topic)),
    { key: "message", title: "GET one message", path: `/messages/${Math.ceil(messages / 2)}`, query: {} },
    read("channel", `GET ${PAGE_MESSAGES} messages of a channel`, page(channel)),
    read("feed", `GET ${PAGE_MESSAGES} messages of the feed`, page()),
    read("word", "search a frequent word", page(["search", word(1)])),
    read("words", "search two less frequent words", page(["search", `${word(40)} ${word(60)}`])),
    read("in_topic", "search a word in a topic", page(channel, topic, ["search", word(20)])),
    // Marks everything as read.
    read("unread", "is:unread, where everything is read", page(["is", "unread"])),
  ]);
}
