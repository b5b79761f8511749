/**
 * Custom profile fields of an organization and people's values for them (public API: /realm/profile_fields,
 * /users/me/profile_data).
 */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id, Ids, nullable } from "./types.ts";

/** Types of fields, by the name and in the words in which /register lists them. */
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

/** Sites that a field of type EXTERNAL_ACCOUNT can name by `subtype`; any other is `custom`, with a pattern of its own. */
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

const ProfileField = Type.Object({
  id: Id,
  type: Type.Integer(),
  order: Type.Integer(),
  name: Type.String(),
  hint: Type.String(),
  field_data: Type.String(),
  required: Type.Boolean(),
  editable_by_user: Type.Boolean(),
  display_in_profile_summary: Type.Optional(Type.Boolean()),
});

/** Choices of a list, or the site of an account; what it must hold depends on the type (domain/profile-fields.ts). */
const FieldData = Type.Object({});

export const getProfileFields = defineEndpoint({
  operationId: "get-custom-profile-fields",
  method: "GET",
  path: "/realm/profile_fields",
  authentication: "user",
  effectiveness: "read",
  summary: "The organization's custom profile fields, in their order.",
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
  ok: { id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const reorderProfileFields = defineEndpoint({
  operationId: "reorder-custom-profile-fields",
  method: "PATCH",
  path: "/realm/profile_fields",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Puts the custom profile fields into another order; every one must be named.",
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
  summary: "Changes a custom profile field. Values that are no choice of a list any more are removed.",
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
  summary: "Removes a custom profile field with everybody's values.",
  params: { field_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** One change of a person's profile; null, "" and [] remove the value (behaviour 2.8). */
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
  summary: "Sets values of the caller's custom profile fields: all of them or none.",
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
  summary: "Removes the caller's values of the given custom profile fields.",
  params: { data: Type.Array(Id, { maxItems: limits.profile_fields_max }) },
  ok: {},
  errors: [],
});
