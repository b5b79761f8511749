/** Texts of the documents as HTML: Markdown without HTML of its own, and escaped text. */
import MarkdownIt, { type MarkdownIt as Parser } from "markdown-it";

let parser: Parser | null = null;

/** Made when the first page is: most processes never show one. */
function markdown(): Parser {
  parser ??= new MarkdownIt({ html: false });
  return parser;
}

export function escaped(text: string): string {
  return markdown().utils.escapeHtml(text);
}

/** Markdown inside a paragraph. */
export function inline(text: string): string {
  return markdown().renderInline(text);
}

/** Markdown with paragraphs and tables. */
export function block(text: string): string {
  return markdown().render(text);
}
