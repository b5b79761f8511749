/** Copies uploaded files into an archive. A file is written once under a random name, so one copy is enough for ever. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { fileIn, filesFolder } from "../../store/files.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { archivedFiles, makeFolder, publishCopy } from "./layout.ts";

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
