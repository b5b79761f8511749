/** Puts text into the box that nobody types there, such as a quote that arrives. The caret stays where the person writes. */
import { whenFinal } from "../input-methods.ts";
import { composing, setText } from "./compose-state.ts";

export function textArea(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>("#compose-text");
}

const isOtherField = (element: Element | null, area: HTMLTextAreaElement) =>
  element !== area && element?.matches("input, textarea, select, dialog *") === true;

/**
 * Replaces a part of the text as if it was typed, so that Ctrl Z takes it back. Only what has the focus can be typed
 * into; where somebody types in another field or looks at a dialog, the text is put there without that.
 */
export function replaceRange(area: HTMLTextAreaElement, start: number, end: number, added: string): void {
  const before = document.activeElement;
  let isTyped = false;
  if (!isOtherField(before, area)) {
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, end);
    isTyped = document.activeElement === area && document.execCommand("insertText", false, added);
    if (before instanceof HTMLElement && before !== area) before.focus({ preventScroll: true });
  }
  if (!isTyped) area.setRangeText(added, start, end, "end");
  setText(area.value);
}

/** @param isBehind the caret stays before the text if it is at the place where the text goes */
function insertAt(place: number, added: string, isBehind = false): void {
  const area = textArea();
  const { text } = composing.peek();
  if (area === null || area.value !== text) {
    setText(`${text.slice(0, place)}${added}${text.slice(place)}`);
    return;
  }
  const moved = (at: number) => (at > place || (at === place && !isBehind) ? at + added.length : at);
  const [start, end] = [moved(area.selectionStart), moved(area.selectionEnd)];
  replaceRange(area, place, place, added);
  area.setSelectionRange(start, end);
}

const gapAfter = (text: string) => (text === "" || text.endsWith("\n") ? "" : "\n");

/**
 * Adds a line. Whoever is in the middle of a sentence goes on with it.
 * @param followers what the line precedes, if it is in the text
 */
export function addLine(line: string, followers: readonly string[]): void {
  whenFinal(() => {
    const { text } = composing.peek();
    const next = Math.min(...followers.map((one) => text.indexOf(one)).filter((at) => at >= 0));
    if (next < text.length) insertAt(text.lastIndexOf("\n", next) + 1, `${line}\n`);
    else insertAt(text.length, `${gapAfter(text)}${line}`, text !== "");
  });
}

export function insertAtCaret(added: string): void {
  insertAt(textArea()?.selectionEnd ?? composing.peek().text.length, added);
}

/**
 * Adds lines after a text that was there before; what was typed since then follows them.
 * @returns both
 */
export function insertAfter(before: string, lines: string): string {
  whenFinal(() => {
    const { text } = composing.peek();
    const place = text.startsWith(before) ? before.length : text.length;
    insertAt(place, `${gapAfter(text.slice(0, place))}${lines}`);
  });
  return `${before}${gapAfter(before)}${lines}`;
}
