// Turns code into HTML with a class for each token, as clients color it. The text inside is exactly the code. The cost
// is bounded by characters, line length and number of tokens (bounds.ts). Some tokenizers still take cubic time per
// line, so they run in a separate thread with a time limit (code-highlighter.ts). Code beyond the bounds, or code that
// makes its tokenizer throw, is shown without highlighting.
import { StringStream } from "@codemirror/streamparser";
import { CODE_CHARS_PER_MESSAGE_MAX, CODE_LINE_CHARS_MAX, CODE_SPANS_PER_MESSAGE_MAX } from "./bounds.ts";
import { escapeAttribute } from "./escape.ts";
import { classOf, partsOf } from "./highlight-classes.ts";
import { type Highlighter, highlighterOf } from "./highlighters.ts";

const TAB_SIZE = 4;
/** A tokenizer may consume nothing while it changes its state, but only this many times in a row. */
const EMPTY_TOKENS_MAX = 8;

/** The allowance of one message, for all its code blocks together. */
export class CodeAllowance {
  characters = CODE_CHARS_PER_MESSAGE_MAX;
  spans = CODE_SPANS_PER_MESSAGE_MAX;
}

/** @returns the code as escaped HTML; without classes if the language is unknown or the allowance is used up */
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
    // The tokenizers are written for editors, where an error in one line is gone with the next key press.
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
    // Despite its type, a tokenizer may return `undefined` for a token without a style.
    const style: string | null | undefined = highlighter.parser.token(stream, state);
    // No text is lost or repeated, whatever the tokenizer did to its stream.
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

/** Adjacent tokens of one class share a span. */
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
