/**
 * Turns tokens into pieces. Every tag is written here or in a table below, and every text goes through escape.ts; an
 * unknown token shows its text. Mentions inside quotes are made silent here, because only here it is known what is
 * quoted.
 *
 * Maps the word after ``` to the language's canonical name, as clients expect it in `data-code-language` (they find
 * playgrounds by it). Unknown words are passed on as typed.
 */
import type { Token } from "markdown-it";
import type { ContentPart, ParsedContent, Reference } from "../../schemas/parsed-content.ts";
import { IMAGE_PREVIEWS_PER_MESSAGE_MAX, INLINE_DEPTH_MAX, TEX_CHARS_PER_MESSAGE_MAX } from "./bounds.ts";
import { builtInEmoji, emojiSpan } from "./emoji-html.ts";
import { escapeAttribute, escapeText } from "./escape.ts";
import { hasHighlighter } from "./highlighters.ts";
import { LANGUAGE_NAMES } from "./language-names.ts";
import { costOfFormula, renderMath } from "./math.ts";
import {
  elementOf,
  type InlineMeta,
  type LinkMeta,
  linkOf,
  MATH_BLOCK,
  SPOILER_BLOCK,
  SPOILER_CONTENT,
  SPOILER_HEADER,
} from "./tokens.ts";

/** Writes the result of parsing (schemas/parsed-content.ts). */
class PieceWriter {
  readonly #pieces: ContentPart[] = [];
  #html = "";

  html(html: string): void {
    this.#html += html;
  }

  reference(reference: Reference): void {
    if (this.#html !== "") this.#pieces.push(this.#html);
    this.#html = "";
    this.#pieces.push(reference);
  }

  /** The pieces, without a trailing line break. */
  finish(): ContentPart[] {
    const last = this.#html.endsWith("\n") ? this.#html.slice(0, -1) : this.#html;
    this.#html = "";
    if (last !== "") this.#pieces.push(last);
    return this.#pieces;
  }
}

let names: ReadonlyMap<string, string> | null = null;

/** The language's name for `data-code-language`; the word itself if it is unknown. */
export function languageName(word: string): string {
  return knownLanguage(word) ?? word;
}

/** The name of the language with this alias; null if there is none. */
export function knownLanguage(word: string): string | null {
  names ??= readNames();
  return names.get(word.toLowerCase()) ?? null;
}

function readNames(): ReadonlyMap<string, string> {
  return new Map(
    LANGUAGE_NAMES.split("|").flatMap((entry) => {
      const [name = "", aliases = ""] = entry.trim().split(" = ");
      return aliases.split(" ").map((alias): [string, string] => [alias.toLowerCase(), name]);
    }),
  );
}

/** A first line that names the interpreter, or the language after colons. */
const FIRST_LINE = /^(?:::+|#!)(?:(?:\/\w+)*[/ ])?([\w#.+-]*)/;

/** The language that the first line of the code names, or null. */
export function languageInCode(code: string): string | null {
  const word = FIRST_LINE.exec(code)?.[1];
  return word === undefined ? null : knownLanguage(word);
}

// Markup of containers that need more than a tag.
const FIXED: ReadonlyMap<string, string> = new Map([
  [`${SPOILER_BLOCK}_open`, '<div class="spoiler-block">'],
  [`${SPOILER_HEADER}_open`, '<div class="spoiler-header">\n'],
  [`${SPOILER_HEADER}_close`, "</div>"],
  [`${SPOILER_CONTENT}_open`, '<div class="spoiler-content" aria-hidden="true">\n'],
  [`${SPOILER_CONTENT}_close`, "</div>"],
  [`${SPOILER_BLOCK}_close`, "</div>\n"],
  ["hr", "<hr>\n"],
]);
// Inline tags that nest, with bounded depth.
const INLINE_TAGS: ReadonlySet<string> = new Set(["em", "strong", "del"]);
const BLOCK_TAGS: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 blockquote ul ol li table thead tbody tr th td".split(" "),
);
const ALIGNMENT = /^text-align:(left|right|center)$/;
const UPLOAD_PREFIX = "/user_uploads/";
const IMAGE_FILE = /\.(?:avif|bmp|gif|heic|jpe|jpe?g|png|webp)$/i;
/** Videos that the server sends with a video type (file-pages.ts). */
const VIDEO_FILE = /\.(?:mp4|webm)$/i;

export type RenderedPieces = Omit<ParsedContent, "startsWithMe">;

/** The pieces of a token list, and what was found in it. */
export function renderTokens(tokens: readonly Token[]): RenderedPieces {
  return new HtmlRenderer().render(tokens);
}

class HtmlRenderer {
  readonly #out = new PieceWriter();
  readonly #attachmentPaths = new Set<string>();
  readonly #previewed = new Set<string>();
  #previews: Reference[] = [];
  #quoteDepth = 0;
  #texCharsLeft = TEX_CHARS_PER_MESSAGE_MAX;
  #hasChannelWildcard = false;
  #hasTopicWildcard = false;
  #hasLink = false;
  #hasImage = false;

  render(tokens: readonly Token[]): RenderedPieces {
    for (const [position, token] of tokens.entries()) this.#block(token, tokens[position + 1]);
    return {
      pieces: this.#out.finish(),
      hasChannelWildcard: this.#hasChannelWildcard,
      hasTopicWildcard: this.#hasTopicWildcard,
      hasLink: this.#hasLink,
      hasImage: this.#hasImage,
      attachmentPaths: [...this.#attachmentPaths],
    };
  }

  #block(token: Token, next: Token | undefined): void {
    const fixed = FIXED.get(token.type);
    if (fixed !== undefined) this.#out.html(fixed);
    else if (token.type === "inline") this.#inline(token.children ?? []);
    else if (token.type === "fence" || token.type === "code_block") this.#code(token);
    else if (token.type === MATH_BLOCK) this.#mathBlock(token.content);
    else if (BLOCK_TAGS.has(token.tag)) this.#blockTag(token, next);
    else this.#out.html(escapeText(token.content));
  }

  #blockTag(token: Token, next: Token | undefined): void {
    if (token.tag === "blockquote") this.#quoteDepth += token.nesting;
    if (token.nesting === 1) {
      const keepsLine = next === undefined || next.type === "inline" || next.hidden || next.nesting === -1;
      if (!token.hidden) this.#out.html(`<${token.tag}${attributesOf(token)}>${keepsLine ? "" : "\n"}`);
      return;
    }
    if (!token.hidden) this.#out.html(`</${token.tag}>\n`);
    if (token.tag === "p") this.#writePreviews(token.hidden);
  }

  /**
   * The images and videos that a paragraph links to, shown below it; not for quotes, because they were shown before.
   */
  #writePreviews(isInline: boolean): void {
    for (const preview of this.#previews) this.#out.reference(preview);
    if (this.#previews.length > 0 && !isInline) this.#out.html("\n");
    this.#previews = [];
  }

  #code(token: Token): void {
    const language = token.info === "" ? "" : ` data-code-language="${escapeAttribute(languageName(token.info))}"`;
    const code = trimCode(token.content);
    const known = token.info === "" ? languageInCode(code) : knownLanguage(token.info);
    const typed = escapeAttribute(code);
    this.#out.html(`<div class="codehilite"${language}><pre><span></span><code>`);
    if (known === null || code === "" || !hasHighlighter(known)) this.#out.html(typed);
    else this.#out.reference({ kind: "code", code, language: known, typed });
    this.#out.html("\n</code></pre></div>\n");
  }

  /** Empty lines separate formulas. */
  #mathBlock(content: string): void {
    const sources = content.trim().split(/\n(?:[ \t]*\n)+/);
    const formulas = sources.map((source) => {
      return this.#math(source, true) ?? `<span class="tex-error">${escapeText(source)}</span>`;
    });
    this.#out.html(`<p>${formulas.join("\n\n")}</p>\n`);
  }

  #math(source: string, display: boolean): string | null {
    const cost = costOfFormula(source, this.#texCharsLeft);
    if (cost > this.#texCharsLeft) return null;
    this.#texCharsLeft -= cost;
    return renderMath(source, { display });
  }

  #inline(tokens: readonly Token[]): void {
    let depth = 0;
    for (const token of tokens) {
      const element = elementOf(token);
      if (element !== null) this.#element(element, token.content);
      else if (INLINE_TAGS.has(token.tag)) {
        if (token.nesting === 1) depth++;
        if (depth <= INLINE_DEPTH_MAX) this.#out.html(token.nesting === 1 ? `<${token.tag}>` : `</${token.tag}>`);
        if (token.nesting === -1) depth--;
      } else if (token.type === "link_open") this.#linkOpen(linkOf(token));
      else if (token.type === "link_close") this.#out.html("</a>");
      else if (token.type === "code_inline") this.#out.html(`<code>${escapeText(token.content)}</code>`);
      else if (token.type === "hardbreak") this.#out.html("<br>\n");
      else if (token.type === "text") this.#out.html(escapeText(token.content).replaceAll("\n", "<br>\n"));
      // A character written as an entity, like `&#10;`, does not break the line.
      else this.#out.html(escapeText(token.content));
    }
  }

  #linkOpen({ href, title, label }: LinkMeta): void {
    const titleAttribute = title === null ? "" : ` title="${escapeAttribute(title)}"`;
    this.#out.html(`<a href="${escapeAttribute(href)}"${titleAttribute}>`);
    this.#hasLink = true;
    const file = href.split(/[?#]/, 1)[0] ?? href;
    const isImage = IMAGE_FILE.test(file);
    if (isImage) this.#hasImage = true;
    if (!file.startsWith(UPLOAD_PREFIX)) return;
    const path = file.slice(UPLOAD_PREFIX.length);
    this.#attachmentPaths.add(path);
    const isFirst = !this.#previewed.has(path) && this.#previewed.size < IMAGE_PREVIEWS_PER_MESSAGE_MAX;
    const kind = isImage ? "image" : VIDEO_FILE.test(file) ? "video" : null;
    if (kind === null || !isFirst || this.#quoteDepth > 0) return;
    this.#previewed.add(path);
    this.#previews.push({ kind, path, href, title: label === href ? "" : label, typed: "" });
  }

  #element(element: InlineMeta, source: string): void {
    const typed = escapeText(source);
    switch (element.kind) {
      case "user":
      case "group":
        this.#out.reference({ ...element, silent: this.#isSilent(element), typed });
        break;
      case "channel":
      case "topic":
      case "message":
        this.#hasLink = true;
        this.#out.reference({ ...element, typed });
        break;
      case "channelWildcard":
        this.#hasChannelWildcard ||= !this.#isSilent(element);
        this.#out.html(channelWildcard(element.name, this.#isSilent(element)));
        break;
      case "topicWildcard":
        this.#hasTopicWildcard ||= !this.#isSilent(element);
        this.#out.html(topicWildcard(this.#isSilent(element)));
        break;
      case "emojiName":
        this.#out.reference({ kind: "emoji", name: element.name, typed: builtInEmoji(element.name) ?? typed });
        break;
      case "emojiCharacters":
        this.#out.html(emojiSpan(element.emoji.names[0] ?? "", element.emoji.code));
        break;
      case "time":
        this.#out.html(timeElement(element.instant, element.source));
        break;
      case "math":
        this.#out.html(this.#math(element.source, false) ?? `<span class="tex-error">${typed}</span>`);
        break;
    }
  }

  #isSilent(mention: { readonly silent: boolean }): boolean {
    return mention.silent || this.#quoteDepth > 0;
  }
}

function attributesOf(token: Token): string {
  const start = token.attrGet("start");
  const alignment = ALIGNMENT.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (start !== null) return ` start="${escapeAttribute(String(start))}"`;
  return alignment === undefined ? "" : ` style="text-align: ${alignment};"`;
}

function channelWildcard(name: string, silent: boolean): string {
  const classes = `user-mention channel-wildcard-mention${silent ? " silent" : ""}`;
  return `<span class="${classes}" data-user-id="*">${silent ? "" : "@"}${escapeText(name)}</span>`;
}

function topicWildcard(silent: boolean): string {
  return silent ? '<span class="topic-mention silent">topic</span>' : '<span class="topic-mention">@topic</span>';
}

function timeElement(instant: string | null, source: string): string {
  const text = escapeText(source);
  if (instant === null) return `<span class="timestamp-error">Invalid time format: ${text}</span>`;
  return `<time datetime="${instant}">${text}</time>`;
}

/** Code without surrounding empty lines and without trailing spaces. */
function trimCode(code: string): string {
  const lines = code.split("\n").map((line) => line.trimEnd());
  let start = 0;
  let end = lines.length;
  while (start < end && lines[start] === "") start++;
  while (end > start && lines[end - 1] === "") end--;
  return lines.slice(start, end).join("\n");
}
