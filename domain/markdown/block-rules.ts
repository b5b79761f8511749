/**
 * Block rules of the dialect: fences (code, quote, spoiler, math), `>` quotes, headings, and bounded tables. The
 * content of a container is cut out as text and parsed separately, up to a bounded depth; beyond it, it is plain text.
 *
 * Hides `|` inside inline code of a table row, which belongs to the code (as in Zulip; markdown-it would end the cell
 * there and drop the rest). While its table rule runs, they are replaced by a character of the same length that no
 * message contains. `\|` stays an escaped border, as everywhere in tables.
 */
import MarkdownIt, { type StateBlock } from "markdown-it";
import { BLOCK_DEPTH_MAX, BLOCKS_PER_TABLE } from "./bounds.ts";
import { contextOf } from "./context.ts";
import { findCodeSpans } from "./inline-index.ts";
import { isPlain } from "./plain-text.ts";
import { pushMathBlock, SPOILER_BLOCK, SPOILER_CONTENT, SPOILER_HEADER } from "./tokens.ts";

const CODE_BORDER = "\0";
const UNESCAPED_BORDER = /(?<!\\)\|/g;

/** The lines of a message with borders in code hidden. Linear; lengths and positions do not change. */
function hideCodeBorders(source: string): string {
  if (!source.includes("`") || !source.includes("|")) return source;
  return source.split("\n").map(hideInLine).join("\n");
}

/** Restores a cell as it was typed. */
function showCodeBorders(cell: string): string {
  return cell.replaceAll(CODE_BORDER, "|");
}

function hideInLine(line: string): string {
  if (!line.includes("|")) return line;
  const parts: string[] = [];
  let taken = 0;
  for (const { contentStart, contentEnd } of findCodeSpans(line).values()) {
    const code = line.slice(contentStart, contentEnd).replace(UNESCAPED_BORDER, CODE_BORDER);
    parts.push(line.slice(taken, contentStart), code);
    taken = contentEnd;
  }
  return parts.join("") + line.slice(taken);
}

// The lines that open and close a fence: three or more backticks or tildes, a language (or quote, spoiler, math), and
// for spoilers a header. A line with further backticks or tildes is inline code and not a fence.

export interface Fence {
  /** The run of backticks or tildes; the closing line must equal it. */
  readonly marks: string;
  readonly indent: number;
  readonly language: string;
  readonly header: string;
  /** Quotes and spoilers contain blocks, so fences nest in them; code does not. */
  readonly isContainer: boolean;
}

const OPENING = /^( {0,3})(`{3,}|~{3,})([^`~]*)$/;
const CONTAINERS: ReadonlySet<string> = new Set(["quote", "spoiler"]);

export function openFence(line: string): Fence | null {
  const match = OPENING.exec(line);
  if (match === null) return null;
  const [, indent = "", marks = "", rest = ""] = match;
  const words = rest.trim();
  const space = words.search(/\s/);
  const first = space === -1 ? words : words.slice(0, space);
  const language = first.replace(/^\{?\.?/, "").replace(/\}$/, "");
  return {
    marks,
    indent: indent.length,
    language,
    header: space === -1 ? "" : words.slice(space).trim(),
    isContainer: CONTAINERS.has(language),
  };
}

export function closesFence(line: string, fence: Fence): boolean {
  return line.trim() === fence.marks;
}

export type BlockRule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean;

const QUOTE_LINE = /^ {0,3}>/;
const TABLE_DELIMITERS = /^[ \t]*[|:-][ \t|:-]*$/;
const OUTER_BORDERS = /^\||\|$/g;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(?=\S)/;

// Caches: the line up to which a block has only `>`, the end of the block that was last looked up, and the source
// prepared for the table rule. Without them every line of a long block would scan the whole block again.
const emptyQuoteEnds = new WeakMap<StateBlock, number>();
const blockEnds = new WeakMap<StateBlock, number>();
const tableSources = new WeakMap<StateBlock, string>();

export function lineOf(state: StateBlock, line: number): string {
  return state.src.slice(state.bMarks[line], state.eMarks[line]);
}

export function canNest(state: StateBlock): boolean {
  return contextOf(state.env).blockDepth < BLOCK_DEPTH_MAX;
}

/** Charges blocks to the message's bound. */
export function spendBlocks(state: StateBlock, count: number): void {
  contextOf(state.env).blocksLeft -= count;
}

/** Runs before all other rules: counts every block, and turns what exceeds the bound into one paragraph. */
export const boundRule: BlockRule = (state, startLine, endLine) => {
  const isBeyond = contextOf(state.env).blocksLeft <= 0;
  spendBlocks(state, 1);
  if (!isBeyond) return false;
  pushParagraph(state, state.getLines(startLine, endLine, 0, false).trim());
  state.line = endLine;
  return true;
};

/** Parses the text of a container in place. The caller must check {@link canNest} first. */
export function parseNested(state: StateBlock, text: string): void {
  const context = contextOf(state.env);
  if (context.usesShortcuts && !text.includes("\n") && isPlain(text, context)) {
    spendBlocks(state, 1);
    pushParagraph(state, text);
    return;
  }
  context.blockDepth++;
  state.md.block.parse(text, state.md, state.env, state.tokens);
  context.blockDepth--;
}

export const fenceRule: BlockRule = (state, startLine, endLine, silent) => {
  const fence = openFence(lineOf(state, startLine));
  if (fence === null) return false;
  if (silent) return true;
  const contentEnd = endOfFence(state, fence, startLine + 1, endLine);
  const lines: string[] = [];
  for (let line = startLine + 1; line < contentEnd; line++) lines.push(lineOf(state, line));
  state.line = Math.min(endLine, contentEnd + 1);
  const content = lines.map((line) => removeIndent(line, fence.indent)).join("\n");
  pushFence(state, fence, content);
  return true;
};

/** `>` at the start of a line, up to the next empty line. A block with only `>` is text. */
export const quoteRule: BlockRule = (state, startLine, endLine, silent) => {
  if (!QUOTE_LINE.test(lineOf(state, startLine)) || !canNest(state)) return false;
  if (startLine < (emptyQuoteEnds.get(state) ?? 0)) return false;
  const lines: string[] = [];
  let line = startLine;
  for (; line < endLine && !state.isEmpty(line); line++) {
    const text = lineOf(state, line);
    const isQuoted = QUOTE_LINE.test(text);
    if (!isQuoted && openFence(text) !== null) break;
    lines.push(isQuoted ? text.replace(/^ {0,3}> ?/, "") : text);
  }
  if (lines.every((text) => text.trim() === "")) {
    emptyQuoteEnds.set(state, line);
    return false;
  }
  if (silent) return true;
  state.push("blockquote_open", "blockquote", 1);
  parseNested(state, lines.join("\n"));
  state.push("blockquote_close", "blockquote", -1);
  state.line = line;
  return true;
};

/** `# heading`: one to six signs, then a space. */
export const headingRule: BlockRule = (state, startLine, _endLine, silent) => {
  const text = lineOf(state, startLine);
  const match = HEADING.exec(text);
  if (match === null) return false;
  if (silent) return true;
  const tag = `h${match[1]?.length ?? 1}`;
  state.push("heading_open", tag, 1);
  pushInline(state, withoutClosingSigns(text.slice(match[0].length).trimEnd()));
  state.push("heading_close", tag, -1);
  state.line = startLine + 1;
  return true;
};

/** markdown-it's own table rule, limited to the number of cells that a message may have. */
export function boundedTableRule(): BlockRule {
  const tables = new MarkdownIt("zero");
  tables.block.ruler.enableOnly("table");
  const rule = tables.block.ruler.getRules("")[0];
  if (rule === undefined) throw new Error("markdown-it has no table rule");
  return (state, startLine, endLine, silent) => {
    if (startLine + 2 > endLine) return false;
    const delimiters = lineOf(state, startLine + 1);
    if (!delimiters.includes("-") || !TABLE_DELIMITERS.test(delimiters)) return false;
    const columns = delimiters.trim().replace(OUTER_BORDERS, "").split("|").length;
    const most = BLOCKS_PER_TABLE + columns * (endOfBlock(state, startLine, endLine) - startLine);
    if (most > contextOf(state.env).blocksLeft || !withCodeInCells(rule, state, startLine, endLine, silent))
      return false;
    if (silent) return true;
    spendBlocks(state, BLOCKS_PER_TABLE + columns * (state.line - startLine));
    if (state.line === startLine + 2) addEmptyRow(state, columns);
    return true;
  };
}

/** Clients of this dialect expect that every table has a body. */
function addEmptyRow(state: StateBlock, columns: number): void {
  const end = state.tokens.pop();
  if (end?.type !== "table_close") throw new Error(`a table ends with ${end?.type}`);
  state.push("tbody_open", "tbody", 1);
  state.push("tr_open", "tr", 1);
  for (let column = 0; column < columns; column++) {
    state.push("td_open", "td", 1);
    state.push("td_close", "td", -1);
  }
  state.push("tr_close", "tr", -1);
  state.push("tbody_close", "tbody", -1);
  state.tokens.push(end);
}

/** The table rule, except that `|` in inline code is not a cell border. */
function withCodeInCells(rule: BlockRule, ...[state, startLine, endLine, silent]: Parameters<BlockRule>): boolean {
  const { src } = state;
  const hidden = tableSources.get(state) ?? hideCodeBorders(src);
  tableSources.set(state, hidden);
  const from = state.tokens.length;
  state.src = hidden;
  const isTable = rule(state, startLine, endLine, silent);
  state.src = src;
  if (hidden !== src) {
    for (const token of state.tokens.slice(from)) token.content = showCodeBorders(token.content);
  }
  return isTable;
}

/** The first empty line after `line`, or `endLine`. */
function endOfBlock(state: StateBlock, line: number, endLine: number): number {
  const known = blockEnds.get(state) ?? 0;
  if (line < known) return known;
  let end = line;
  while (end < endLine && !state.isEmpty(end)) end++;
  blockEnds.set(state, end);
  return end;
}

/** The line that closes the fence, or `endLine`. Fences nest inside quotes and spoilers. */
function endOfFence(state: StateBlock, outer: Fence, startLine: number, endLine: number): number {
  const open: Fence[] = [outer];
  for (let line = startLine; line < endLine; line++) {
    const innermost = open[open.length - 1] ?? outer;
    const text = lineOf(state, line);
    if (closesFence(text, innermost)) {
      open.pop();
      if (open.length === 0) return line;
    } else if (innermost.isContainer) {
      const inner = openFence(text);
      if (inner !== null) open.push(inner);
    }
  }
  return endLine;
}

function pushFence(state: StateBlock, fence: Fence, content: string): void {
  if (fence.language === "math") pushMathBlock(state, content);
  else if (fence.language === "quote" && canNest(state)) {
    state.push("blockquote_open", "blockquote", 1);
    parseNested(state, content);
    state.push("blockquote_close", "blockquote", -1);
  } else if (fence.language === "spoiler" && canNest(state)) {
    state.push(`${SPOILER_BLOCK}_open`, "div", 1);
    state.push(`${SPOILER_HEADER}_open`, "div", 1);
    if (fence.header !== "") parseNested(state, fence.header);
    state.push(`${SPOILER_HEADER}_close`, "div", -1);
    state.push(`${SPOILER_CONTENT}_open`, "div", 1);
    parseNested(state, content);
    state.push(`${SPOILER_CONTENT}_close`, "div", -1);
    state.push(`${SPOILER_BLOCK}_close`, "div", -1);
  } else {
    const token = state.push("fence", "code", 0);
    token.info = fence.language;
    token.content = content;
  }
}

function pushParagraph(state: StateBlock, content: string): void {
  state.push("paragraph_open", "p", 1);
  pushInline(state, content);
  state.push("paragraph_close", "p", -1);
}

function pushInline(state: StateBlock, content: string): void {
  const token = state.push("inline", "", 0);
  token.content = content;
  token.children = [];
}

function removeIndent(line: string, indent: number): string {
  let removed = 0;
  while (removed < indent && line.charAt(removed) === " ") removed++;
  return line.slice(removed);
}

function withoutClosingSigns(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === "#") end--;
  return end < text.length && /\s/.test(text.charAt(end - 1)) ? text.slice(0, end).trimEnd() : text;
}
