/**
 * The only place where HTML of the server enters the page. The server's renderer writes a fixed set of elements; this
 * keeps what a message may do in a page to that set anyway: no scripts, frames, forms or handlers, and links that open
 * without access to this page.
 */
import type { Message } from "../../client/src/api/index.ts";
import { parsedHtml } from "./parsed-html.ts";
import { placeOf } from "./state/narrow.ts";
import { dateAndTime } from "./time.ts";

declare const KATEX_STYLES: string;

const removed =
  "script, style, iframe, object, embed, form, input, button, textarea, select, link, meta, base, template";
const styleProperties =
  /^(?:text-align|height|width|min-width|top|left|bottom|margin-right|margin-left|padding-left|vertical-align|border-bottom-width|border-top-width|border-right-width|border-width|border-style|position|color)$/;
const safeLink = /^(?:https?:|mailto:|tel:|#|\/)/i;

/** Styles by attribute are forbidden by the page's policy; by script they are not. */
function moveStyle(element: Element): void {
  const text = element.getAttribute("data-style") ?? "";
  element.removeAttribute("data-style");
  if (!(element instanceof HTMLElement)) return;
  for (const declaration of text.split(";")) {
    const [name = "", value = ""] = declaration.split(":").map((part) => part.trim());
    if (styleProperties.test(name)) element.style.setProperty(name, value);
  }
}

let hasKatexStyles = false;

/** The styles of formulas are loaded with the first formula. */
function loadKatexStyles(): void {
  if (hasKatexStyles) return;
  hasKatexStyles = true;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = KATEX_STYLES;
  document.head.append(link);
}

function emojiOf(element: Element): string | null {
  const code = /\bemoji-([0-9a-f-]+)\b/.exec(element.className)?.[1];
  return code === undefined ? null : characterOf(code);
}

export function characterOf(code: string): string {
  const points = code.split("-").map((part) => Number.parseInt(part, 16));
  return points.every((point) => point > 0 && point <= 0x10ffff) ? String.fromCodePoint(...points) : "";
}

/** The last part of an address, as people write it. */
export function fileNameOf(href: string): string {
  const last = href.split(/[?#]/)[0]?.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function enhanceLink(link: Element): void {
  const href = link.getAttribute("href") ?? "";
  if (!safeLink.test(href)) {
    link.removeAttribute("href");
    return;
  }
  const local = /^(?:\/?)(#.*)$/.exec(
    href.startsWith(location.origin) ? href.slice(location.origin.length) : href,
  )?.[1];
  if (local !== undefined && placeOf(local) !== null) {
    link.setAttribute("href", local);
    return;
  }
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
}

function enhanceTime(time: Element): void {
  const at = new Date(time.getAttribute("datetime") ?? "");
  if (Number.isNaN(at.getTime())) return;
  time.setAttribute("title", time.textContent ?? "");
  time.textContent = dateAndTime(at);
}

function button(label: string, className: string): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = label;
  return made;
}

function enhanceSpoiler(block: Element): void {
  const header = block.querySelector(".spoiler-header");
  const content = block.querySelector<HTMLElement>(".spoiler-content");
  if (header === null || content === null) return;
  content.hidden = true;
  content.removeAttribute("aria-hidden");
  const toggle = button("Show", "spoiler-toggle");
  toggle.setAttribute("aria-expanded", "false");
  toggle.addEventListener("click", () => {
    content.hidden = !content.hidden;
    toggle.textContent = content.hidden ? "Show" : "Hide";
    toggle.setAttribute("aria-expanded", String(!content.hidden));
  });
  header.append(toggle);
}

function enhanceCode(block: Element): void {
  const copy = button("Copy", "code-copy");
  copy.setAttribute("aria-label", "Copy code");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Select the text and copy it";
    }
  });
  const language = block.getAttribute("data-code-language");
  if (language !== null) block.setAttribute("aria-label", `Code in ${language}`);
  const box = block.querySelector("pre");
  // A box that scrolls must be reachable by keyboard.
  box?.setAttribute("tabindex", "0");
  block.append(copy);
}

/** The server's previews have no text alternative: the picture has the name of its file. */
function nameImage(image: HTMLImageElement): void {
  if (image.hasAttribute("alt")) return;
  const link = image.closest("a");
  const href = link?.getAttribute("href") ?? image.getAttribute("src") ?? "";
  image.alt = link?.getAttribute("title") || fileNameOf(href);
}

/** The size of the box that a picture or a video is shown in, in CSS pixels (styles/rendered.css). */
const previewSize = { width: 420, height: 280 } as const;

/** A picture takes its place before it has come. Only its size at the server says how high it will be. */
function reserve(image: HTMLImageElement): void {
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(image.dataset["originalDimensions"] ?? "") ?? []).map(Number);
  if (width === 0 || height === 0) return;
  const scale = Math.min(1, previewSize.width / width, previewSize.height / height);
  image.width = Math.max(1, Math.round(width * scale));
  image.height = Math.max(1, Math.round(height * scale));
}

/** A formula has its source beside two forms of itself. */
export function showSources(content: ParentNode): void {
  for (const formula of content.querySelectorAll(".katex")) {
    formula.replaceWith(formula.querySelector("annotation")?.textContent ?? "");
  }
}

function showEmoji(content: ParentNode): void {
  for (const element of content.querySelectorAll("span.emoji")) {
    const character = emojiOf(element);
    if (character !== null) element.textContent = character;
  }
}

/** The text of a message where it has no page: what a spoiler hides stays hidden. */
export function plainTextOf(html: string): string {
  const body = parsedHtml(html);
  for (const hidden of body.querySelectorAll(".spoiler-content")) hidden.replaceWith("(hidden)");
  showSources(body);
  showEmoji(body);
  for (const time of body.querySelectorAll("time")) enhanceTime(time);
  for (const image of body.querySelectorAll("img")) image.replaceWith(image.alt);
  return body.textContent?.trim() ?? "";
}

/** The HTML of a message; that of `/me waves` goes on after its sender's name. */
export function htmlOf(message: Pick<Message, "content" | "is_me_message" | "match_content">): string {
  const html = message.match_content ?? message.content;
  return message.is_me_message ? html.replace(/^<p>\/(?:<span class="highlight">)?me(?:<\/span>)? /, "<p>") : html;
}

/** Each of these has the direction of its own text. */
const blocks = "p, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, table, th, td, .spoiler-header";

/** @returns the content, ready to be inserted */
export function fragmentOf(html: string, userId: number): DocumentFragment {
  // Text keeps its quotes escaped within tags, so `style="` in a tag is always the attribute.
  const parsed = parsedHtml(withoutStyles(html));
  for (const element of parsed.querySelectorAll(removed)) element.remove();
  for (const element of parsed.querySelectorAll("*")) {
    for (const name of element.getAttributeNames()) {
      if (/^on|^(?:style|srcdoc|formaction|id|name)$/i.test(name)) element.removeAttribute(name);
    }
  }
  const content = document.importNode(parsed, true);
  for (const element of content.querySelectorAll("[data-style]")) moveStyle(element);
  if (content.querySelector(".katex") !== null) loadKatexStyles();
  showEmoji(content);
  for (const block of content.querySelectorAll(blocks)) block.setAttribute("dir", "auto");
  for (const link of content.querySelectorAll("a")) enhanceLink(link);
  for (const time of content.querySelectorAll("time")) enhanceTime(time);
  for (const image of content.querySelectorAll("img")) {
    image.loading = "lazy";
    reserve(image);
    nameImage(image);
    if (!/^(?:\/|data:image\/)/.test(image.getAttribute("src") ?? "")) image.replaceWith(image.alt);
  }
  for (const block of content.querySelectorAll(".spoiler-block")) enhanceSpoiler(block);
  for (const block of content.querySelectorAll(".codehilite")) enhanceCode(block);
  for (const mention of content.querySelectorAll(`.user-mention[data-user-id="${userId}"]`)) {
    mention.classList.add("of-me");
  }
  for (const mention of content.querySelectorAll('.user-mention[data-user-id="*"]')) mention.classList.add("of-me");
  const fragment = document.createDocumentFragment();
  fragment.append(...content.childNodes);
  return fragment;
}

/** Renames style attributes within tags, before the browser's policy would refuse them. */
function withoutStyles(html: string): string {
  return html.replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/\sstyle="/gi, ' data-style="'));
}
