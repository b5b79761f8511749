// `disk`: the disk space of a message of 200 bytes, with its row, indexes, event and search postings, in a channel with
// 10,000 subscribers: the growth of the store divided by the number of messages. Uses the server's actors and indexer
// without a server. The baseline is a bare lmdb store of the same texts by id. The event log is bounded, so a larger
// store needs less per message.

import { statSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { addMessages, contentOf } from "../lib/fill.ts";
import { measureOf } from "../lib/measures.ts";
import { askAll, createOrganization, newMember } from "../lib/organization.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import { seededRandom } from "../lib/statistics.ts";

/** Target. */
const TARGET_BYTES = 1_024;
const MESSAGES_PER_TOPIC = 150;
/** One tenth of the messages is stored before the store is measured for the first time. */
const WARMUP_SHARE = 10;
const ROWS_PER_TRANSACTION = 1_000;

export const disk: Scenario = {
  name: "disk",
  summary: "bytes on disk per message of 200 bytes in a channel with 10,000 subscribers",
  baseline: "scenarios/disk",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(), runs: 1, users: 100, messages: 2_000 },
    small: { ...common(), runs: 1, users: 10_000, messages: 20_000 },
    full: { ...common(), runs: 1, users: 10_000, messages: 100_000 },
  },
  run,
};

function common() {
  return { connections: 0, ratePerSecond: 0, durationSeconds: 0, warmupSeconds: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings, workspace, progress } = context;
  const messages = settings.messages ?? 0;
  const topics = Math.ceil(messages / MESSAGES_PER_TOPIC);
  progress.plan(settings.runs);
  const pair = { ours: [] as number[], baseline: [] as number[] };
  for (let index = 0; index < settings.runs; index += 1) {
    progress.label(`disk: run ${index + 1} of ${settings.runs}`);
    let before = 0;
    const dataFolder = workspace.makeFolder("disk");
    const store = await createOrganization(dataFolder, async (realm, folder) => {
      await askAll(realm, settings.users, newMember);
      // Uses up the pages that the creation of users left free.
      await addMessages(realm, { messages: Math.ceil(messages / WARMUP_SHARE), topics, areUnread: true });
      before = bytesOf(folder);
      await addMessages(realm, { messages, topics, areUnread: true });
    });
    pair.ours.push((bytesOf(store) - before) / messages);
    pair.baseline.push((await bareBytes(workspace.makeFolder("disk-baseline"), messages)) / messages);
    progress.advance(1);
  }
  const title = `disk per message, ${settings.users} subscribers`;
  const measure = measureOf({ key: "message_bytes", title, unit: "B", better: "lower" }, pair, (bytes) => bytes);
  const sizes = { label: "ours", points: pair.ours.map((bytes) => [messages, bytes] as const) };
  return {
    measures: [measure],
    series: [{ kind: "memory", title, xUnit: "messages", yUnit: "B", lines: [sizes] }],
    checks: [{ name: "the store has grown", ok: (measure.ours?.min ?? 0) > 0, detail: "" }],
    notes: [`The target is ${TARGET_BYTES} bytes.`],
  };
}

async function bareBytes(folder: string, messages: number): Promise<number> {
  const store = open<Buffer, number>({ path: folder, encoding: "binary", overlappingSync: false });
  const random = seededRandom(1);
  for (let first = 0; first < messages; first += ROWS_PER_TRANSACTION) {
    store.transactionSync(() => {
      for (let id = first; id < Math.min(first + ROWS_PER_TRANSACTION, messages); id += 1) {
        // In a synchronous transaction the row is written when `put` returns; its promise adds nothing.
        void store.put(id, Buffer.from(contentOf(random)));
      }
    });
  }
  await store.close();
  return bytesOf(folder);
}

/** The file of a store. */
function bytesOf(folder: string): number {
  return statSync(join(folder, "data.mdb")).size;
}
