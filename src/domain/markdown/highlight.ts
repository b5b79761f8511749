// Code -> HTML with a class for each piece, as clients color it. The text inside is exactly the code. What it costs is bounded by
// characters, by the length of a line and by the number of pieces (bounds.ts). That is not enough for every tokenizer: some look
// through their line in cubic time, so they run in a thread of their own, for a bounded time (code-highlighter.ts). Code beyond the
// bounds is shown without colors, and so is code that its tokenizer stumbles over.
import { StringStream } from "@codemirror/streamparser";
import { CODE_CHARS_PER_MESSAGE_MAX, CODE_LINE_CHARS_MAX, CODE_SPANS_PER_MESSAGE_MAX } from "./bounds.ts";
import { escapeAttribute } from "./escape.ts";
import { classOf, partsOf } from "./highlight-classes.ts";
import { type Highlighter, highlighterOf } from "./highlighters.ts";

const TAB_SIZE = 4;
/** A tokenizer may take nothing while it changes its state, but not for ever. */
const EMPTY_TOKENS_MAX = 8;

/** One message's allowance, for all its blocks together. */
export class CodeAllowance {
  characters = CODE_CHARS_PER_MESSAGE_MAX;
  spans = CODE_SPANS_PER_MESSAGE_MAX;
}

/** @returns the code as HTML, escaped; without classes where the language is not known or the allowance is spent */
export function highlightCode(code: string, language: string | null, allowance: CodeAllowance): string {
  const plain = escapeAttribute(code);
  const isSmall = code.length <= allowance.characters && !hasLongLine(code);
  const highlighter = language === null || !isSmall ? null : highlighterOf(language);
  if (highlighter === null) return plain;
  allowance.characters -= code.length;
  const writer = new SpanWriter(allowance.spans);
  try {
    tokenize(code, highlighter, writer);
  } catch {
    // The tokenizers are made for an editor, in which a fault in one line is gone with the next key.
    return plain;
  }
  const html = writer.finish();
  if (writer.isOver) return plain;
  allowance.spans -= writer.spans;
  return html;
}

function hasLongLine(code: string): boolean {
  return code.split("\n").some((line) => line.length > CODE_LINE_CHARS_MAX);
}

function tokenize(code: string, highlighter: Highlighter, writer: SpanWriter): void {
  const { parser } = highlighter;
  const state = parser.startState?.(TAB_SIZE) ?? {};
  for (const [number, line] of code.split("\n").entries()) {
    if (writer.isOver) return;
    if (number > 0) writer.write("\n", "");
    if (line === "") parser.blankLine?.(state, TAB_SIZE);
    else tokenizeLine(line, number === 0, highlighter, state, writer);
  }
}

function tokenizeLine(
  line: string,
  isFirst: boolean,
  highlighter: Highlighter,
  state: unknown,
  writer: SpanWriter,
): void {
  const stream = new StringStream(line, TAB_SIZE, TAB_SIZE);
  for (let empty = 0; stream.pos < line.length && !writer.isOver; ) {
    stream.start = stream.pos;
    // Whatever its type says, a tokenizer may give `undefined` for what it has no style for.
    const style: string | null | undefined = highlighter.parser.token(stream, state);
    // Nothing is lost or said twice, whatever the tokenizer did to its stream.
    if (stream.pos <= stream.start && ++empty <= EMPTY_TOKENS_MAX) continue;
    empty = 0;
    const start = stream.start;
    stream.pos = Math.min(Math.max(stream.pos, start + 1), line.length);
    writeToken(line.slice(start, stream.pos), style ?? null, highlighter, isFirst && start === 0, writer);
  }
}

function writeToken(
  text: string,
  style: string | null,
  highlighter: Highlighter,
  isFirst: boolean,
  writer: SpanWriter,
): void {
  const className = classOf(style, text, highlighter, isFirst);
  if (className !== null) writer.write(text, text.trim() === "" ? "" : className);
  else if (highlighter.flavor === "text") writer.write(text, "");
  else for (const [part, own] of partsOf(text)) writer.write(part, own);
}

/** Neighbors of one class are one span. */
class SpanWriter {
  readonly #max: number;
  #html = "";
  #text = "";
  #className = "";
  spans = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isOver(): boolean {
    return this.spans > this.#max;
  }

  write(text: string, className: string): void {
    if (className !== this.#className) this.#flush();
    this.#className = className;
    this.#text += text;
  }

  finish(): string {
    this.#flush();
    return this.#html;
  }

  #flush(): void {
    if (this.#text === "") return;
    const text = escapeAttribute(this.#text);
    if (this.#className === "") this.#html += text;
    else {
      this.#html += `<span class="${this.#className}">${text}</span>`;
      this.spans++;
    }
    this.#text = "";
  }
}
