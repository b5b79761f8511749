/**
 * Highlights the code in parsed messages, before the turn and off the loop. One thread does all of it, started with the first code;
 * a message whose code takes too long, or that waits behind too many others, is shown without colors: highlighting never refuses
 * a message, and delays one by `code_highlight_ms_max` at most once the thread runs.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { limits } from "../../schemas/limits.ts";
import type { ParsedContent, Piece, Reference } from "../domain/markdown/pieces.ts";
import { type Call, callerOf } from "../runtime/calls.ts";
import { systemClock } from "../runtime/clock.ts";
import type { CodeJob, CodeReply } from "./code-worker.ts";

type CodePiece = Extract<Reference, { kind: "code" }>;

interface Job extends CodeJob {
  /** null: the code stays as it was typed. */
  readonly resolve: (html: readonly string[] | null) => void;
}

/** The bundle has the thread's program beside its own. Run from the sources, the program is bundled when it is needed. */
function startThread(): Worker {
  const quiet = { stdout: true, stderr: true };
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./code-worker.mjs", import.meta.url), quiet);
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("./code-worker.ts", import.meta.url))],
    bundle: true,
    platform: "node",
    format: "cjs",
    write: false,
    define: { "import.meta.url": JSON.stringify(import.meta.url) },
  });
  return new Worker(outputFiles[0]?.text ?? "", { ...quiet, eval: true });
}

export class CodeHighlighter {
  readonly #msMax: number;
  readonly #startThread: () => Worker;
  readonly #waiting: Job[] = [];
  /** The last message of each writer that is not ready yet: the next one may not overtake it. */
  readonly #last = new Map<string, Promise<unknown>>();
  #worker: Worker | null = null;
  #running: Job | null = null;
  #isReady = false;
  #cancelDeadline: (() => void) | null = null;
  #numbers = 0;

  /** @param start makes the thread; throws where the system has none */
  constructor(msMax: number = limits.code_highlight_ms_max, start: () => Worker = startThread) {
    this.#msMax = msMax;
    this.#startThread = start;
  }

  /**
   * Goes on with the message when its code has colors; at once where there is no code.
   * @param writer messages of one writer keep their order
   */
  whenShown<T>(parsed: ParsedContent, writer: string, next: (parsed: ParsedContent) => T): T | Promise<Awaited<T>> {
    const before = this.#last.get(writer);
    const blocks = parsed.pieces.filter(isCode);
    if (blocks.length === 0 && before === undefined) return next(parsed);
    const ready = Promise.all([blocks.length === 0 ? parsed : this.#highlighted(parsed, blocks), before]);
    const done = ready.then(([shown]) => next(shown));
    // The order is kept from here to where commands get theirs, not until the answer.
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

  async #highlighted(parsed: ParsedContent, blocks: readonly CodePiece[]): Promise<ParsedContent> {
    const html = await this.#ask(blocks);
    let index = 0;
    const pieces = parsed.pieces.map((piece): Piece => (isCode(piece) ? (html?.[index++] ?? piece.typed) : piece));
    return { ...parsed, pieces };
  }

  #ask(blocks: readonly CodePiece[]): Promise<readonly string[] | null> {
    if (this.#waiting.length >= limits.code_highlight_waiting_max) return Promise.resolve(null);
    return new Promise((resolve) => {
      const asked = blocks.map(({ code, language }) => ({ code, language }));
      this.#waiting.push({ number: ++this.#numbers, blocks: asked, resolve });
      this.#go();
    });
  }

  #go(): void {
    if (this.#running !== null || this.#waiting.length === 0) return;
    if (this.#worker === null) this.#start();
    if (!this.#isReady) return;
    const job = this.#waiting.shift() ?? null;
    this.#running = job;
    this.#worker?.postMessage({ number: job?.number, blocks: job?.blocks });
    this.#setDeadline(this.#msMax);
  }

  #start(): void {
    let worker: Worker;
    try {
      worker = this.#startThread();
    } catch {
      // The system gives no thread, for example at its limit of processes.
      this.#giveUp();
      return;
    }
    worker.on("message", (reply: CodeReply) => {
      if (worker === this.#worker) this.#hear(reply);
    });
    worker.on("error", () => this.#giveUp());
    // After the listeners: each of them would hold the process again.
    worker.unref();
    this.#worker = worker;
    this.#isReady = false;
    this.#setDeadline(limits.code_highlight_start_ms_max);
  }

  #hear(reply: CodeReply): void {
    this.#clearDeadline();
    if (reply.kind === "ready") this.#isReady = true;
    else this.#finish(reply.html);
    this.#go();
  }

  /** The thread hangs or died: the messages that wait for it go without colors, and the next one starts another. */
  #giveUp(): void {
    this.#clearDeadline();
    void this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
    this.#finish(null);
    // They have waited long enough.
    for (const job of this.#waiting.splice(0)) job.resolve(null);
  }

  #finish(html: readonly string[] | null): void {
    const job = this.#running;
    this.#running = null;
    job?.resolve(html);
  }

  #setDeadline(milliseconds: number): void {
    this.#cancelDeadline = systemClock.after(milliseconds, () => this.#giveUp());
  }

  #clearDeadline(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = null;
  }
}

/** The name under which a caller's messages keep their order. */
export function writerOf(call: Call): string {
  return `${call.realm.epoch}:${callerOf(call).id}`;
}

function isCode(piece: Piece): piece is CodePiece {
  return typeof piece !== "string" && piece.kind === "code";
}

/** One thread for all organizations. */
export const codeHighlighter = new CodeHighlighter();
