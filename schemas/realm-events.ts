/** Events about the organization. */
import { Type } from "typebox";
import { EmojiById } from "./emoji.ts";
import { defineEvent } from "./event.ts";
import { Linkifier } from "./linkifiers.ts";
import { Playground } from "./playgrounds.ts";

/** Lists that are read on delivery store nothing. */
export const realmEvents = {
  realm_emoji: defineEvent({
    stored: { update: {} },
    wire: { update: { realm_emoji: EmojiById } },
  }),
  realm_linkifiers: defineEvent({
    stored: { "": {} },
    wire: { "": { realm_linkifiers: Type.Array(Linkifier) } },
  }),
  realm_playgrounds: defineEvent({
    stored: { "": {} },
    wire: { "": { realm_playgrounds: Type.Array(Playground) } },
  }),
} as const;
