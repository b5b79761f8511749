/**
 * Converts a rendered message to HTML that mail clients can show: plain elements without attributes, absolute links to
 * the organization, links instead of pictures, spoilers hidden. A real parser reads and writes it, and only allowed
 * elements pass, whatever a message contains.
 */
import { type DefaultTreeAdapterTypes, html, parseFragment, serialize, defaultTreeAdapter as tree } from "parse5";
import { mailText } from "./mail-text.ts";

type Child = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

export interface MailContent {
  readonly html: string;
  readonly text: string;
}

export interface MailReader {
  /** The organization's address, without a trailing slash. */
  readonly site: string;
  /** How the reader writes a time, which is an ISO date; null if it is none. */
  time(instant: string): string | null;
}

export function mailContent(rendered: string, reader: MailReader): MailContent {
  const fragment = tree.createDocumentFragment();
  new Cleaner(reader).copyAll(parseFragment(rendered), fragment);
  return { html: serialize(fragment), text: mailText(fragment) };
}

/** Elements that pass unchanged, without attributes. */
const kept: ReadonlySet<string> = new Set(
  "p br hr em strong del code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td".split(" "),
);
const linkable: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

export const hiddenSpoiler = "(hidden: open the conversation to read it)";

class Cleaner {
  readonly #reader: MailReader;

  constructor(reader: MailReader) {
    this.#reader = reader;
  }

  copyAll(from: Parent, to: Parent): void {
    for (const child of from.childNodes) this.#copy(child, to);
  }

  #copy(node: Child, to: Parent): void {
    if (tree.isTextNode(node)) tree.insertText(to, node.value);
    else if (tree.isElementNode(node)) this.#copyElement(node, to);
  }

  #copyElement(element: Element, to: Parent): void {
    const { tagName } = element;
    const classes = attribute(element, "class").split(" ");
    if (kept.has(tagName)) this.copyAll(element, append(to, tagName, numbering(element)));
    else if (tagName === "a") this.#link(element, to);
    else if (tagName === "time") this.#time(element, to);
    else if (tagName === "img") this.#picture(element, to);
    else if (classes.includes("spoiler-content")) tree.insertText(append(to, "p"), hiddenSpoiler);
    else if (classes.includes("spoiler-header")) this.copyAll(element, append(to, "div"));
    else if (classes.includes("katex")) tree.insertText(append(to, "code"), formula(element));
    else if (classes.includes("emoji")) tree.insertText(to, emoji(classes) ?? textOf(element));
    else if (/^(?:user|user-group|topic)-mention$/.test(classes[0] ?? "")) this.copyAll(element, append(to, "strong"));
    else if (!unseen.has(tagName) && !classes.includes(preview)) this.copyAll(element, to);
  }

  #link(element: Element, to: Parent): void {
    const href = this.#absolute(attribute(element, "href"));
    this.copyAll(element, href === null ? to : append(to, "a", { href }));
  }

  #time(element: Element, to: Parent): void {
    tree.insertText(to, this.#reader.time(attribute(element, "datetime")) ?? textOf(element));
  }

  /** Emoji images become their names. */
  #picture(element: Element, to: Parent): void {
    const alt = attribute(element, "alt");
    if (alt !== "") tree.insertText(to, alt);
  }

  /** Returns null if emails must not link to this URL. */
  #absolute(href: string): string | null {
    const base = `${this.#reader.site}/`;
    if (!URL.canParse(href, base)) return null;
    const url = new URL(href, base);
    return linkable.has(url.protocol) ? url.href : null;
  }
}

/** Previews below a paragraph, which already contains the link. */
const preview = "message_inline_image";

/** Elements whose text is not shown to readers. */
const unseen: ReadonlySet<string> = new Set(["script", "style", "template", "title", "iframe", "noscript"]);

function append(to: Parent, tagName: string, attributes: Readonly<Record<string, string>> = {}): Element {
  const attrs = Object.entries(attributes).map(([name, value]) => ({ name, value }));
  const element = tree.createElement(tagName, html.NS.HTML, attrs);
  tree.appendChild(to, element);
  return element;
}

function attribute(element: Element, name: string): string {
  return element.attrs.find((one) => one.name === name)?.value ?? "";
}

/** Keeps the start number of ordered lists. */
function numbering(element: Element): Readonly<Record<string, string>> {
  const start = element.tagName === "ol" ? attribute(element, "start") : "";
  return /^\d{1,9}$/.test(start) ? { start } : {};
}

function textOf(node: Child | Parent): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

/** A formula in its source form. */
function formula(element: Element): string {
  return find(element, "annotation") ?? textOf(element);
}

function find(parent: Parent, tagName: string): string | null {
  for (const child of parent.childNodes) {
    if (!tree.isElementNode(child)) continue;
    const found = child.tagName === tagName ? textOf(child) : find(child, tagName);
    if (found !== null) return found;
  }
  return null;
}

/** The characters of an emoji span, from its class. */
function emoji(classes: readonly string[]): string | null {
  const codes = classes.flatMap((one) => /^emoji-([0-9a-f]{2,6}(?:-[0-9a-f]{2,6})*)$/.exec(one)?.[1] ?? [])[0];
  const points = codes?.split("-").map((code) => Number.parseInt(code, 16)) ?? [];
  return points.length === 0 || points.some((point) => point > 0x10ffff) ? null : String.fromCodePoint(...points);
}
