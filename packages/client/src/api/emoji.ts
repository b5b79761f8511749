/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { EmojiById } from "./types.ts";
export interface EmojiOperations {
  /** Adds a custom emoji: one file in a multipart body, decoded and re-encoded. */
  "POST /realm/emoji/{emoji_name}": {
    readonly params: { readonly emoji_name: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns all custom emoji by id, deactivated ones included. */
  "GET /realm/emoji": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly emoji: EmojiById };
  };
  /** Deactivates a custom emoji; only its author and administrators. Existing messages and reactions keep it. */
  "DELETE /realm/emoji/{emoji_name}": {
    readonly params: { readonly emoji_name: string };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface EmojiState {
  readonly realm_emoji?: EmojiById;
}
