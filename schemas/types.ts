/** Wire types shared by several areas, named as in the public API (spec 2). */
import { type TOptional, type TSchema, Type } from "typebox";
import { commonLimits } from "./limits/common.ts";
import { marked, OtherText } from "./person-marks.ts";

/** A non-negative integer that a double represents exactly. */
export const Id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Ids = Type.Array(Id, { maxItems: commonLimits.subscribers_per_request_max });

/** UNIX seconds of a delivery; the turn decides whether it is in the future. */
export const DeliveryTime = Type.Integer({ maximum: commonLimits.delivery_timestamp_s_max });

/** Spec 2.2: the id of a user group, or members and subgroups named directly. */
export const GroupSettingValue = Type.Union([
  marked(Id, "none"),
  Type.Object(
    {
      direct_members: Type.Array(marked(Id, "id"), { maxItems: commonLimits.group_members_max }),
      direct_subgroups: Type.Array(marked(Id, "none"), { maxItems: commonLimits.group_members_max }),
    },
    { additionalProperties: false },
  ),
]);
export type GroupSettingValue = number | { direct_members: number[]; direct_subgroups: number[] };

/** Spec 2.2: a change of a group-setting value; with `old`, only if that is still the current value. */
export const GroupSettingChange = Type.Object({
  new: GroupSettingValue,
  old: Type.Optional(Type.Union([GroupSettingValue, Type.Null()])),
});
export interface GroupSettingChange {
  readonly new: GroupSettingValue;
  readonly old?: GroupSettingValue | null;
}

/** One optional parameter for each permission held by a group, all with the same schema. */
export function groupParams<Name extends string, T extends TSchema>(
  names: readonly Name[],
  schema: T,
): Readonly<Record<Name, TOptional<T>>> {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(schema)])) as Record<Name, TOptional<T>>;
}

/** Spec 2.4; raw text, or the same text as a JSON string (D9). */
export const topicsPolicies = ["inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only"] as const;
export type TopicsPolicy = (typeof topicsPolicies)[number];
export const TopicsPolicyParam = Type.Enum([...topicsPolicies], { wire: "json-or-text" });

/** Spec 2.4: a number of days, `realm_default` or `unlimited`; bare or as a JSON string (D9). */
export const MessageRetentionDays = Type.Union([Type.Integer(), Type.String({ maxLength: 40 })], {
  wire: "json-or-text",
});

/** Spec 2.6. */
export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type Role = (typeof roles)[keyof typeof roles];

/** With a default, a parameter is optional on the wire and always set for the handler. */
export function flag(value: boolean): ReturnType<typeof Type.Boolean> {
  return Type.Boolean({ default: value });
}

/** A list for something that this server does not have. */
export const NoItems = Type.Array(OtherText, { maxItems: 0 });

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A channel's id or name, or users' ids or addresses, single or as a list. */
export const Recipient = Type.Union(
  [
    Id,
    Type.String({ maxLength: commonLimits.direct_recipients_code_points_max }),
    Type.Array(Type.Union([Id, Type.String({ maxLength: commonLimits.email_code_points_max })]), {
      maxItems: commonLimits.direct_recipients_max,
    }),
  ],
  { wire: "json-or-text", invalid: "Invalid data type for recipients" },
);

/** An operand is limited in length like the longest one, a list of users in a direct conversation. */
const Operand = Type.String({ maxLength: commonLimits.direct_recipients_code_points_max });

/** One term of a narrow: an object, or the older pair form (behaviour of the public API). */
export const NarrowTerm = Type.Union([
  Type.Object({
    operator: Type.String({ maxLength: 40 }),
    operand: Type.Union([Operand, Type.Integer(), Ids]),
    negated: Type.Optional(Type.Boolean()),
  }),
  Type.Array(Operand, { minItems: 2, maxItems: 2 }),
]);
export const Narrow = Type.Array(NarrowTerm, { maxItems: commonLimits.narrow_terms_max });
