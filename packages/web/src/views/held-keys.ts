/** Keys that are pressed after a view was opened and before its code has come: they are text for it, and no shortcuts. */

const heldMax = 200;
let waitingViews = 0;
let held = "";

export function waitForView(): void {
  waitingViews++;
}

/** @returns whether the key is kept for a view that is on its way */
export function holdKey(event: KeyboardEvent): boolean {
  if (waitingViews === 0 || event.ctrlKey || event.metaKey || event.key === "Escape") return false;
  if (event.key === "Backspace") held = held.slice(0, -1);
  else if ([...event.key].length === 1) held = `${held}${event.key}`.slice(0, heldMax);
  return true;
}

/** The view is there, or will not come. What was typed goes into the field that it gives the focus to. */
export function giveHeldKeys(): void {
  waitingViews--;
  if (waitingViews > 0 || held === "") return;
  const { activeElement: field } = document;
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    field.setRangeText(held, field.value.length, field.value.length, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  held = "";
}
