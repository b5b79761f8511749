// `disk`: what a message of 200 bytes takes on disk, all in (its row, indexes, event, search postings), in a channel with 10,000
// subscribers: how much the store grows with the messages, divided by their number. No server, the very actors and the indexer that
// it uses. The floor is a bare lmdb store of the same texts under their ids. The log of events is bounded, so a store that grows
// on takes less for each message than this.

import { statSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { addMessages, contentOf } from "../lib/fill.ts";
import { measureOf } from "../lib/measures.ts";
import { askAll, foundOrganization, newMember } from "../lib/organization.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import { seededRandom } from "../lib/statistics.ts";

/** Aim of the issue. */
const AIM_BYTES = 1_024;
const MESSAGES_PER_TOPIC = 150;
/** One of so many is stored before the store is measured. */
const WARMUP_SHARE = 10;
const ROWS_PER_TRANSACTION = 1_000;

export const disk: Scenario = {
  name: "disk",
  summary: "bytes on disk for a message of 200 bytes in a channel with 10,000 subscribers",
  floor: "scenarios/disk",
  worksOnUrl: false,
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
  const pair = { ours: [] as number[], floor: [] as number[] };
  for (let index = 0; index < settings.runs; index += 1) {
    progress.label(`disk: run ${index + 1} of ${settings.runs}`);
    let before = 0;
    const dataFolder = workspace.makeFolder("disk");
    const store = await foundOrganization(dataFolder, async (realm, folder) => {
      await askAll(realm, settings.users, newMember);
      // Pages that making people left free are used up first.
      await addMessages(realm, { messages: Math.ceil(messages / WARMUP_SHARE), topics, areUnread: true });
      before = bytesOf(folder);
      await addMessages(realm, { messages, topics, areUnread: true });
    });
    pair.ours.push((bytesOf(store) - before) / messages);
    pair.floor.push((await bareBytes(workspace.makeFolder("disk-floor"), messages)) / messages);
    progress.advance(1);
  }
  const title = `disk for a message, ${settings.users} subscribers`;
  const measure = measureOf({ key: "message_bytes", title, unit: "B", better: "lower" }, pair, (bytes) => bytes);
  const sizes = { label: "ours", points: pair.ours.map((bytes) => [messages, bytes] as const) };
  return {
    measures: [measure],
    series: [{ kind: "memory", title, xUnit: "messages", yUnit: "B", lines: [sizes] }],
    checks: [{ name: "the store has grown", ok: (measure.ours?.min ?? 0) > 0, detail: "" }],
    notes: [`The aim is ${AIM_BYTES} bytes.`],
  };
}

async function bareBytes(folder: string, messages: number): Promise<number> {
  const store = open<Buffer, number>({ path: folder, encoding: "binary", overlappingSync: false });
  const random = seededRandom(1);
  for (let first = 0; first < messages; first += ROWS_PER_TRANSACTION) {
    store.transactionSync(() => {
      for (let id = first; id < Math.min(first + ROWS_PER_TRANSACTION, messages); id += 1) {
        // In a synchronous transaction the row is written when `put` returns; its promise says nothing more.
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
