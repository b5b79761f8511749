/**
 * Custom profile fields of an organization, and users' values for them (public API: /realm/profile_fields,
 * /users/me/profile_data).
 */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { UserId } from "./ids.ts";
import type { ParsedContent } from "./parsed-content.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { flag, Id, Ids, nullable } from "./types.ts";

const limits = {
  profile_field_name_code_points_max: 40,
  profile_field_hint_code_points_max: 80,
  profile_field_data_code_points_max: 16 * 1024,
  profile_short_text_code_points_max: 50,
  profile_long_text_code_points_max: 500,
  profile_fields_max: 100,
  profile_summary_fields_max: 2,
  profile_people_max: 200,
  profile_values_per_command_max: 500,
} as const;

/** Field types, with the names and labels that /register lists. */
export const profileFieldTypes = {
  SHORT_TEXT: { id: 1, name: "Text (short)" },
  LONG_TEXT: { id: 2, name: "Text (long)" },
  SELECT: { id: 3, name: "List of options" },
  DATE: { id: 4, name: "Date" },
  URL: { id: 5, name: "Link" },
  USER: { id: 6, name: "Users" },
  EXTERNAL_ACCOUNT: { id: 7, name: "External account" },
  PRONOUNS: { id: 8, name: "Pronouns" },
} as const;

/**
 * Sites that a field of type EXTERNAL_ACCOUNT can refer to by `subtype`; others are `custom` and have their own
 * pattern.
 */
export const externalAccounts = {
  twitter: {
    text: "Twitter",
    name: "Twitter username",
    hint: "",
    url_pattern: "https://twitter.com/%(username)s",
  },
  github: {
    text: "GitHub",
    name: "GitHub username",
    hint: "",
    url_pattern: "https://github.com/%(username)s",
  },
} as const;

export const ProfileField = Type.Object(
  {
    id: OtherId,
    type: Type.Integer(),
    order: Type.Integer(),
    name: OtherText,
    hint: OtherText,
    field_data: OtherText,
    required: Type.Boolean(),
    editable_by_user: Type.Boolean(),
    display_in_profile_summary: Type.Optional(Type.Boolean()),
  },
  { title: "ProfileField" },
);

/**
 * Choices of a list, or the site of an account; its required content depends on the type (domain/profile-fields.ts).
 */
const FieldData = Type.Object({});

export const getProfileFields = defineEndpoint({
  operationId: "get-custom-profile-fields",
  method: "GET",
  path: "/realm/profile_fields",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the organization's custom profile fields in their order.",
  params: {},
  ok: { custom_fields: Type.Array(ProfileField) },
  errors: [],
});

export const createProfileField = defineEndpoint({
  operationId: "create-custom-profile-field",
  method: "POST",
  path: "/realm/profile_fields",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a custom profile field; organization administrators only.",
  params: {
    name: Type.String({ default: "" }),
    hint: Type.String({ default: "" }),
    field_type: Type.Integer(),
    field_data: Type.Optional(FieldData),
    display_in_profile_summary: flag(false),
    required: flag(false),
    editable_by_user: flag(true),
  },
  ok: { id: OtherId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const reorderProfileFields = defineEndpoint({
  operationId: "reorder-custom-profile-fields",
  method: "PATCH",
  path: "/realm/profile_fields",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Reorders the custom profile fields; each one must be named.",
  params: { order: Ids },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const updateProfileField = defineEndpoint({
  operationId: "update-custom-profile-field",
  method: "PATCH",
  path: "/realm/profile_fields/{field_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes a custom profile field. Values that are no longer a choice of a list are removed.",
  params: {
    field_id: Id,
    name: Type.Optional(Type.String()),
    hint: Type.Optional(Type.String()),
    field_data: Type.Optional(FieldData),
    display_in_profile_summary: Type.Optional(Type.Boolean()),
    required: Type.Optional(Type.Boolean()),
    editable_by_user: Type.Optional(Type.Boolean()),
  },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deleteProfileField = defineEndpoint({
  operationId: "delete-custom-profile-field",
  method: "DELETE",
  path: "/realm/profile_fields/{field_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes a custom profile field and all users' values for it.",
  params: { field_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** A change of a value in a user's profile; null, "" and [] remove the value (behaviour 2.8). */
export const ProfileDataElement = Type.Object({
  id: Id,
  value: nullable(Type.Union([Type.String(), Type.Array(Id, { maxItems: limits.profile_people_max })])),
});

export const updateProfileData = defineEndpoint({
  operationId: "update-own-profile-data",
  method: "PATCH",
  path: "/users/me/profile_data",
  authentication: "user",
  effectiveness: "durable",
  role: "human",
  summary: "Sets the caller's values for custom profile fields, atomically.",
  params: { data: Type.Array(ProfileDataElement, { maxItems: limits.profile_fields_max }) },
  ok: {},
  errors: [],
});

export const removeProfileData = defineEndpoint({
  operationId: "remove-own-profile-data",
  method: "DELETE",
  path: "/users/me/profile_data",
  authentication: "user",
  effectiveness: "durable",
  role: "human",
  summary: "Removes the caller's values for the given custom profile fields.",
  params: { data: Type.Array(Id, { maxItems: limits.profile_fields_max }) },
  ok: {},
  errors: [],
});

/** A custom profile field of the organization (public API: /realm/profile_fields). */
export interface ProfileFieldRecord {
  readonly id: number;
  /** See `profileFieldTypes`. */
  readonly type: number;
  readonly name: string;
  readonly hint: string;
  /** Position in the list. */
  readonly order: number;
  /** Choices of a list field, or the pattern of an external account: JSON text as sent by the client; "": none. */
  readonly fieldData: string;
  readonly displayInSummary: boolean;
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
  readonly isUsedForMatching: boolean;
}

export interface ProfileValueRecord {
  readonly userId: UserId;
  readonly fieldId: number;
  readonly value: string;
  /** HTML for text fields with Markdown; null for other types. */
  readonly renderedValue: string | null;
}

export interface ProfileFieldInput extends FieldInput {
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
}

/** null: not passed, keeps its value. */
export interface ProfileFieldUpdate {
  readonly fieldId: number;
  readonly name: string | null;
  readonly hint: string | null;
  readonly fieldData: FieldData | null;
  readonly displayInSummary: boolean | null;
  readonly isRequired: boolean | null;
  readonly isEditableByUser: boolean | null;
}

/** A value in a user's profile; null, "" and [] remove it. */
export interface ProfileValueChange {
  readonly id: number;
  readonly value: string | readonly number[] | null;
  /** Parsed Markdown, for field types that render it. */
  readonly parsed: ParsedContent | null;
}

/** The data of a choice or account field, as clients send it. */
export type FieldData = Readonly<Record<string, unknown>>;

export interface FieldInput {
  readonly type: number;
  /** Trimmed. */
  readonly name: string;
  readonly hint: string;
  readonly fieldData: FieldData;
  readonly displayInSummary: boolean;
}

/** Parameters of its commands, by type. */
export interface ProfileFieldsCommands {
  "profile-field.reorder": { readonly order: readonly number[] };
  "profile-field.delete": { readonly fieldId: number };
  "profile-values.sweep": { readonly fieldId: number; readonly afterUserId: UserId };
  "profile-field.create": ProfileFieldInput;
  "profile-field.update": ProfileFieldUpdate;
  "profile-data.set": { readonly data: readonly ProfileValueChange[] };
}

/** Their replies, by type; other commands reply without fields. */
export interface ProfileFieldsReplies {
  readonly "profile-field.create": ResultOf<typeof createProfileField>;
}

export const profileFieldsArea = defineArea({
  endpoints: [
    getProfileFields,
    createProfileField,
    reorderProfileFields,
    updateProfileField,
    deleteProfileField,
    updateProfileData,
    removeProfileData,
  ],
  commands: defineCommands<ProfileFieldsCommands, ProfileFieldsReplies>(),
  state: {
    custom_profile_fields: {
      custom_profile_fields: Type.Array(ProfileField),
      custom_profile_field_types: Type.Record(Type.String(), Type.Object({ id: OtherId, name: OtherText })),
    },
  },
  tables: {
    profileFields: defineTable<number, ProfileFieldRecord>({
      fields: [
        "id",
        "type",
        "name",
        "hint",
        "order",
        "fieldData",
        "displayInSummary",
        "isRequired",
        "isEditableByUser",
        "isUsedForMatching",
      ],
    }),
    profileValues: defineTable<readonly [userId: UserId, fieldId: number], ProfileValueRecord>({
      fields: ["userId", "fieldId", "value", "renderedValue"],
    }),
  },
  counters: ["profileField"],
  limits,
});
