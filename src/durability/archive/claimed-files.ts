/** The uploaded files that the rows of a record claim, so that the archive has them before it has the record. */
import { avatarFiles, emojiFiles, realmPictureFile, uploadName } from "../../../schemas/files.ts";
import type { RowOf, TableName } from "../../../schemas/records.ts";
import { decodeRow } from "../../store/codec.ts";
import { keyOfName } from "../../store/key-encoding.ts";
import { rowsOf } from "../journal/record.ts";

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

export function filesClaimedBy(record: Uint8Array): string[] {
  return rowsOf(record, (table) => claiming.has(table)).flatMap(({ table, key, bytes }) =>
    bytes === null ? [] : (claiming.get(table)?.(key, bytes) ?? []),
  );
}
