/** The archive thread: writes the archive when the main thread asks for it, so that a slow one delays nothing else. */
import { parentPort, workerData } from "node:worker_threads";
import { UnknownFormat } from "../../store/migrations.ts";
import type { RecordNumber } from "../journal/journal.ts";
import { noteLoaded } from "../threads/thread-loading.ts";
import { type ArchivePlaces, type ArchiveProgress, ArchiveTaken, ArchiveWriter } from "./archive-writer.ts";
import type { BaseNote } from "./base-manifest.ts";
import type { ErasedNote } from "./layout.ts";
import { pruneArchive } from "./prune.ts";

export type ArchiveTask =
  /**
   * Copy the records up to a position, and note organizations that were erased; `isFresh`: the journal has forgotten
   * records that the archive lacks.
   */
  | {
      readonly kind: "copy";
      readonly upTo: RecordNumber;
      readonly isFresh: boolean;
      readonly erased: readonly ErasedNote[];
    }
  /** Remove what no time at or after this one needs. */
  | { readonly kind: "prune"; readonly before: number }
  | { readonly kind: "end" };

export type ArchiveNotice =
  | { readonly kind: "progress"; readonly progress: ArchiveProgress }
  /** Done; the bases of the generation, if it is another one than before. */
  | { readonly kind: "copied"; readonly progress: ArchiveProgress; readonly bases: readonly BaseNote[] | null }
  | { readonly kind: "failed"; readonly message: string }
  /** Another process writes the archive, it belongs to another data folder, or its format is unknown. */
  | { readonly kind: "taken"; readonly message: string }
  | { readonly kind: "notPruned"; readonly message: string };

function post(notice: ArchiveNotice): void {
  parentPort?.postMessage(notice);
}

noteLoaded();

const places = workerData as ArchivePlaces;
const writer = new ArchiveWriter(places);
/** The generation whose bases the main thread knows. */
let generation: number | null = null;

function copy({ upTo, isFresh, erased }: ArchiveTask & { readonly kind: "copy" }): void {
  try {
    writer.noteErased(erased);
    const progress = writer.copy(upTo, isFresh, (made) => post({ kind: "progress", progress: made }));
    const bases = progress.generation === generation ? null : writer.bases();
    generation = progress.generation;
    post({ kind: "copied", progress, bases });
  } catch (error) {
    const isTaken = error instanceof ArchiveTaken || error instanceof UnknownFormat;
    post({ kind: isTaken ? "taken" : "failed", message: (error as Error).message });
  }
}

function prune(before: number): void {
  try {
    writer.verify();
    pruneArchive(places.archive, before);
  } catch (error) {
    post({ kind: "notPruned", message: (error as Error).message });
  }
}

parentPort?.on("message", (task: ArchiveTask) => {
  if (task.kind === "copy") copy(task);
  else if (task.kind === "prune") prune(task.before);
  else parentPort?.close();
});
