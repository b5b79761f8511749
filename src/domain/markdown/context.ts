// What the rules of one parse share. It hangs on markdown-it's `env`, which is the only thing that reaches every rule.
import type { Env } from "markdown-it";
import type { LinkifierFinder } from "./linkifiers.ts";

export interface ParseContext {
  readonly linkifiers: LinkifierFinder;
  readonly translateEmoticons: boolean;
  /** The realm's own address without a slash at the end, or null. */
  readonly realmUrl: string | null;
  /** Plain paragraphs and list items skip their rules; off only to prove that this changes nothing. */
  readonly usesShortcuts: boolean;
  /** How many quotes, lists and spoilers are open while blocks are parsed. */
  blockDepth: number;
  /** What is left of {@link BLOCKS_PER_MESSAGE_MAX}. */
  blocksLeft: number;
  /** What is left of {@link INLINE_TOKENS_PER_MESSAGE_MAX} for the paragraphs that come. */
  inlineTokensLeft: number;
}

const KEY = "dialect";

export function envOf(context: ParseContext): Env {
  return { [KEY]: context };
}

export function contextOf(env: Env): ParseContext {
  return env[KEY] as ParseContext;
}
