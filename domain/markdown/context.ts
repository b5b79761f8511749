// State shared by the rules of one parse. It is stored in markdown-it's `env`, the only thing that reaches every rule.
import type { Env } from "markdown-it";
import type { LinkifierFinder } from "./linkifiers.ts";

export interface ParseContext {
  readonly linkifiers: LinkifierFinder;
  readonly translateEmoticons: boolean;
  /** The realm's own address without a trailing slash, or null. */
  readonly realmUrl: string | null;
  /** Whether plain paragraphs and list items skip their rules; disabled only to prove that this changes nothing. */
  readonly usesShortcuts: boolean;
  /** Number of open quotes, lists and spoilers while blocks are parsed. */
  blockDepth: number;
  /** Remaining part of {@link BLOCKS_PER_MESSAGE_MAX}. */
  blocksLeft: number;
  /** Remaining part of {@link INLINE_TOKENS_PER_MESSAGE_MAX} for the following paragraphs. */
  inlineTokensLeft: number;
}

const KEY = "dialect";

export function envOf(context: ParseContext): Env {
  return { [KEY]: context };
}

export function contextOf(env: Env): ParseContext {
  return env[KEY] as ParseContext;
}
