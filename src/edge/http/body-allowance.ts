/**
 * How large a body may be: known before it is read. Only authenticated callers may send large ones, and all uploads
 * together are bounded (S3).
 */
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Realm } from "../../runtime/realm.ts";

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
