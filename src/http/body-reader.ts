/** Reads a request's body into memory: bytes are counted as they come, one over the bound is never held (S3). */
import type { HttpResponse } from "uWebSockets.js";
import { limits } from "../../schemas/limits.ts";
import type { ByteBudget } from "../runtime/byte-budget.ts";
import type { Exchange } from "./exchange.ts";

export interface BodyReading {
  readonly response: HttpResponse;
  readonly exchange: Exchange;
  readonly bytesMax: number;
  /** What all requests in flight may take. */
  readonly budget: ByteBudget;
  readonly sender: () => string;
  readonly onBody: (body: Buffer | null) => void;
  readonly onTooLarge: () => void;
  /** There is no room for it now. */
  readonly onNoRoom: () => void;
}

/** @returns what is to be called when the request is over */
export function readBody({ response, exchange, ...reading }: BodyReading): () => void {
  const chunks: Buffer[] = [];
  let size = 0;
  let release: () => void = () => undefined;
  let hasRoom = (bytes: number) => {
    const taken = reading.budget.open(reading.sender());
    release = () => taken.release();
    hasRoom = (more) => taken.add(more);
    return taken.add(bytes);
  };
  response.onData((chunk, isLast) => {
    if (exchange.isOver) return;
    const { byteLength } = chunk;
    size += byteLength;
    if (size > reading.bytesMax) {
      chunks.length = 0;
      reading.onTooLarge();
      return;
    }
    const isSmall = isLast && size === byteLength && size <= limits.request_small_bytes_max;
    if (!isSmall && !hasRoom(byteLength)) {
      chunks.length = 0;
      reading.onNoRoom();
      return;
    }
    // The chunk is neutered when this returns: a copy, always. Of a view, it is cut from Node's pool; memory of its own costs 1 us.
    chunks.push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) reading.onBody(chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks));
  });
  return () => release();
}
