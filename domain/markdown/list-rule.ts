// Lists. Unlike CommonMark: two spaces nest under any marker, bullets may be mixed, and a list may follow a line of
// text without an empty line. One pass distributes a list's lines to its items, and each item is parsed separately
// (bounded depth).
import type { StateBlock } from "markdown-it";
import {
  type BlockRule,
  canNest,
  closesFence,
  type Fence,
  lineOf,
  openFence,
  parseNested,
  spendBlocks,
} from "./block-rules.ts";
import { contextOf } from "./context.ts";

interface Marker {
  readonly indent: number;
  readonly isOrdered: boolean;
  readonly number: number;
  readonly text: string;
  /** Offset of the item's text from the marker's indent. */
  readonly textOffset: number;
  readonly digits: number;
}

interface Item {
  readonly marker: Marker;
  readonly lines: string[];
  /** Indent that is removed from the item's further lines; the first of them decides. */
  strip: number | null;
  fence: Fence | null;
  hasNestedMarker: boolean;
}

interface List {
  readonly items: readonly Item[];
  readonly isLoose: boolean;
  readonly endLine: number;
}

const MARKER = /^( *)(?:[*+-]|(\d{1,9})\.)( +)(?=\S)/;
const NEST_INDENT = 2;
const CODE_INDENT = 4;
const BLOCK_START = /^ {0,3}(?:>|#{1,6}[ \t]+\S)/;

export const listRule: BlockRule = (state, startLine, endLine, silent) => {
  const first = markerOf(lineOf(state, startLine));
  if (first === null || first.indent >= CODE_INDENT || !canNest(state)) return false;
  // A year at the start of a line of prose ("1986. A good year") must not break its paragraph.
  if (silent) return !first.isOrdered || first.digits === 1;
  const list = collectItems(state, first, startLine, endLine);
  spendBlocks(state, list.items.length);
  pushList(state, first, list);
  state.line = list.endLine;
  return true;
};

function collectItems(state: StateBlock, first: Marker, startLine: number, endLine: number): List {
  const items: Item[] = [newItem(first)];
  // An item contains at least one block, which is counted when it is parsed.
  const itemsMax = contextOf(state.env).blocksLeft / 2;
  let isLoose = false;
  let afterBlank = false;
  let line = startLine + 1;
  for (; line < endLine; line++) {
    const item = items[items.length - 1] ?? newItem(first);
    const text = lineOf(state, line);
    const marker = item.fence === null ? markerOf(text) : null;
    const indent = indentOf(text) - first.indent;
    if (item.fence !== null) pushIndented(item, text, indent);
    else if (state.isEmpty(line)) {
      const next = nextLine(state, line, endLine);
      if (next === endLine || !continuesList(lineOf(state, next), first)) break;
      if (indentOf(lineOf(state, next)) - first.indent < NEST_INDENT || !item.hasNestedMarker) isLoose = true;
      item.lines.push("");
      line = next - 1;
      afterBlank = true;
      continue;
    } else if (marker !== null && indent < NEST_INDENT) {
      if (marker.isOrdered !== first.isOrdered || items.length >= itemsMax) break;
      items.push(newItem(marker));
    } else if (indent >= NEST_INDENT) pushIndented(item, text, indent);
    else if (afterBlank || BLOCK_START.test(text) || openFence(text) !== null) break;
    else item.lines.push(text);
    afterBlank = false;
  }
  return { items, isLoose, endLine: line };
}

/** A line that belongs to an item by its indent, or because a fence is open in the item. */
function pushIndented(item: Item, text: string, indent: number): void {
  item.strip ??= Math.max(0, Math.min(item.marker.textOffset, indent)) + item.marker.indent;
  const line = withoutIndent(text, item.strip);
  if (item.fence !== null) {
    if (closesFence(line, item.fence)) item.fence = null;
  } else {
    item.fence = openFence(line);
    item.hasNestedMarker ||= markerOf(line) !== null;
  }
  item.lines.push(line);
}

function continuesList(text: string, first: Marker): boolean {
  const marker = markerOf(text);
  const indent = indentOf(text) - first.indent;
  return indent >= NEST_INDENT || (marker !== null && marker.isOrdered === first.isOrdered);
}

function pushList(state: StateBlock, first: Marker, list: List): void {
  const [type, tag] = first.isOrdered ? ["ordered_list", "ol"] : ["bullet_list", "ul"];
  const open = state.push(`${type}_open`, tag, 1);
  if (first.isOrdered && first.number !== 1) open.attrs = [["start", String(first.number)]];
  for (const item of list.items) {
    state.push("list_item_open", "li", 1);
    const from = state.tokens.length;
    parseNested(state, item.lines.join("\n"));
    if (!list.isLoose) hideParagraphs(state, from);
    state.push("list_item_close", "li", -1);
  }
  state.push(`${type}_close`, tag, -1);
}

/** In a tight list the items' own paragraphs lose their tags; nested ones keep them. */
function hideParagraphs(state: StateBlock, from: number): void {
  let depth = 0;
  for (const token of state.tokens.slice(from)) {
    if (token.nesting === -1) depth--;
    if (depth === 0 && token.tag === "p") token.hidden = true;
    if (token.nesting === 1) depth++;
  }
}

function newItem(marker: Marker): Item {
  return {
    marker,
    lines: [marker.text],
    strip: null,
    fence: openFence(marker.text),
    hasNestedMarker: markerOf(marker.text) !== null,
  };
}

function markerOf(line: string): Marker | null {
  const match = MARKER.exec(line);
  if (match === null) return null;
  const [whole, indent = "", digits, gap = ""] = match;
  // Five or more spaces after the marker count as one space and an indented code block.
  const textStart = gap.length > CODE_INDENT ? whole.length - gap.length + 1 : whole.length;
  return {
    indent: indent.length,
    isOrdered: digits !== undefined,
    number: Number(digits ?? 1),
    digits: digits?.length ?? 0,
    text: line.slice(textStart),
    textOffset: textStart - indent.length,
  };
}

function nextLine(state: StateBlock, from: number, endLine: number): number {
  let line = from;
  while (line < endLine && state.isEmpty(line)) line++;
  return line;
}

function indentOf(line: string): number {
  let indent = 0;
  for (let position = 0; position < line.length; position++) {
    const character = line.charAt(position);
    if (character === " ") indent++;
    else if (character === "\t") indent += CODE_INDENT;
    else break;
  }
  return indent;
}

/** The line with `columns` columns of leading white space removed; a tab counts as four. */
function withoutIndent(line: string, columns: number): string {
  const text = line.trimStart();
  return " ".repeat(Math.max(0, indentOf(line) - columns)) + text;
}
