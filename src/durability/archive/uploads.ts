/** Copies uploaded files into an archive. A file is written once under a random name, so one copy is enough for ever. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { avatarFiles, emojiFiles, realmPictureFile, uploadName } from "../../../schemas/files.ts";
import type { RowOf, TableName } from "../../../schemas/records.ts";
import { decodeRow, keyOfName } from "../../store/codec.ts";
import { fileIn, filesFolder } from "../../store/files.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { rowsOf } from "../journal/record.ts";
import { archivedFiles, makeFolder, publishCopy } from "./layout.ts";

function claims<T extends TableName>(table: T, namesOf: (row: RowOf<T>) => readonly string[]) {
  const decode = (key: string, bytes: Uint8Array) => namesOf(decodeRow(table, keyOfName(key), bytes));
  return [table as string, decode] as const;
}

/** By table. The same tables as in the check of a folder (store/backup.ts). */
const claiming = new Map([
  claims("users", (user) => avatarFiles(user.avatarFile)),
  claims("attachments", ({ file }) => [uploadName(file)]),
  claims("realmPictures", (row) => [realmPictureFile(row)]),
  claims("realmEmoji", (emoji) => emojiFiles(emoji)),
]);

/** The uploaded files that the rows of a record claim, so that the archive has them before it has the record. */
export function filesClaimedBy(record: Uint8Array): string[] {
  return rowsOf(record, (table) => claiming.has(table)).flatMap(({ table, key, bytes }) =>
    bytes === null ? [] : (claiming.get(table)?.(key, bytes) ?? []),
  );
}

/** A file that the server has removed by now is left out: no time that can be restored to shows it. */
export function archiveUpload(archive: string, dataDir: string, realmId: number, name: string): void {
  const source = fileIn(filesFolder(realmFolder(dataDir, realmId)), name);
  const target = fileIn(archivedFiles(archive, realmId), name);
  const size = statSync(source, { throwIfNoEntry: false })?.size;
  if (size === undefined || statSync(target, { throwIfNoEntry: false })?.size === size) return;
  makeFolder(archive, dirname(target));
  try {
    publishCopy(target, source);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT" && !exists(source);
    if (!isGone) throw error;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
