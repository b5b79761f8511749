/** Puts text into the box that nobody types there, such as a quote that arrives. The caret stays where the person writes. */
import { whenFinal } from "../input-methods.ts";
import { composing, setText } from "./compose-state.ts";

export function textArea(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>("#compose-text");
}

/** @param isBehind the caret stays before the text if it is at the place where the text goes */
function insertAt(place: number, added: string, isBehind = false): void {
  const area = textArea();
  const { text } = composing.peek();
  const next = `${text.slice(0, place)}${added}${text.slice(place)}`;
  if (area !== null) {
    const moved = (at: number) => (at > place || (at === place && !isBehind) ? at + added.length : at);
    const [start, end] = [moved(area.selectionStart), moved(area.selectionEnd)];
    area.value = next;
    area.setSelectionRange(start, end);
  }
  setText(next);
}

const gapAfter = (text: string) => (text === "" || text.endsWith("\n") ? "" : "\n");

/** Adds a line. Whoever is in the middle of a sentence goes on with it. */
export function appendLine(line: string): void {
  whenFinal(() => {
    const { text } = composing.peek();
    insertAt(text.length, `${gapAfter(text)}${line}`, text !== "");
  });
}

export function insertAtCaret(added: string): void {
  insertAt(textArea()?.selectionEnd ?? composing.peek().text.length, added);
}

/** Adds lines after a text that was there before; what was typed since then follows them. */
export function insertAfter(before: string, lines: string): void {
  whenFinal(() => {
    const { text } = composing.peek();
    const place = text.startsWith(before) ? before.length : text.length;
    insertAt(place, `${gapAfter(text.slice(0, place))}${lines}`);
  });
}
