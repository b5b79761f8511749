/**
 * The difference between two renderings of a message (OpenAPI, get-message-history, `content_html_diff`): the newer
 * one, with inserted and deleted words in spans. Its tags are those of the newer rendering in their order, so it is
 * well formed.
 */
import { diffArrays } from "diff";
import { type DefaultTreeAdapterTypes, parseFragment, serializeOuter, defaultTreeAdapter as tree } from "parse5";
import { limits } from "../schemas/limits.ts";

type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

interface Token {
  readonly html: string;
  /** The compared text, without trailing white space. */
  readonly key: string;
  readonly isTag: boolean;
}

function tokenOf(html: string, isTag: boolean): Token {
  return { html, key: html.trimEnd(), isTag };
}

/** @returns null if the renderings are too long to compare */
export function contentDiff(before: string, after: string): string | null {
  if (before.length + after.length > limits.history_diff_characters_max) return null;
  const [old, now] = [tokensOf(before), tokensOf(after)];
  const changes = diffArrays([...old], [...now], {
    comparator: (one, other) => one.key === other.key,
    maxEditLength: limits.history_diff_edits_max,
  }) ?? [
    { value: now, added: true, removed: false },
    { value: old, added: false, removed: true },
  ];
  const writer = new Writer();
  for (const { value, added, removed } of changes) {
    if (added) writer.inserted(value);
    else if (removed) writer.deleted(value);
    else writer.kept(value);
  }
  return writer.end();
}

/** Collects the changed words of one place, so that inserted words precede deleted ones. */
class Writer {
  #html = "";
  #deleted = "";

  kept(tokens: readonly Token[]): void {
    this.#flush();
    for (const { html } of tokens) this.#html += html;
  }

  inserted(tokens: readonly Token[]): void {
    let words = "";
    for (const { html, isTag } of [...tokens, end]) {
      if (!isTag) {
        words += html;
        continue;
      }
      this.#html += marked("inserted", words) + html;
      words = "";
    }
  }

  /** Deleted tags are not shown, because they would not match the surrounding ones. */
  deleted(tokens: readonly Token[]): void {
    this.#deleted += tokens.map(({ html, isTag }) => (isTag ? " " : html)).join("");
  }

  #flush(): void {
    const words = marked("deleted", this.#deleted.trimStart());
    this.#html += words === "" || !this.#html.endsWith("</span>") ? words : ` ${words}`;
    this.#deleted = "";
  }

  end(): string {
    this.#flush();
    return `<div>${this.#html}</div>`;
  }
}

const end = tokenOf("", true);

function marked(kind: "inserted" | "deleted", words: string): string {
  const changed = words.trim();
  if (changed === "") return words;
  // No regular expression: matching trailing white space takes quadratic time if the text has many blanks.
  const start = words.length - words.trimStart().length;
  const end = start + changed.length;
  return `${words.slice(0, start)}<span class="highlight_text_${kind}">${changed}</span>${words.slice(end)}`;
}

/**
 * Elements compared as one word: parts of mentions, formulas and emoji make no sense, and mentions are redacted as a
 * whole (S1).
 */
const atoms: ReadonlySet<string> = new Set(["span", "img", "time", "math", "svg", "video", "audio"]);

function tokensOf(html: string): readonly Token[] {
  const tokens: Token[] = [];
  collect(parseFragment(html), tokens);
  return tokens;
}

function collect(parent: Parent, tokens: Token[]): void {
  for (const node of parent.childNodes) {
    if (tree.isTextNode(node)) {
      for (const [word] of node.value.matchAll(/\S+\s*|\s+/g)) tokens.push(tokenOf(escaped(word), false));
    } else if (tree.isElementNode(node)) {
      if (atoms.has(node.tagName)) tokens.push(tokenOf(serializeOuter(node), false));
      else collectElement(node, tokens);
    }
  }
}

function collectElement(element: Element, tokens: Token[]): void {
  const whole = serializeOuter({ ...element, childNodes: [] });
  const close = `</${element.tagName}>`;
  const isVoid = !whole.endsWith(close);
  tokens.push(tokenOf(isVoid ? whole : whole.slice(0, -close.length), true));
  collect(element, tokens);
  if (!isVoid) tokens.push(tokenOf(close, true));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\u00a0", "&nbsp;");
}
