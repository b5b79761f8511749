/** Files that callers send: a file is on disk before the turn that claims it. */
import { randomBytes } from "node:crypto";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Reply } from "../../runtime/results.ts";
import type { StagedFile, UploadedFile } from "../calls.ts";

/** @param otherwise the error if there is no file, or more than one */
export function onlyFile(files: readonly UploadedFile[], otherwise: string): UploadedFile | Refusal {
  const [only] = files;
  return only === undefined || files.length > 1 ? refuse.badRequest(otherwise) : only;
}

/** A random stored name that cannot be guessed (128 bits). */
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
    store.confirm(names, upload.isReferenced());
  }
}
