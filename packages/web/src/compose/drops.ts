/** Files that are dropped on the page are uploaded where a message can be written; the browser never opens them instead. */
import { openCompose } from "./compose-state.ts";
import { addFiles, isDropping } from "./uploads.ts";

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;

/** A dialog over the page, and a conversation in which this person may not write, take no files. */
function takesFiles({ target }: DragEvent): boolean {
  const isInMiddle = target instanceof Element && target.closest("#main") !== null && target.closest("dialog") === null;
  return isInMiddle && document.querySelector("#main .compose, #main .compose-start") !== null;
}

export function watchDrops(): void {
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    isDropping.value = takesFiles(event);
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = isDropping.value ? "copy" : "none";
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) isDropping.value = false;
  });
  addEventListener("drop", (event) => {
    isDropping.value = false;
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (!takesFiles(event)) return;
    if (document.querySelector("#main .compose") === null) openCompose();
    addFiles(event.dataTransfer?.files ?? []);
  });
}
