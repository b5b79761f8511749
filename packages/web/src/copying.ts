/** What is copied from messages: their text, without the buttons of the page, and with formulas as their source. */
import { showSources } from "./content.ts";

/** Parts of the page beside the text. A sender is a button, too. */
const beside = "button:not(.sender), .message-marks, .reactions, [hidden], [aria-hidden='true']";

/** A selection that begins or ends within a formula has all of it. */
function selectedRange(selection: Selection): Range {
  const range = selection.getRangeAt(0).cloneRange();
  const formulaAt = (node: Node) => (node instanceof Element ? node : node.parentElement)?.closest(".katex");
  const [first, last] = [formulaAt(range.startContainer), formulaAt(range.endContainer)];
  if (first != null) range.setStartBefore(first);
  if (last != null) range.setEndAfter(last);
  return range;
}

/** The text as the browser lays it out: only in the page do elements have their lines. */
function shownText(box: HTMLElement): string {
  box.style.position = "fixed";
  box.style.left = "-10000px";
  document.body.append(box);
  const text = box.innerText;
  box.remove();
  return text;
}

function copy(event: ClipboardEvent): void {
  const selection = getSelection();
  const isInField = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
  if (event.clipboardData === null || selection === null || selection.isCollapsed || isInField) return;
  const range = selectedRange(selection);
  const { commonAncestorContainer: node } = range;
  const around = node instanceof Element ? node : node.parentElement;
  if (around === null) return;
  const content = range.cloneContents();
  if (content.querySelector(`${beside}, .katex`) === null) return;
  showSources(content);
  for (const element of content.querySelectorAll(beside)) element.remove();
  const box = document.createElement(around.closest("pre") === null ? "div" : "pre");
  box.append(content);
  event.clipboardData.setData("text/html", box.innerHTML);
  event.clipboardData.setData("text/plain", shownText(box));
  event.preventDefault();
}

export function watchCopying(): void {
  document.addEventListener("copy", copy);
}
