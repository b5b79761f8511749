/**
 * File uploads over HTTP: the size limit is known before a body is read, only authenticated callers may send large
 * ones, and all uploads together are bounded (S3). A file is on disk before the turn that claims it.
 */
import { randomBytes } from "node:crypto";
import { shortened } from "../../../domain/attachments.ts";
import { codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Reply } from "../../runtime/results.ts";
import type { StagedFile, UploadedFile } from "../calls.ts";

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

/**
 * The last part of the client's file name, without characters that could reverse the reading direction. It is a label
 * for users, never a path, a header or a stored file name. A long name keeps its extension.
 */
export function fileLabel(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, "");
  return shortened(plain, limits.file_name_code_points_max, codePoints);
}

/** @param otherwise the error if there is no file, or more than one */
export function onlyFile(files: readonly UploadedFile[], otherwise: string): UploadedFile | Refusal {
  const [only] = files;
  return only === undefined || files.length > 1 ? refuse.badRequest(otherwise) : only;
}

/** A random stored name, so that nobody can guess it (128 bits). */
export function newFileId(): string {
  return randomBytes(16).toString("hex");
}

export interface FileStorage<A> {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array | StagedFile["upload"] }[];
  readonly ask: () => Promise<Reply<A>>;
  /**
   * Whether a row claims the files after the turn. None does if the turn rejected the request, or returned the stored
   * answer of an earlier one.
   */
  readonly isReferenced: () => boolean;
}

/** Writes the files, then runs the turn that claims them, and removes those that were not claimed. */
export async function storeFiles<A>({ files: store }: Realm, upload: FileStorage<A>): Promise<Reply<A>> {
  const names = upload.files.map(({ name }) => name);
  if (!(await store.write(upload.files))) return refuse.storeRefusesWrites();
  try {
    return await upload.ask();
  } finally {
    store.settle(names, upload.isReferenced());
  }
}
