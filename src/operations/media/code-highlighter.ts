/**
 * Highlights code in parsed messages before the turn, in one thread that starts with the first code block. A message
 * whose code takes too long, or waits behind too many others, is stored without highlighting: it is never rejected, and
 * delayed by at most `code_highlight_ms_max` once the thread runs.
 */
import type { Worker } from "node:worker_threads";
import { limits } from "../../../schemas/limits.ts";
import type { ContentPart, ParsedContent, Reference } from "../../../schemas/parsed-content.ts";
import { startThread } from "../../durability/threads/start-thread.ts";
import { systemClock } from "../../runtime/clock.ts";
import { type LifeCycle, step } from "../../runtime/life-cycle.ts";
import { type Call, requireCaller } from "../calls.ts";
import type { CodeJob, CodeReply } from "./code-worker.ts";

type CodePart = Extract<Reference, { kind: "code" }>;

interface Job extends CodeJob {
  /** null: the code stays plain. */
  readonly resolve: (html: readonly string[] | null) => void;
}

/** The life cycle of the thread. */
export const highlighterLife = {
  stopped: { start: "starting" },
  starting: { ready: "idle", giveUp: "stopped" },
  idle: { run: "busy", giveUp: "stopped" },
  busy: { finish: "idle", giveUp: "stopped" },
} as const satisfies LifeCycle;

type ThreadState =
  | { readonly kind: "stopped" }
  | { readonly kind: "starting"; readonly worker: Worker; readonly cancelDeadline: () => void }
  | { readonly kind: "idle"; readonly worker: Worker }
  | { readonly kind: "busy"; readonly worker: Worker; readonly cancelDeadline: () => void; readonly job: Job };

const stopped = { kind: "stopped" } as const;

export class CodeHighlighter {
  readonly #msMax: number;
  readonly #startThread: () => Worker;
  readonly #waiting: Job[] = [];
  /** The last pending message of each writer; the next one must not overtake it. */
  readonly #last = new Map<string, Promise<unknown>>();
  #state: ThreadState = stopped;
  #numbers = 0;

  /** @param start creates the thread; throws if the system cannot */
  constructor(msMax: number = limits.code_highlight_ms_max, start = () => startThread("operations/media/code-worker")) {
    this.#msMax = msMax;
    this.#startThread = start;
  }

  /**
   * Continues with the message when its code is highlighted, or at once without code.
   * @param writer messages of one writer keep their order
   */
  whenHighlighted<T>(
    parsed: ParsedContent,
    writer: string,
    next: (parsed: ParsedContent) => T,
  ): T | Promise<Awaited<T>> {
    const before = this.#last.get(writer);
    const blocks = parsed.pieces.filter(isCode);
    if (blocks.length === 0 && before === undefined) return next(parsed);
    const ready = Promise.all([blocks.length === 0 ? parsed : this.#highlighted(parsed, blocks), before]);
    const done = ready.then(([shown]) => next(shown));
    // The order is kept up to the point where commands are queued, not until the answer.
    const passed = ready.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(writer, passed);
    void passed.then(() => {
      if (this.#last.get(writer) === passed) this.#last.delete(writer);
    });
    return done as Promise<Awaited<T>>;
  }

  async #highlighted(parsed: ParsedContent, blocks: readonly CodePart[]): Promise<ParsedContent> {
    const html = await this.#ask(blocks);
    let index = 0;
    const pieces = parsed.pieces.map((part): ContentPart => (isCode(part) ? (html?.[index++] ?? part.typed) : part));
    return { ...parsed, pieces };
  }

  #ask(blocks: readonly CodePart[]): Promise<readonly string[] | null> {
    if (this.#waiting.length >= limits.code_highlight_waiting_max) return Promise.resolve(null);
    return new Promise((resolve) => {
      const typedBlocks = blocks.map(({ code, language }) => ({ code, language }));
      this.#waiting.push({ number: ++this.#numbers, blocks: typedBlocks, resolve });
      this.#go();
    });
  }

  #go(): void {
    if (this.#waiting.length === 0) return;
    const state = this.#state;
    switch (state.kind) {
      case "stopped":
        this.#start(state);
        return;
      case "idle":
        this.#run(state);
        return;
      case "starting":
      case "busy":
        return;
      default:
        state satisfies never;
    }
  }

  #start(state: ThreadState & { readonly kind: "stopped" }): void {
    let worker: Worker;
    try {
      worker = this.#startThread();
    } catch {
      // The system cannot create a thread, for example at its process limit.
      this.#giveUp();
      return;
    }
    worker.on("message", (reply: CodeReply) => {
      if (this.#isCurrent(worker)) this.#receive(reply);
    });
    worker.on("error", () => {
      if (this.#isCurrent(worker)) this.#giveUp();
    });
    // Must follow the listeners, because each listener refs the worker again.
    worker.unref();
    const cancelDeadline = this.#deadline(limits.code_highlight_start_ms_max);
    this.#state = step(highlighterLife, state, "start", { kind: "starting", worker, cancelDeadline });
  }

  #run(state: ThreadState & { readonly kind: "idle" }): void {
    const job = this.#waiting.shift();
    if (job === undefined) return;
    const { worker } = state;
    worker.postMessage({ number: job.number, blocks: job.blocks });
    const cancelDeadline = this.#deadline(this.#msMax);
    this.#state = step(highlighterLife, state, "run", { kind: "busy", worker, cancelDeadline, job });
  }

  #isCurrent(worker: Worker): boolean {
    return "worker" in this.#state && this.#state.worker === worker;
  }

  #receive(reply: CodeReply): void {
    const state = this.#state;
    if (state.kind === "starting" && reply.kind === "ready") {
      state.cancelDeadline();
      this.#state = step(highlighterLife, state, "ready", { kind: "idle", worker: state.worker });
    } else if (state.kind === "busy" && reply.kind === "done") {
      state.cancelDeadline();
      this.#state = step(highlighterLife, state, "finish", { kind: "idle", worker: state.worker });
      state.job.resolve(reply.html);
    }
    this.#go();
  }

  /**
   * The thread hangs or has died: waiting messages continue without highlighting, and the next one starts a new thread.
   */
  #giveUp(): void {
    const state = this.#state;
    if (state.kind !== "stopped") {
      this.#state = step(highlighterLife, state, "giveUp", stopped);
      if (state.kind !== "idle") state.cancelDeadline();
      void state.worker.terminate();
      if (state.kind === "busy") state.job.resolve(null);
    }
    // They have waited long enough.
    for (const job of this.#waiting.splice(0)) job.resolve(null);
  }

  #deadline(milliseconds: number): () => void {
    return systemClock.after(milliseconds, () => this.#giveUp());
  }
}

/** The key by which a caller's messages keep their order. */
export function writerOf(call: Call): string {
  return `${call.realm.epoch}:${requireCaller(call).id}`;
}

function isCode(part: ContentPart): part is CodePart {
  return typeof part !== "string" && part.kind === "code";
}

/** One thread for all organizations. */
export const codeHighlighter = new CodeHighlighter();
