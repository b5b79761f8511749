/** The thread in which code is highlighted: a tokenizer that hangs in a hostile text hangs here, and the thread is ended (code-highlighter.ts). */
import { parentPort } from "node:worker_threads";
import { CodeAllowance, highlightCode } from "../domain/markdown/highlight.ts";

export interface CodeJob {
  readonly number: number;
  readonly blocks: readonly { readonly code: string; readonly language: string }[];
}

export type CodeReply = { readonly kind: "ready" } | { readonly kind: "done"; number: number; html: readonly string[] };

parentPort?.on("message", ({ number, blocks }: CodeJob) => {
  const allowance = new CodeAllowance();
  const html = blocks.map(({ code, language }) => highlightCode(code, language, allowance));
  parentPort?.postMessage({ kind: "done", number, html } satisfies CodeReply);
});
parentPort?.postMessage({ kind: "ready" } satisfies CodeReply);
