/**
 * Custom profile fields of an organization (public API: /realm/profile_fields). Values that become invalid when a field
 * or a choice is removed are deleted in slices through the mailbox, so that no turn is long regardless of the number of
 * users.
 */

import {
  checkField,
  defaultAccountOf,
  fieldDataOf,
  isStillValid,
  storedFieldData,
} from "../../domain/profile-fields.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ProfileFieldInput, ProfileFieldRecord, ProfileFieldUpdate } from "../../schemas/profile-fields.ts";

import {
  command,
  done,
  type Effect,
  effects,
  forAdministrator,
  forServer,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { valueEvent } from "./profile-values.ts";

/** Sent to everybody. It contains the whole list, read on delivery. */
const fieldsEvent = effects.emit("custom_profile_fields", {}, { to: "realm" });

/** POST /realm/profile_fields. A new field is appended to the order. */
export function createProfileField(params: Params<"profile-field.create">, view: View): Outcome {
  const account = defaultAccountOf(params.type, params.fieldData);
  const input: ProfileFieldInput =
    account === undefined ? params : { ...params, name: account.name, hint: account.hint };
  const refused = refuseInput(view, input, null);
  if (refused !== null) return refused;
  if (view.profiles.fields.length >= limits.profile_fields_max) return refuse.badRequest("Too many profile fields");
  const id = view.counter("profileField") + 1;
  const field: ProfileFieldRecord = {
    id,
    type: input.type,
    name: input.name,
    hint: input.hint,
    order: id,
    fieldData: storedFieldData(input.type, input.fieldData),
    displayInSummary: input.displayInSummary,
    isRequired: input.isRequired,
    isEditableByUser: input.isEditableByUser,
    isUsedForMatching: false,
  };
  return done({ id }, [effects.setCounter("profileField", id), effects.put("profileFields", id, field), fieldsEvent]);
}

/**
 * Checks a field against the other fields.
 * @param id id of the field that changes; null: a new one
 */
function refuseInput(view: View, input: ProfileFieldInput, id: number | null): Refusal | null {
  const others = view.profiles.fields.filter((field) => field.id !== id);
  const shown = others.filter((field) => field.displayInSummary).length;
  if (input.displayInSummary && shown >= limits.profile_summary_fields_max) {
    return refuse.badRequest(
      `Only ${limits.profile_summary_fields_max} custom profile fields can be displayed in the profile summary.`,
    );
  }
  const refused = checkField(input);
  if (refused !== null) return refused;
  const isTaken = others.some((field) => field.name === input.name);
  return isTaken ? refuse.badRequest("A field with that label already exists.") : null;
}

/** PATCH /realm/profile_fields/{field_id}. */
export function updateProfileField(params: Params<"profile-field.update">, view: View): Outcome {
  const before = view.profiles.field(params.fieldId);
  if (before === undefined) return notFound(params.fieldId);
  const input = inputOf(before, params);
  const refused = refuseDefaultAccount(before, input) ?? refuseInput(view, input, before.id);
  if (refused !== null) return refused;
  const after: ProfileFieldRecord = {
    ...before,
    name: input.name,
    hint: input.hint,
    fieldData: storedFieldData(before.type, input.fieldData),
    displayInSummary: input.displayInSummary,
    isRequired: input.isRequired,
    isEditableByUser: input.isEditableByUser,
  };
  if (JSON.stringify(after) === JSON.stringify(before)) return done({}, []);
  const sweep = after.fieldData === before.fieldData ? [] : [sweepOf(before.id)];
  return done({}, [effects.put("profileFields", after.id, after), fieldsEvent, ...sweep]);
}

/** The field after the change. */
function inputOf(before: ProfileFieldRecord, params: ProfileFieldUpdate): ProfileFieldInput {
  return {
    type: before.type,
    name: params.name ?? before.name,
    hint: params.hint ?? before.hint,
    fieldData: params.fieldData ?? fieldDataOf(before),
    displayInSummary: params.displayInSummary ?? before.displayInSummary,
    isRequired: params.isRequired ?? before.isRequired,
    isEditableByUser: params.isEditableByUser ?? before.isEditableByUser,
  };
}

/** A default external-account field keeps its site's name and data; clients may send the current values. */
function refuseDefaultAccount(before: ProfileFieldRecord, input: ProfileFieldInput): Refusal | null {
  if (defaultAccountOf(before.type, fieldDataOf(before)) === undefined) return null;
  const isSame =
    input.name === before.name &&
    input.hint === before.hint &&
    storedFieldData(input.type, input.fieldData) === before.fieldData;
  return isSame ? null : refuse.badRequest("Default custom field cannot be updated.");
}

export function notFound(fieldId: number): Refusal {
  return refuse.badRequest(`Field id ${fieldId} not found.`);
}

/** PATCH /realm/profile_fields: unknown ids are ignored, but every field must be listed. */
export function reorderProfileFields(params: Params<"profile-field.reorder">, view: View): Outcome {
  const places = new Map(params.order.map((id, index) => [id, index]));
  const { fields } = view.profiles;
  if (!fields.every(({ id }) => places.has(id))) return refuse.badRequest("Invalid order mapping.");
  const moved = fields
    .map((field) => ({ ...field, order: places.get(field.id) ?? field.order }))
    .filter((field) => view.profiles.field(field.id)?.order !== field.order);
  if (moved.length === 0) return done({}, []);
  return done({}, [...moved.map((field) => effects.put("profileFields", field.id, field)), fieldsEvent]);
}

/** DELETE /realm/profile_fields/{field_id}. Its values are hidden at once; their rows are deleted afterwards. */
export function deleteProfileField({ fieldId }: Params<"profile-field.delete">, view: View): Outcome {
  if (view.profiles.field(fieldId) === undefined) return notFound(fieldId);
  return done({}, [effects.remove("profileFields", fieldId), fieldsEvent, sweepOf(fieldId)]);
}

function sweepOf(fieldId: number, afterUserId = 0): Effect {
  return effects.send(command({ actor: "realm" }, "profile-values.sweep", { fieldId, afterUserId }, null));
}

/** One slice of the users with a value for a field: deletes values that are no longer valid. */
export function sweepProfileValues({ fieldId, afterUserId }: Params<"profile-values.sweep">, view: View): Outcome {
  const field = view.profiles.field(fieldId);
  const ahead = [...view.profiles.holders(fieldId)].filter((id) => id > afterUserId).sort((a, b) => a - b);
  const slice = ahead.slice(0, limits.profile_values_per_command_max);
  const all: Effect[] = slice.flatMap((userId) => {
    const value = view.profiles.valuesOf(userId).get(fieldId);
    if (value === undefined || (field !== undefined && isStillValid(field, value.value))) return [];
    const remove = effects.remove("profileValues", [userId, fieldId]);
    // For a deleted field, clients drop the values themselves.
    return field === undefined ? [remove] : [remove, valueEvent(userId, { id: fieldId, value: null })];
  });
  const last = slice.at(-1);
  if (last !== undefined && slice.length < ahead.length) all.push(sweepOf(fieldId, last));
  return done({}, all);
}

export const profileFieldsDecisions = {
  "profile-field.create": forAdministrator(createProfileField),
  "profile-field.update": forAdministrator(updateProfileField),
  "profile-field.reorder": forAdministrator(reorderProfileFields),
  "profile-field.delete": forAdministrator(deleteProfileField),
  "profile-values.sweep": forServer(sweepProfileValues),
} as const;
