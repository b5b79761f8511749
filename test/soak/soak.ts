/**
 * Half load for a while. Bounded caches are filled first, so that later growth is not that of a cache. A short burst
 * measures the current capacity; half of that rate then arrives evenly, with the most frequent operations.
 */
import { limits } from "../../schemas/limits.ts";
import type { Answer, Client } from "../support/client.ts";
import { percentile, reportOf, type Sample, type SoakReport } from "./measures.ts";
import type { Memory } from "./memory.ts";

export interface SoakOptions {
  readonly owner: Client;
  readonly memory: () => Promise<Memory>;
  /** Messages posted and read before anything is measured. */
  readonly filling: number;
  /** Number of requests in the burst. */
  readonly burst: number;
  /** null: `requests` requests, as fast as possible. */
  readonly minutes: number | null;
  readonly requests: number;
  readonly samples: number;
  readonly onSample?: (sample: Sample) => void;
}

const lanes = 16;
/** More concurrent posts share a flush. */
const fillingLanes = 64;

/** Mostly reads, some writes, in turn. */
const operations: readonly ((client: Client, turn: number) => Promise<Answer>)[] = [
  (client, turn) =>
    client.post("/messages", { type: "channel", to: "general", topic: `t${turn % 50}`, content: `**no** ${turn}` }),
  (client) => client.get("/messages", { anchor: "newest", num_before: 20, num_after: 0 }),
  (client) => client.get("/users/me"),
  (client, turn) => client.get("/messages", { anchor: "newest", num_before: 20, num_after: 0, narrow: near(turn) }),
  (client) => client.post("/users/me/presence", { status: "active" }),
  (client) => client.get("/users/me/subscriptions"),
];

function near(turn: number): readonly object[] {
  return [
    { operator: "channel", operand: "general" },
    { operator: "topic", operand: `t${turn % 50}` },
  ];
}

/** Afterwards the newest messages are the most recently read ones. */
async function fill(owner: Client, messages: number): Promise<void> {
  let left = messages;
  const post = operations[0];
  const lane = async () => {
    while (left-- > 0) await post?.(owner, left);
  };
  await Promise.all(Array.from({ length: fillingLanes }, lane));
  let anchor = "newest";
  for (let read = 0; read < messages; read += limits.messages_per_fetch_max) {
    const page = { anchor, include_anchor: false, num_before: limits.messages_per_fetch_max, num_after: 0 };
    const { body } = await owner.get("/messages", page);
    anchor = String(body.messages[0]?.id ?? anchor);
  }
}

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { owner, minutes } = options;
  let turn = 0;
  let refused = 0;
  const latencies: number[] = [];
  const act = async () => {
    const operation = operations[turn % operations.length];
    const begun = performance.now();
    const answer = await operation?.(owner, turn++);
    latencies.push(performance.now() - begun);
    if (answer?.status !== 200) refused++;
  };
  const burst = async (count: number) => {
    let left = count;
    const lane = async () => {
      while (left-- > 0) await act();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  await fill(owner, options.filling);
  await burst(options.burst);
  const begun = performance.now();
  await burst(options.burst);
  const perSecond = (options.burst / (performance.now() - begun)) * 1000;
  const seconds = minutes === null ? 0 : minutes * 60;
  const count = minutes === null ? options.requests : Math.ceil((perSecond / 2) * seconds);
  const started = performance.now();
  const samples: Sample[] = [];
  const pending = new Set<Promise<void>>();
  latencies.length = 0;
  for (let sent = 0; sent < count; sent++) {
    const dueMs = minutes === null ? 0 : (sent / count) * seconds * 1000;
    const waitMs = dueMs - (performance.now() - started);
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (pending.size >= lanes) await Promise.race(pending);
    const one: Promise<void> = act().finally(() => pending.delete(one));
    pending.add(one);
    if ((sent + 1) % Math.ceil(count / options.samples) !== 0) continue;
    // Waits for requests in flight, because their memory is not retained.
    await Promise.all(pending);
    const taken = latencies.splice(0);
    const sample = {
      atS: (performance.now() - started) / 1000,
      requests: sent + 1,
      ...(await options.memory()),
      p50Ms: percentile(taken, 0.5),
      p99Ms: percentile(taken, 0.99),
    };
    samples.push(sample);
    options.onSample?.(sample);
  }
  await Promise.all(pending);
  return reportOf(samples, turn, refused);
}
