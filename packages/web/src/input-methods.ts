/**
 * Input methods (for Chinese, Japanese and others, and most keyboards of phones) show characters that are not final. Their
 * keys are no commands, and a text that is changed meanwhile loses those characters.
 */

/** What a browser reports for a key that its input method uses. */
const inputMethodCode = 229;

/**
 * @returns whether the key is for the input method. Safari reports the Enter that chooses characters after they are
 * final, so `isComposing` alone is not enough.
 */
export function isForInputMethod(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === inputMethodCode;
}

let unfinished: EventTarget | null = null;
let waiting: (() => void)[] = [];

/** A field that was removed or left tells nobody that its characters are final or gone. */
function isUnfinished(): boolean {
  return unfinished !== null && unfinished === document.activeElement;
}

function runWaiting(): void {
  if (isUnfinished()) return;
  const changes = waiting;
  waiting = [];
  for (const change of changes) change();
}

export function watchInputMethods(): void {
  document.addEventListener("compositionstart", ({ target }) => {
    unfinished = target;
  });
  document.addEventListener("compositionend", () => {
    unfinished = null;
    queueMicrotask(runWaiting);
  });
  document.addEventListener("focusin", runWaiting);
}

/** Runs when the text of a field may be changed: now, or when characters are final. */
export function whenFinal(change: () => void): void {
  if (isUnfinished()) waiting.push(change);
  else change();
}
