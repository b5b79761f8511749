/**
 * A WebSocket client for the protocol of realtime.md, built on `ws`: it waits for frames by their content, never for
 * time.
 */
import { unpack } from "msgpackr";
import { WebSocket } from "ws";
import type { Client } from "./client.ts";
import { checkFrame } from "./frame-check.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole frames of any shape
export type Frame = any;

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface SocketOptions {
  /** Absent: the upgrade has no credentials. */
  readonly as?: Client;
  readonly protocol?: "msgpack";
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export class Socket {
  readonly ws: WebSocket;
  /** Every frame so far, in order. */
  readonly frames: Frame[] = [];
  readonly closed: Promise<Closed>;
  readonly #waiting: { test: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  /** Frames with a ref, to know what a reply answers. */
  readonly #sent = new Map<string, Readonly<Record<string, unknown>>>();
  #refs = 0;

  constructor(url: string, options: SocketOptions = {}) {
    this.ws = new WebSocket(`${url.replace(/^http/, "ws")}/api/v1/events/ws`, options.protocol ?? [], {
      headers: {
        ...(options.as === undefined ? {} : { Authorization: options.as.authorization }),
        ...options.headers,
      },
    });
    this.ws.on("message", (data: Buffer, isBinary) =>
      this.#take(isBinary ? unpack(data) : JSON.parse(data.toString())),
    );
    this.closed = new Promise((resolve) => {
      this.ws.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.ws.on("error", () => undefined);
  }

  /** Resolves when the socket is open; rejects when the upgrade is rejected. */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.ws.readyState === WebSocket.OPEN) resolve();
      this.ws.once("open", () => resolve());
      this.ws.once("error", reject);
    });
  }

  #take(frame: Frame): void {
    checkFrame(frame, this.#sent.get(frame.ref));
    this.frames.push(frame);
    for (const waiter of [...this.#waiting]) {
      if (!waiter.test(frame)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve(frame);
    }
  }

  send(frame: unknown): void {
    const { ref } = (frame ?? {}) as { readonly ref?: unknown };
    if (typeof ref === "string") this.#sent.set(ref, frame as Readonly<Record<string, unknown>>);
    this.ws.send(JSON.stringify(frame));
  }

  /** Sends a frame and waits for the reply with its ref. */
  ask(frame: Record<string, unknown>): Promise<Frame> {
    this.#refs++;
    const ref = `r${this.#refs}`;
    const reply = this.frame((candidate) => candidate.ref === ref);
    this.send({ ...frame, ref });
    return reply;
  }

  /** The first frame, past or future, that passes the test. */
  frame(test: (frame: Frame) => boolean): Promise<Frame> {
    const known = this.frames.find(test);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** Every event so far, in order, whether sent alone or with others. */
  get events(): Frame[] {
    return this.frames.flatMap((frame) => (frame.type === "event" ? [frame.event] : (frame.events ?? [])));
  }

  /** The first event, past or future, that passes the test. */
  async event(test: (event: Frame) => boolean): Promise<Frame> {
    const known = this.events.find(test);
    if (known !== undefined) return known;
    const frame = await this.frame((candidate) =>
      candidate.type === "event" ? test(candidate.event) : (candidate.events ?? []).some(test),
    );
    return frame.type === "event" ? frame.event : frame.events.find(test);
  }

  close(): void {
    this.ws.close();
  }

  /** Drops the connection without a closing handshake. */
  terminate(): void {
    this.ws.terminate();
  }
}
