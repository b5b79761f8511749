/** Calls over the socket of an event stream (docs/realtime.md, `call`): frames out, replies found by their `ref`. */
import { ConnectionError, errorOfFrame } from "./errors.ts";
import { type AnswerBody, encodeCall, type RequestParts } from "./requests.ts";

export const callLimits = {
  /** Calls without a reply. The server rejects more than 64. */
  pending_max: 48,
  /** Three bytes each at most, so a frame is never larger than the server accepts. */
  frame_characters_max: 256 * 1024,
} as const;

/** Queues belong to the connection, uploads need a body, and cookies an HTTP answer. */
const notCallable = /^\/(events|register|user_uploads|session)(\/|$)/;

interface Waiting {
  readonly parts: RequestParts;
  resolve(body: AnswerBody): void;
  reject(error: unknown): void;
}

type Send = (text: string) => void;

export class SocketCalls {
  readonly #send: Send;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  get pendingCount(): number {
    return this.#waiting.size;
  }

  /** @returns null if the call cannot go this way; rejects as `sendRequest` does */
  call(parts: RequestParts): Promise<AnswerBody> | null {
    if (parts.file !== null || this.#waiting.size >= callLimits.pending_max) return null;
    const { method, path, params } = encodeCall(parts);
    if (notCallable.test(path)) return null;
    const ref = `call-${++this.#count}`;
    const key = parts.idempotencyKey === null ? {} : { idempotency_key: parts.idempotencyKey };
    const text = JSON.stringify({ type: "call", ref, method, path, params, ...key });
    if (text.length > callLimits.frame_characters_max) return null;
    return new Promise((resolve, reject) => {
      const { signal, timeoutMs } = parts;
      const leave = () => this.#settle(ref)?.reject(signal?.reason);
      const timer = setTimeout(() => this.#fail(ref, `no answer within ${timeoutMs} ms`), timeoutMs);
      const settled = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
      };
      this.#waiting.set(ref, {
        parts,
        resolve(body) {
          settled();
          resolve(body);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener("abort", leave);
      if (signal?.aborted === true) leave();
      else this.#send(text);
    });
  }

  #settle(ref: string): Waiting | undefined {
    const waiting = this.#waiting.get(ref);
    this.#waiting.delete(ref);
    return waiting;
  }

  #fail(ref: string, why: string): void {
    const waiting = this.#settle(ref);
    if (waiting === undefined) return;
    const { operation, idempotencyKey } = waiting.parts;
    waiting.reject(new ConnectionError(`${operation}: ${why}`, { idempotencyKey }));
  }

  /** A reply that belongs to no call here, such as one that came too late, is ignored. */
  receive(frame: AnswerBody): void {
    const waiting = this.#settle(String(frame["ref"]));
    if (frame["result"] === "success") waiting?.resolve(frame);
    else waiting?.reject(errorOfFrame(waiting.parts.operation, frame));
  }

  /** The socket has ended. Whether the calls were executed is unknown. */
  end(): void {
    for (const ref of [...this.#waiting.keys()]) this.#fail(ref, "the socket closed before the answer");
  }
}
