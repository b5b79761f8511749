/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { EmojiById, Linkifier, Playground } from "./types.ts";
export interface RealmEvents {
  realm_emoji: {
    readonly type: "realm_emoji";
    readonly id: number;
    readonly op: "update";
    readonly realm_emoji: EmojiById;
  };
  realm_linkifiers: {
    readonly type: "realm_linkifiers";
    readonly id: number;
    readonly realm_linkifiers: readonly Linkifier[];
  };
  realm_playgrounds: {
    readonly type: "realm_playgrounds";
    readonly id: number;
    readonly realm_playgrounds: readonly Playground[];
  };
}
