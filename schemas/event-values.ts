/** Values that events of several areas contain. */
import { Type } from "typebox";
import { marked, OtherText, UserIds } from "./person-marks.ts";

/** The value of a setting; which type it has, its name says. */
export const SettingValue = Type.Unsafe<unknown>(
  marked(Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]), "none"),
);

/** The value of a permission: a group's id, or the members of an anonymous group (spec 2.2). */
export const GroupValue = Type.Union([
  marked(Type.Integer(), "none"),
  Type.Object({ direct_members: UserIds, direct_subgroups: Type.Array(marked(Type.Integer(), "none")) }),
]);

export const TopicLinks = Type.Array(Type.Object({ text: OtherText, url: OtherText }));

/** Spec 2.7: the namespaces of emoji codes. The third is also accepted under the public API's name (D22). */
export const reactionTypes = {
  unicode: "unicode_emoji",
  realm: "realm_emoji",
  extra: "service_extra_emoji",
} as const;
export type ReactionType = (typeof reactionTypes)[keyof typeof reactionTypes];
export const publicExtraType = "zulip_extra_emoji";

/** The fields that name an emoji (spec 2.7). */
export const emojiFields = {
  emoji_name: OtherText,
  emoji_code: OtherText,
  reaction_type: Type.Enum([...Object.values(reactionTypes), publicExtraType]),
};
