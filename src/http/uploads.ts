/**
 * Files that come over HTTP: how large a body may be is known before it is read, only callers may send a large one, and all of
 * them together have a bound (S3). What is kept of a file is written before the turn that claims it (architecture, Files).
 */
import { randomBytes } from "node:crypto";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { shortened } from "../domain/attachments.ts";
import { codePoints } from "../domain/text.ts";
import type { DraftedFile, UploadedFile } from "../runtime/calls.ts";
import type { AskResult } from "../runtime/entry.ts";
import type { Realm } from "../runtime/realm.ts";

/** What may come as a body, and what is said of one that is larger. */
export interface BodyAllowance {
  readonly bytesMax: number;
  /** null: what the operation says to a request without a body (that nobody is logged in). */
  readonly tooLarge: Refusal | null;
  /** The one file in it goes to disk as it comes. */
  readonly draftsIn?: Realm;
  /** To be called once, when the request is over. */
  release(): void;
}

export const ordinaryBody: BodyAllowance = {
  bytesMax: limits.body_bytes_max,
  tooLarge: refuse.bodyTooLarge(limits.body_bytes_max),
  release: () => undefined,
};

/** A caller who is not known sends no more than to any other operation. */
export const strangersBody: BodyAllowance = { ...ordinaryBody, tooLarge: null };

/** Memory that uploads may take, together and by person. */
export class UploadBudget {
  #bytes = 0;
  readonly #byPerson = new Map<string, number>();

  /**
   * @param person names the caller over all realms
   * @param announced length of the body, where it was said
   * @param draftsIn whose files it is one of, when it goes to disk as it comes: then little of it is in memory
   */
  take(person: string, bytesMax: number, announced: number | null, draftsIn?: Realm): BodyAllowance | Refusal {
    const bound = bytesMax + limits.upload_margin_bytes;
    const bytes = Math.min(announced ?? bound, draftsIn === undefined ? bound : limits.upload_buffer_bytes);
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
    return draftsIn === undefined ? allowance : { ...allowance, draftsIn };
  }
}

/**
 * The last part of what the client calls the file, without characters that could turn what is read around: a label for people,
 * never a path, a header or a file's name here. A long one keeps its ending.
 */
export function fileLabel(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, "");
  return shortened(plain, limits.file_name_code_points_max, codePoints);
}

/** @param otherwise what is said when there is none, or more than one */
export function onlyFile(files: readonly UploadedFile[], otherwise: string): UploadedFile | Refusal {
  const [only] = files;
  return only === undefined || files.length > 1 ? refuse.badRequest(otherwise) : only;
}

/** What a file is called here: random, so that nobody finds it who was not told (128 bits). */
export function newFileId(): string {
  return randomBytes(16).toString("hex");
}

export interface Claim {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array | DraftedFile["draft"] }[];
  readonly ask: () => Promise<AskResult>;
  /** After the turn: whether a row has them. It has not when the turn refused, or gave the kept answer of an earlier one. */
  readonly isClaimed: () => boolean;
}

/** Files first, then the turn that claims them; what it did not claim is removed. */
export async function claimFiles({ files: store }: Realm, claim: Claim): Promise<AskResult> {
  const names = claim.files.map(({ name }) => name);
  if (!(await store.write(claim.files))) return refuse.storeRefusesWrites();
  try {
    return await claim.ask();
  } finally {
    store.settle(names, claim.isClaimed());
  }
}
