/**
 * Reads a request's body into memory. Bytes are counted as they arrive, so a body over the bound is never held (S3).
 */
import { limits } from "../../../schemas/limits.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { HttpResponder } from "./http-responder.ts";

export interface BodyReading {
  readonly response: TransportResponse;
  readonly responder: HttpResponder;
  readonly bytesMax: number;
  /** Memory that all requests in flight may use. */
  readonly budget: ByteBudget;
  readonly sender: () => string;
  readonly onBody: (body: Buffer | null) => void;
  readonly onTooLarge: () => void;
  /** There is currently no room for the body. */
  readonly onNoRoom: () => void;
}

/** @returns a function to call when the request is over */
export function readBody(reading: BodyReading): () => void {
  // Not `...reading`: collecting the rest of an object is the slowest thing that a request would do.
  const { response, responder } = reading;
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
    if (responder.isOver) return;
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
    // The chunk is detached when this callback returns, so it must be copied. Copying a view takes memory from Node's
    // pool; a separate allocation costs 1 us.
    chunks.push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) reading.onBody(chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks));
  });
  return () => release();
}
