// Renders messages from Markdown to HTML in two steps: `parseContent` does the work that needs no state, before the
// turn; `resolveContent` fills in names inside the turn. Output is escaped by construction, never filtered afterwards.
// Plain text skips the parser. Bounds are in bounds.ts (S3).

import type { ParsedContent } from "../../schemas/parsed-content.ts";
import { BLOCKS_PER_MESSAGE_MAX, INLINE_TOKENS_PER_MESSAGE_MAX } from "./bounds.ts";
import type { ParseContext } from "./context.ts";
import { tokenize } from "./dialect.ts";
import { renderTokens } from "./html-renderer.ts";
import { type Linkifier, LinkifierFinder } from "./linkifiers.ts";
import { renderPlainText } from "./plain-text.ts";
import { type Resolver, resolveContent } from "./resolve.ts";

export { type Linkifier, renderTopicLinks, type TopicLink } from "./linkifiers.ts";
export {
  type MentionedUser,
  type RenderedContent,
  type Resolver,
  resolveContent,
  type UploadedImage,
} from "./resolve.ts";

export interface ParseOptions {
  readonly linkifiers: readonly Linkifier[];
  /** The sender's setting to convert emoticons to emoji. */
  readonly translateEmoticons: boolean;
  /** The realm's own address; links into it become relative. */
  readonly realmUrl?: string;
}

const LONE_SURROGATE = /\p{Surrogate}/gu;
const LINE_END = /\r\n?/g;
const NUL = "\0";

/** Parses a message. Pure: the same content and options give the same result, without the realm's state. */
export function parseContent(content: string, options: ParseOptions): ParsedContent {
  const text = cleanText(content);
  const context = contextFor(options);
  const plain = renderPlainText(text, context);
  return plain === null ? parseFully(text, context) : plainContent(plain, isMe(text));
}

/** The slow path of {@link parseContent}; for plain text it gives the same result. */
export function parseWithParser(content: string, options: ParseOptions): ParsedContent {
  return parseFully(cleanText(content), { ...contextFor(options), usesShortcuts: false });
}

/** Renders a channel's or group's description, or any other text without mentions. */
export function renderDescription(markdown: string, options: ParseOptions, resolver: Resolver): string {
  return resolveContent(parseContent(markdown, options), resolver).html;
}

const NO_PATHS: readonly string[] = [];

/**
 * The result for text without references. Written out, because a spread creates a new hidden class each time, which
 * cost 4 % of a post.
 */
function plainContent(html: string, startsWithMe: boolean): ParsedContent {
  return {
    pieces: [html],
    startsWithMe,
    hasChannelWildcard: false,
    hasTopicWildcard: false,
    hasLink: false,
    hasImage: false,
    attachmentPaths: NO_PATHS,
  };
}

function parseFully(text: string, context: ParseContext): ParsedContent {
  return { ...renderTokens(tokenize(text, context)), startsWithMe: isMe(text) };
}

function contextFor(options: ParseOptions): ParseContext {
  return {
    linkifiers: new LinkifierFinder(options.linkifiers),
    translateEmoticons: options.translateEmoticons,
    realmUrl: withoutSlash(options.realmUrl ?? null),
    usesShortcuts: true,
    blockDepth: 0,
    blocksLeft: BLOCKS_PER_MESSAGE_MAX,
    inlineTokensLeft: INLINE_TOKENS_PER_MESSAGE_MAX,
  };
}

function withoutSlash(url: string | null): string | null {
  return url?.endsWith("/") === true ? url.slice(0, -1) : url;
}

/** Lone surrogates and NUL cannot be shown or stored as text; line ends are normalized. */
function cleanText(content: string): string {
  return content.replace(LINE_END, "\n").replaceAll(NUL, "\ufffd").replace(LONE_SURROGATE, "\ufffd");
}

function isMe(text: string): boolean {
  return text.startsWith("/me ");
}
