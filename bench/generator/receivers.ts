// A program that reads the events of its share of the sockets, as bench/native/receiver.c does, for machines without a
// compiler, for other protocols than this server's, and where the text of a frame is wanted. See
// bench/lib/receiver-protocol.ts.

import { markerIn, markersIn } from "../lib/http-request.ts";
import { MARKERS_MAX } from "../lib/limits.ts";
import { encodeRecord, parseConfig, postsPerMarker, type ReceiverConfig } from "../lib/receiver-protocol.ts";
import { ArrivalTracker } from "./arrival-tracker.ts";
import { ReceiverPool } from "./receiver-pool.ts";

/** Reads the configuration, then serves until anything else arrives or the parent has gone. */
function main(): void {
  let text = "";
  let run: ReceiverRun | null = null;
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    if (run !== null) {
      run.stop().then(() => process.exit(0), fail);
      return;
    }
    text += chunk;
    const config = parseConfig(text);
    if (config === null) return;
    run = new ReceiverRun(config);
    run.open().catch(fail);
  });
  process.stdin.once("end", () => process.exit(0));
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`, () => process.exit(1));
}

class ReceiverRun {
  readonly #config: ReceiverConfig;
  readonly #arrivals: ArrivalTracker;
  readonly #pool: ReceiverPool;
  readonly #samples: (string | null)[] = [];
  #frames = 0;
  #bytes = 0;

  constructor(config: ReceiverConfig) {
    this.#config = config;
    this.#arrivals = new ArrivalTracker(config.receivers.count);
    this.#pool = new ReceiverPool(config.address, config.receivers, {
      onFrame: (index, bytes, from, to) => this.#onFrame(index, bytes.subarray(from, to)),
    });
  }

  async open(): Promise<void> {
    await this.#pool.openUntil(this.#config.receivers.count);
    process.stdout.write(encodeRecord({ kind: "ready" }));
  }

  /** Reports, and closes the sockets and their queues. */
  async stop(): Promise<void> {
    const { duplicates, open } = this.#arrivals;
    const counts = { frames: this.#frames, bytes: this.#bytes, duplicates, open };
    const { lost, firstClose } = this.#pool;
    const report = { ...counts, lost, firstClose, samples: this.#samples, queues: [] };
    await this.#pool.close();
    await new Promise<void>((resolve) => {
      process.stdout.write(encodeRecord({ kind: "report", report }), () => resolve());
    });
  }

  #onFrame(receiver: number, payload: Buffer): void {
    const ns = process.hrtime.bigint();
    this.#frames += 1;
    this.#bytes += payload.length;
    if (this.#config.decoder === "typing") {
      for (const { post, turn } of typingPosts(payload)) this.#see({ post, turn, receiver, payload, ns });
    } else {
      for (const post of markersIn(payload)) this.#see({ post, turn: 0, receiver, payload, ns });
    }
  }

  /** A marker of another run maps to a post that this run never sends. */
  #see(seen: { post: number; turn: number; receiver: number; payload: Buffer; ns: bigint }): void {
    const { turn, receiver, ns, payload } = seen;
    const { firstMarker, decoder } = this.#config;
    if (receiver === 0) this.#samples[turn] ??= payload.toString("utf8");
    const inThisRun = (seen.post - firstMarker + MARKERS_MAX) % MARKERS_MAX;
    const post = inThisRun * postsPerMarker(decoder) + turn;
    const whole = this.#arrivals.see(post, receiver, ns);
    if (whole !== null) process.stdout.write(encodeRecord({ kind: "post", post, ...whole }));
  }
}

interface PushedEvent {
  readonly type?: string;
  readonly op?: string;
  readonly topic?: unknown;
}

/** The marker of each typing notice in a frame, and whether it starts (0) or stops (1). */
function typingPosts(payload: Buffer): { readonly post: number; readonly turn: number }[] {
  return eventsOf(payload.toString("utf8")).flatMap((event) => {
    if (event.type !== "typing" || typeof event.topic !== "string") return [];
    const post = markerIn(event.topic);
    return post === null ? [] : [{ post, turn: event.op === "stop" ? 1 : 0 }];
  });
}

/** The events of one frame: `event` holds one, `events` several, anything else none. */
function eventsOf(text: string): readonly PushedEvent[] {
  const frame = JSON.parse(text) as { type?: string; event?: PushedEvent; events?: readonly PushedEvent[] };
  if (frame.type === "event" && frame.event !== undefined) return [frame.event];
  return frame.type === "events" && frame.events !== undefined ? frame.events : [];
}

main();
