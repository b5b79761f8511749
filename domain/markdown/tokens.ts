// The token types that the dialect adds to markdown-it, with their data. Rules create them and the renderer reads them,
// both through this file, because `meta` is untyped in markdown-it.

import type { StateBlock, StateInline, Token } from "markdown-it";
import type { MessageId } from "../../schemas/ids.ts";
import type { EmojiCode } from "../emoji/emoji-table.ts";

export type InlineMeta =
  | { readonly kind: "user"; readonly name: string | null; readonly id: number | null; readonly silent: boolean }
  | { readonly kind: "channelWildcard"; readonly name: string; readonly silent: boolean }
  | { readonly kind: "topicWildcard"; readonly silent: boolean }
  | { readonly kind: "group"; readonly name: string; readonly silent: boolean }
  | { readonly kind: "channel"; readonly channel: string }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string }
  | { readonly kind: "message"; readonly channel: string; readonly topic: string; readonly messageId: MessageId }
  | { readonly kind: "emojiName"; readonly name: string }
  | { readonly kind: "emojiCharacters"; readonly emoji: EmojiCode }
  | { readonly kind: "time"; readonly instant: string | null; readonly source: string }
  | { readonly kind: "math"; readonly source: string };

/** `label` is the link's text as typed; it becomes the title of an image preview. */
export interface LinkMeta {
  readonly href: string;
  readonly title: string | null;
  readonly label: string;
}

const DIALECT = "dialect";
export const MATH_BLOCK = "math_block";
export const SPOILER_BLOCK = "spoiler_block";
export const SPOILER_HEADER = "spoiler_header";
export const SPOILER_CONTENT = "spoiler_content";

/** Adds an inline element of the dialect; `typed` is its source text. */
export function pushElement(state: StateInline, meta: InlineMeta, typed: string): void {
  const token = state.push(DIALECT, "", 0);
  token.content = typed;
  token.meta = { element: meta };
}

export function elementOf(token: Token): InlineMeta | null {
  return token.type === DIALECT ? (token.meta?.["element"] as InlineMeta) : null;
}

export function pushLinkOpen(state: StateInline, meta: LinkMeta): void {
  state.push("link_open", "a", 1).meta = { link: meta };
}

export function linkOf(token: Token): LinkMeta {
  return token.meta?.["link"] as LinkMeta;
}

export function pushMathBlock(state: StateBlock, source: string): void {
  state.push(MATH_BLOCK, "", 0).content = source;
}
