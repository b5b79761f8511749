// Parses HTTP/1.1 responses of one keep-alive connection with at most one request in flight. A whole response in one
// read, the common case, costs one search and one regular expression. Bodies are counted, and kept only for failures or
// on request. Supports chunked bodies, which servers behind a proxy send, but no pipelining (this uWebSockets.js build
// does not support it).

import { FAILURE_BODY_BYTES_MAX, RESPONSE_HEAD_BYTES_MAX } from "./limits.ts";

const HEAD_END = "\r\n\r\n";
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

export interface Response {
  readonly status: number;
  readonly bodyBytes: number;
  /** The start of the body if the status is not 200, otherwise empty. */
  readonly failureBody: string;
  /** The whole body, if the reader keeps bodies. */
  readonly body?: string;
}

type State =
  | { readonly kind: "head"; readonly seen: Buffer | null }
  | { readonly kind: "body"; left: number }
  | { readonly kind: "chunks"; readonly decoder: ChunkDecoder };

export class ResponseReader {
  readonly #onResponse: (response: Response) => void;
  /** Parts of the body; null: bodies are not kept. */
  readonly #kept: Buffer[] | null;
  #state: State = { kind: "head", seen: null };
  #status = 0;
  #bodyBytes = 0;
  #failureBody = "";

  constructor(onResponse: (response: Response) => void, { keepsBodies = false } = {}) {
    this.#onResponse = onResponse;
    this.#kept = keepsBodies ? [] : null;
  }

  /**
   * Processes the first `length` bytes of `bytes` (a shared read buffer). Throws unless they belong to one HTTP/1.1
   * response.
   */
  push(bytes: Buffer, length: number): void {
    switch (this.#state.kind) {
      case "head":
        this.#readHead(bytes, length, this.#state.seen);
        break;
      case "body":
        this.#readBody(bytes, 0, length, this.#state);
        break;
      case "chunks":
        this.#readChunks(bytes, 0, length, this.#state.decoder);
        break;
    }
  }

  #readHead(fresh: Buffer, freshLength: number, seen: Buffer | null): void {
    const bytes = seen === null ? fresh : Buffer.concat([seen, fresh.subarray(0, freshLength)]);
    const length = seen === null ? freshLength : bytes.length;
    const end = bytes.indexOf(HEAD_END, 0, "latin1");
    if (end === -1 || end + HEAD_END.length > length) {
      if (length > RESPONSE_HEAD_BYTES_MAX) throw new Error("the response head is too long");
      this.#state = { kind: "head", seen: Buffer.from(bytes.subarray(0, length)) };
      return;
    }
    this.#beginBody(bytes, bytes.toString("latin1", 0, end), end + HEAD_END.length, length);
  }

  #beginBody(bytes: Buffer, head: string, from: number, length: number): void {
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytes = 0;
    this.#failureBody = "";
    const contentLength = CONTENT_LENGTH.exec(head)?.[1];
    if (contentLength !== undefined || this.#status === 204 || this.#status === 304) {
      const state: State = { kind: "body", left: Number(contentLength ?? 0) };
      this.#state = state;
      this.#readBody(bytes, from, length, state);
      return;
    }
    if (!CHUNKED.test(head)) throw new Error(`a response without a length: ${head.slice(0, 80)}`);
    const decoder = new ChunkDecoder();
    this.#state = { kind: "chunks", decoder };
    this.#readChunks(bytes, from, length, decoder);
  }

  #readBody(bytes: Buffer, from: number, to: number, state: { left: number }): void {
    const taken = Math.min(state.left, to - from);
    this.#count(bytes, from, from + taken);
    state.left -= taken;
    if (from + taken < to) throw new Error("bytes after the end of a response");
    if (state.left === 0) this.#finish();
  }

  #readChunks(bytes: Buffer, from: number, to: number, decoder: ChunkDecoder): void {
    const done = decoder.push(bytes, from, to, (start, end) => this.#count(bytes, start, end));
    if (done) this.#finish();
  }

  #count(bytes: Buffer, from: number, to: number): void {
    this.#bodyBytes += to - from;
    // A copy, because the buffer is shared and reused.
    this.#kept?.push(Buffer.from(bytes.subarray(from, to)));
    if (this.#status !== 200 && this.#failureBody.length < FAILURE_BODY_BYTES_MAX) {
      this.#failureBody += bytes.toString("latin1", from, Math.min(to, from + FAILURE_BODY_BYTES_MAX));
    }
  }

  #finish(): void {
    this.#state = { kind: "head", seen: null };
    const response = { status: this.#status, bodyBytes: this.#bodyBytes, failureBody: this.#failureBody };
    if (this.#kept === null) this.#onResponse(response);
    else this.#onResponse({ ...response, body: Buffer.concat(this.#kept.splice(0)).toString("utf8") });
  }
}

/** Decodes chunked transfer coding. Only size lines are read byte by byte; trailers are skipped. */
class ChunkDecoder {
  #line = "";
  #left = 0;
  #phase: "size" | "data" | "data-end" | "trailer" = "size";

  /** Returns true when the last chunk and its trailers have been read. `onData` gets the ranges of the body. */
  push(bytes: Buffer, from: number, to: number, onData: (start: number, end: number) => void): boolean {
    let at = from;
    while (at < to) {
      if (this.#phase === "data") {
        const taken = Math.min(this.#left, to - at);
        onData(at, at + taken);
        at += taken;
        this.#left -= taken;
        if (this.#left === 0) this.#phase = "data-end";
        continue;
      }
      const character = bytes[at] ?? 0;
      at += 1;
      if (character !== 10) {
        if (character !== 13) this.#line += String.fromCharCode(character);
        if (this.#line.length > RESPONSE_HEAD_BYTES_MAX) throw new Error("a chunk line is too long");
        continue;
      }
      if (this.#endLine()) return true;
    }
    return false;
  }

  #endLine(): boolean {
    const line = this.#line;
    this.#line = "";
    if (this.#phase === "data-end") {
      this.#phase = "size";
    } else if (this.#phase === "trailer") {
      return line === "";
    } else {
      this.#left = Number.parseInt(line, 16);
      if (!Number.isSafeInteger(this.#left)) throw new Error(`an invalid chunk size: ${line.slice(0, 40)}`);
      this.#phase = this.#left === 0 ? "trailer" : "data";
    }
    return false;
  }
}
