/**
 * Reads a request's body into memory. Bytes are counted as they arrive, so a body over the bound is never held (S3).
 *
 * How large a body may be: known before it is read. Only authenticated callers may send large ones, and all uploads
 * together are bounded (S3).
 */

import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { HttpResponder } from "./http-responder.ts";

/** The size limit of a body, and the answer to a larger one. */
export interface BodyAllowance {
  readonly bytesMax: number;
  /** null: answer as the operation would without a body (the caller is not logged in). */
  readonly tooLarge: Refusal | null;
  /** The realm for whose files the upload is streamed to disk. */
  readonly stagingRealm?: Realm;
  /** Must be called once, when the request is over. */
  release(): void;
}

export const ordinaryBody: BodyAllowance = {
  bytesMax: limits.body_bytes_max,
  tooLarge: refuse.bodyTooLarge(limits.body_bytes_max),
  release: () => undefined,
};

/** An unauthenticated client may send no more than to any other operation. */
export const unauthenticatedBody: BodyAllowance = { ...ordinaryBody, tooLarge: null };

/** Memory used by uploads, in total and per user. */
export class UploadBudget {
  #bytes = 0;
  readonly #byPerson = new Map<string, number>();

  /**
   * @param person identifies the caller across all realms
   * @param announced the Content-Length, if there is one
   * @param stagingRealm the realm, if the file is streamed to disk and little of it is in memory
   */
  take(person: string, bytesMax: number, announced: number | null, stagingRealm?: Realm): BodyAllowance | Refusal {
    const bound = bytesMax + limits.upload_margin_bytes;
    const bytes = Math.min(announced ?? bound, stagingRealm === undefined ? bound : limits.upload_buffer_bytes);
    const own = this.#byPerson.get(person) ?? 0;
    const hasRoom = this.#bytes + bytes <= limits.upload_bytes_in_flight_max && own < limits.uploads_per_user_max;
    if (!hasRoom) return refuse.overloaded();
    this.#bytes += bytes;
    this.#byPerson.set(person, own + 1);
    const release = () => {
      this.#bytes -= bytes;
      const left = (this.#byPerson.get(person) ?? 1) - 1;
      if (left > 0) this.#byPerson.set(person, left);
      else this.#byPerson.delete(person);
    };
    const allowance = { bytesMax: bound, tooLarge: refuse.fileTooLarge(bytesMax), release };
    return stagingRealm === undefined ? allowance : { ...allowance, stagingRealm };
  }
}

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
