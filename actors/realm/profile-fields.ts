/**
 * Custom profile fields of an organization (public API: /realm/profile_fields). Values that a change leaves behind, of a
 * removed field or choice, go in slices through the mailbox, so that no turn is long however many people there are.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ProfileFieldRecord } from "../../schemas/records.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import {
  checkField,
  defaultAccountOf,
  fieldDataOf,
  isStillValid,
  storedFieldData,
} from "../../src/domain/profile-fields.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command, type ProfileFieldDraft, type ProfileFieldUpdate } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { valueEvent } from "./profile-values.ts";

function refuseCaller(asked: Command, view: View): Refusal | null {
  const caller = callerOf(asked, view);
  return caller === null || isAdministrator(caller) ? null : refuse.administratorRequired();
}

/** Everybody gets the whole list, as it is when it is told. */
const fieldsEvent = effects.emit("custom_profile_fields", {}, { to: "realm" });

/** POST /realm/profile_fields. A new field is the last one. */
export function createProfileField(_context: unknown, asked: Command<"profile-field.create">, view: View): Outcome {
  const { params } = asked;
  const account = defaultAccountOf(params.type, params.fieldData);
  const draft: ProfileFieldDraft =
    account === undefined ? params : { ...params, name: account.name, hint: account.hint };
  const refused = refuseCaller(asked, view) ?? refuseDraft(view, draft, null);
  if (refused !== null) return refused;
  if (view.profiles.fields.length >= limits.profile_fields_max) return refuse.badRequest("Too many profile fields");
  const id = view.counter("profileField") + 1;
  const field: ProfileFieldRecord = {
    id,
    type: draft.type,
    name: draft.name,
    hint: draft.hint,
    order: id,
    fieldData: storedFieldData(draft.type, draft.fieldData),
    displayInSummary: draft.displayInSummary,
    isRequired: draft.isRequired,
    isEditableByUser: draft.isEditableByUser,
    isUsedForMatching: false,
  };
  return done({ id }, [effects.count("profileField", id), effects.put("profileFields", id, field), fieldsEvent]);
}

/** What a field may be among the others. @param id of the field that changes; null: a new one */
function refuseDraft(view: View, draft: ProfileFieldDraft, id: number | null): Refusal | null {
  const others = view.profiles.fields.filter((field) => field.id !== id);
  const shown = others.filter((field) => field.displayInSummary).length;
  if (draft.displayInSummary && shown >= limits.profile_summary_fields_max) {
    return refuse.badRequest(
      `Only ${limits.profile_summary_fields_max} custom profile fields can be displayed in the profile summary.`,
    );
  }
  const refused = checkField(draft);
  if (refused !== null) return refused;
  const isTaken = others.some((field) => field.name === draft.name);
  return isTaken ? refuse.badRequest("A field with that label already exists.") : null;
}

/** PATCH /realm/profile_fields/{field_id}. */
export function updateProfileField(_context: unknown, asked: Command<"profile-field.update">, view: View): Outcome {
  const { params } = asked;
  const before = view.profiles.field(params.fieldId);
  const refusedCaller = refuseCaller(asked, view);
  if (refusedCaller !== null) return refusedCaller;
  if (before === undefined) return notFound(params.fieldId);
  const draft = draftOf(before, params);
  const refused = refuseDefaultAccount(before, draft) ?? refuseDraft(view, draft, before.id);
  if (refused !== null) return refused;
  const after: ProfileFieldRecord = {
    ...before,
    name: draft.name,
    hint: draft.hint,
    fieldData: storedFieldData(before.type, draft.fieldData),
    displayInSummary: draft.displayInSummary,
    isRequired: draft.isRequired,
    isEditableByUser: draft.isEditableByUser,
  };
  if (JSON.stringify(after) === JSON.stringify(before)) return done({}, []);
  const sweep = after.fieldData === before.fieldData ? [] : [sweepOf(before.id)];
  return done({}, [effects.put("profileFields", after.id, after), fieldsEvent, ...sweep]);
}

/** The field as it is to be. */
function draftOf(before: ProfileFieldRecord, params: ProfileFieldUpdate): ProfileFieldDraft {
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

/** A field of a site that we know has the site's name; clients may send what it has already. */
function refuseDefaultAccount(before: ProfileFieldRecord, draft: ProfileFieldDraft): Refusal | null {
  if (defaultAccountOf(before.type, fieldDataOf(before)) === undefined) return null;
  const isSame =
    draft.name === before.name &&
    draft.hint === before.hint &&
    storedFieldData(draft.type, draft.fieldData) === before.fieldData;
  return isSame ? null : refuse.badRequest("Default custom field cannot be updated.");
}

export function notFound(fieldId: number): Refusal {
  return refuse.badRequest(`Field id ${fieldId} not found.`);
}

/** PATCH /realm/profile_fields: ids that are no field's are passed over, none may be missing. */
export function reorderProfileFields(_context: unknown, asked: Command<"profile-field.reorder">, view: View): Outcome {
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  const places = new Map(asked.params.order.map((id, index) => [id, index]));
  const { fields } = view.profiles;
  if (!fields.every(({ id }) => places.has(id))) return refuse.badRequest("Invalid order mapping.");
  const moved = fields
    .map((field) => ({ ...field, order: places.get(field.id) ?? field.order }))
    .filter((field) => view.profiles.field(field.id)?.order !== field.order);
  if (moved.length === 0) return done({}, []);
  return done({}, [...moved.map((field) => effects.put("profileFields", field.id, field)), fieldsEvent]);
}

/** DELETE /realm/profile_fields/{field_id}. From now on its values are shown to nobody; their rows follow. */
export function deleteProfileField(_context: unknown, asked: Command<"profile-field.delete">, view: View): Outcome {
  const { fieldId } = asked.params;
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  if (view.profiles.field(fieldId) === undefined) return notFound(fieldId);
  return done({}, [effects.remove("profileFields", fieldId), fieldsEvent, sweepOf(fieldId)]);
}

function sweepOf(fieldId: number, afterUserId = 0): Effect {
  return effects.tell(command({ actor: "realm" }, "profile-values.sweep", { fieldId, afterUserId }, null));
}

/** One slice of the people who have a value for a field: it goes, if it is none any more. */
export function sweepProfileValues(_context: unknown, asked: Command<"profile-values.sweep">, view: View): Outcome {
  const { fieldId, afterUserId } = asked.params;
  const field = view.profiles.field(fieldId);
  const ahead = [...view.profiles.holders(fieldId)].filter((id) => id > afterUserId).sort((a, b) => a - b);
  const slice = ahead.slice(0, limits.profile_values_per_command_max);
  const all: Effect[] = slice.flatMap((userId) => {
    const value = view.profiles.valuesOf(userId).get(fieldId);
    if (value === undefined || (field !== undefined && isStillValid(field, value.value))) return [];
    const remove = effects.remove("profileValues", [userId, fieldId]);
    // Of a field that is gone, clients have dropped the values themselves.
    return field === undefined ? [remove] : [remove, valueEvent(userId, { id: fieldId, value: null })];
  });
  const last = slice.at(-1);
  if (last !== undefined && slice.length < ahead.length) all.push(sweepOf(fieldId, last));
  return done({}, all);
}
