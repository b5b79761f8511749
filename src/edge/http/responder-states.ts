/** The life of an answer (http-responder.ts), from the request to its last byte. */

import type { LifeCycle } from "../../runtime/life-cycle.ts";
import type { ReservedBytes } from "../../runtime/unsent-bytes.ts";
import type { FileSlice, HttpReply } from "./reply.ts";
import type { RequestHead } from "./request-head.ts";

/**
 * `held` waits for its realm's gate, `delayed` to be written in the next iteration of the event loop, `compressing` for
 * the compressed body, `sending` until the client has read the rest, and `stopping` until the sender of an aborted answer
 * has stopped.
 */
export const responderLife = {
  open: { wait: "waiting", answer: "writing", delay: "delayed", abort: "over" },
  waiting: { answer: "writing", delay: "delayed", abort: "over" },
  delayed: { write: "writing", end: "over" },
  writing: { compress: "compressing", wait: "sending", end: "over" },
  compressing: { send: "writing", end: "over" },
  sending: { abort: "stopping", end: "over" },
  stopping: { end: "over" },
  over: {},
} as const satisfies LifeCycle;

/** Null if the request could not even be read. */
export type Head = RequestHead | null;

export type ResponderState =
  | { readonly kind: "open" }
  | {
      readonly kind: "waiting";
      readonly reply: HttpReply;
      readonly head: Head;
      readonly reserved: ReservedBytes | null;
    }
  | { readonly kind: "delayed"; readonly file: FileSlice | undefined }
  | { readonly kind: "writing" }
  | { readonly kind: "compressing"; readonly stop: () => void }
  | { readonly kind: "sending"; readonly stop: () => void }
  | { readonly kind: "stopping" }
  | { readonly kind: "over" };

/** A response whose answer leaves now. */
export type Leaving = Extract<ResponderState, { readonly kind: "open" | "waiting" }>;

export const open = { kind: "open" } as const;
export const writing = { kind: "writing" } as const;
export const stopping = { kind: "stopping" } as const;
export const over = { kind: "over" } as const;
