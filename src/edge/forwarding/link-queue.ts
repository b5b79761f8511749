/**
 * The messages that wait for a link, at its owner's end. A payload that several clients of the edge receive is kept
 * once, with its receivers. Answers and long messages to one client wait in a line of the client's own; the lines take
 * turns, so that a long answer to one client does not delay the events of others. Each client gets its messages in
 * order.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Part } from "./link-messages.ts";

/** A client's socket, as far as the queue knows it. */
export interface Receiver {
  readonly id: number;
  /** Bytes that wait here, of which the socket was told that they are not sent yet. */
  waitingBytes: number;
  /** The last shared message that it receives. */
  lastShared: number;
  /** It gets nothing more of what waits. */
  isGone: boolean;
}

export interface Shared<R> {
  readonly number: number;
  readonly isBinary: boolean;
  payload: Buffer;
  readonly receivers: R[];
  /** Whether it is in the waiting bytes of its receivers. */
  readonly isCounted: boolean;
}

export interface Own {
  readonly part: Part;
  readonly isBinary: boolean;
  readonly payload: Buffer;
}

/** Nothing follows it. */
export interface End {
  readonly code: number;
  readonly reason: string;
}

export interface LinkWriter<R> {
  /** Whether so many bytes may be in transit to the edge, and one message more. */
  hasRoom(windowBytes: number): boolean;
  /** To those of its receivers that are not gone. */
  shared(message: Shared<R>): void;
  own(receiver: R, message: Own): void;
  ended(receiver: R, end: End): void;
}

export interface LinkQueueBounds {
  readonly sharedBytesMax: number;
  readonly linesBytesMax: number;
}

export class LinkQueue<R extends Receiver> {
  readonly #bounds: LinkQueueBounds;
  readonly #shared: Shared<R>[] = [];
  #sharedBytes = 0;
  #count = 0;
  /** The newest shared message of each length, which further receivers of the same bytes join. */
  readonly #byLength = new Map<number, Shared<R>>();
  /** The lines of clients; the first one is next. */
  readonly #lines = new Map<R, Line>();
  #linesBytes = 0;
  /** The link did not take all shared messages the last time. */
  #isBehind = false;

  constructor(bounds: LinkQueueBounds) {
    this.#bounds = bounds;
  }

  get isEmpty(): boolean {
    return this.#shared.length === 0 && this.#lines.size === 0;
  }

  get waitingBytes(): number {
    return this.#sharedBytes + this.#linesBytes;
  }

  /** @returns false, and keeps nothing, if there is no room for it */
  pushShared(receiver: R, payload: Buffer, isBinary: boolean): boolean {
    if (this.#lines.has(receiver)) return this.pushOwn(receiver, { part: "whole", isBinary, payload });
    const message = this.#joinable(receiver, payload, isBinary) ?? this.#begin(payload, isBinary);
    if (message === null) return false;
    message.receivers.push(receiver);
    receiver.lastShared = message.number;
    if (message.isCounted) receiver.waitingBytes += payload.length;
    return true;
  }

  #joinable(receiver: R, payload: Buffer, isBinary: boolean): Shared<R> | null {
    const message = this.#byLength.get(payload.length);
    if (message === undefined || message.isBinary !== isBinary || message.number <= receiver.lastShared) return null;
    if (message.receivers.length >= limits.forward_link_receivers_max) return null;
    if (message.payload !== payload && !message.payload.equals(payload)) return null;
    // The next receiver probably has the same object.
    message.payload = payload;
    return message;
  }

  #begin(payload: Buffer, isBinary: boolean): Shared<R> | null {
    if (this.#sharedBytes + payload.length > this.#bounds.sharedBytesMax) return null;
    this.#count++;
    const message = { number: this.#count, isBinary, payload, receivers: [], isCounted: this.#isBehind };
    this.#shared.push(message);
    this.#byLength.set(payload.length, message);
    this.#sharedBytes += payload.length;
    return message;
  }

  /** @returns false, and keeps nothing, if there is no room for it */
  pushOwn(receiver: R, message: Own): boolean {
    const { length } = message.payload;
    if (this.#linesBytes + length > this.#bounds.linesBytesMax) return false;
    this.#linesBytes += length;
    receiver.waitingBytes += length;
    const line = this.#lineOf(receiver);
    line.bytes += length;
    line.messages.push(message);
    return true;
  }

  pushEnd(receiver: R, end: End): void {
    this.#lineOf(receiver).messages.push(end);
  }

  #lineOf(receiver: R): Line {
    const line = this.#lines.get(receiver) ?? { messages: [], bytes: 0 };
    this.#lines.set(receiver, line);
    return line;
  }

  /** The receiver with most in its line. */
  largest(): R | null {
    let largest: { readonly receiver: R; readonly bytes: number } | null = null;
    for (const [receiver, { bytes }] of this.#lines) {
      if (largest === null || bytes > largest.bytes) largest = { receiver, bytes };
    }
    return largest?.receiver ?? null;
  }

  /** Nothing that waits in its line is sent. */
  dropLine(receiver: R): void {
    const bytes = this.#lines.get(receiver)?.bytes ?? 0;
    this.#lines.delete(receiver);
    this.#linesBytes -= bytes;
    receiver.waitingBytes -= bytes;
  }

  /**
   * Writes what the link has room for, shared messages first: a client whose line has something gets no shared ones.
   * @param relieved gets the receivers for which less waits than before
   */
  flush(writer: LinkWriter<R>, relieved: Set<R>): void {
    while (this.#shared.length > 0 && writer.hasRoom(limits.forward_link_window_bytes)) {
      this.#writeShared(writer, relieved);
    }
    this.#isBehind = this.#shared.length > 0;
    while (this.#lines.size > 0 && !this.#isBehind && writer.hasRoom(limits.forward_link_window_bytes / 2)) {
      this.#writeOwn(writer, relieved);
    }
  }

  #writeShared(writer: LinkWriter<R>, relieved: Set<R>): void {
    const message = this.#shared.shift();
    if (message === undefined) return;
    const { payload, isCounted } = message;
    if (this.#byLength.get(payload.length) === message) this.#byLength.delete(payload.length);
    this.#sharedBytes -= payload.length;
    writer.shared(message);
    if (!isCounted) return;
    for (const receiver of message.receivers) {
      if (receiver.isGone) continue;
      receiver.waitingBytes -= payload.length;
      relieved.add(receiver);
    }
  }

  /** One message of the next line, which then is the last one. */
  #writeOwn(writer: LinkWriter<R>, relieved: Set<R>): void {
    for (const [receiver, line] of this.#lines) {
      const message = line.messages.shift();
      this.#lines.delete(receiver);
      if (line.messages.length > 0) this.#lines.set(receiver, line);
      if (message === undefined) return;
      if ("code" in message) {
        writer.ended(receiver, message);
        return;
      }
      const { length } = message.payload;
      line.bytes -= length;
      this.#linesBytes -= length;
      receiver.waitingBytes -= length;
      relieved.add(receiver);
      writer.own(receiver, message);
      return;
    }
  }
}

interface Line {
  readonly messages: (Own | End)[];
  bytes: number;
}
