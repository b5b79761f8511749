/**
 * The thread that highlights code: if hostile text makes the tokenizer hang, it hangs here, and the thread is
 * terminated (code-highlighter.ts).
 */
import { parentPort } from "node:worker_threads";
import { CodeAllowance, highlightCode } from "../../../domain/markdown/highlight.ts";
import { noteLoaded } from "../../durability/threads/thread-loading.ts";

export interface CodeJob {
  readonly number: number;
  readonly blocks: readonly { readonly code: string; readonly language: string }[];
}

export type CodeReply = { readonly kind: "ready" } | { readonly kind: "done"; number: number; html: readonly string[] };

noteLoaded();

parentPort?.on("message", ({ number, blocks }: CodeJob) => {
  const allowance = new CodeAllowance();
  const html = blocks.map(({ code, language }) => highlightCode(code, language, allowance));
  parentPort?.postMessage({ kind: "done", number, html } satisfies CodeReply);
});
parentPort?.postMessage({ kind: "ready" } satisfies CodeReply);
