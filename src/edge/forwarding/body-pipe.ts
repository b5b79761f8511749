/**
 * The body of a forwarded request. A small one is kept until the request is answered, so that it can be sent again; of
 * a larger one only the bytes in transit are in memory, and the client waits while the other node is behind.
 */
import type { ClientRequest } from "node:http";
import { limits } from "../../../schemas/limits.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { ForwardedHead } from "./forwarded-head.ts";

export interface BodyPipeOptions {
  readonly budget: ByteBudget;
  /** The sender whose share of the budget is used. */
  readonly sender: string;
}

export class BodyPipe {
  /** Resolves when a node may be asked: at once for a large body. False if there is no memory for it. */
  readonly ready: Promise<boolean>;
  readonly #response: TransportResponse;
  readonly #isKept: boolean;
  /** Kept for a repetition, or arrived before a node was there. */
  readonly #chunks: Buffer[] = [];
  #release: () => void = () => undefined;
  #target: ClientRequest | null = null;
  #isPaused = false;
  #isOver = false;
  /** The client has sent all of it. */
  isRead: boolean;
  /** A large body has begun to leave. */
  #hasLeft = false;

  constructor(response: TransportResponse, { hasBody, contentLength }: ForwardedHead, options: BodyPipeOptions) {
    this.#response = response;
    this.isRead = !hasBody;
    this.#isKept = contentLength !== null && contentLength <= limits.forward_replay_bytes_max;
    if (!hasBody) {
      this.ready = Promise.resolve(true);
      return;
    }
    const room = options.budget.open(options.sender);
    this.#release = () => room.release();
    if (this.#isKept && !room.add(contentLength ?? 0)) {
      this.ready = Promise.resolve(false);
      response.onData(() => undefined);
      return;
    }
    this.ready = new Promise((resolve) => {
      if (!this.#isKept) resolve(true);
      response.onData((chunk, isLast) => {
        this.#take(Buffer.from(chunk.slice(0)), isLast);
        if (isLast) resolve(true);
      });
    });
  }

  /** Whether all of it can be sent (again). */
  get isWhole(): boolean {
    return this.isRead ? !this.#hasLeft || this.#isKept : !this.#hasLeft;
  }

  /** Sends the body to a node. */
  flowTo(request: ClientRequest): void {
    this.#target = request;
    if (this.#isKept || this.isRead) {
      for (const chunk of this.#chunks) request.write(chunk);
      request.end();
      return;
    }
    request.on("drain", () => this.#resume());
    const waiting = this.#chunks.splice(0);
    this.#hasLeft ||= waiting.length > 0;
    for (const chunk of waiting) request.write(chunk);
    if (!request.writableNeedDrain) this.#resume();
  }

  /** The request is over. */
  close(): void {
    this.#isOver = true;
    this.#release();
    this.#chunks.length = 0;
  }

  #take(chunk: Buffer, isLast: boolean): void {
    if (this.#isOver) return;
    this.isRead = isLast;
    if (this.#isKept || this.#target === null) {
      this.#chunks.push(chunk);
      if (!this.#isKept && !isLast) this.#pause();
      return;
    }
    this.#hasLeft = true;
    const target = this.#target;
    if (target.destroyed) return;
    const hasRoom = target.write(chunk);
    if (isLast) target.end();
    else if (!hasRoom) this.#pause();
  }

  #pause(): void {
    this.#isPaused = true;
    this.#response.pause();
  }

  #resume(): void {
    if (this.#isPaused && !this.#isOver) this.#response.resume();
    this.#isPaused = false;
  }
}
