// The names by which clients of this API know emoji. Names are part of the wire protocol: emoji-names.json is written by
// emoji-names.mjs, not by hand. It has each emoji's names under its code, the canonical one first.
import namesByCode from "./emoji-names.json" with { type: "json" };

/** Every emoji that has such names, as [code, names]. Split on call: keep the result. */
export function clientEmojiNames(): [code: string, names: string[]][] {
  return Object.entries(namesByCode).map(([code, names]) => [code, names.split(" ")]);
}
