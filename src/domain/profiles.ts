/** Custom profile fields and values as clients see them (OpenAPI, CustomProfileField and profile_data; spec 2.6). */
import type { ProfileFieldRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

export function profileFieldBody(field: ProfileFieldRecord) {
  return {
    id: field.id,
    name: field.name,
    type: field.type,
    hint: field.hint,
    field_data: field.fieldData,
    order: field.order,
    required: field.isRequired,
    editable_by_user: field.isEditableByUser,
    // Sent only when it is true (public API).
    ...(field.displayInSummary ? { display_in_profile_summary: true } : {}),
  };
}

/** All fields, in their order. */
export function profileFieldBodies(view: View) {
  return view.profiles.fields.map(profileFieldBody);
}

export interface ProfileValueBody {
  readonly value: string;
  /** HTML; for fields of text with Markdown. */
  readonly rendered_value?: string;
}

export type ProfileData = Readonly<Record<string, ProfileValueBody>>;

/**
 * What a person has entered, by the ids of fields; only fields with a value (behaviour 2.15). Values of a field that was
 * removed a moment ago are on their way out and are not shown.
 */
export function profileData(view: View, userId: number): ProfileData {
  const data: Record<string, ProfileValueBody> = {};
  for (const [fieldId, { value, renderedValue }] of view.profiles.valuesOf(userId)) {
    if (view.profiles.field(fieldId) === undefined) continue;
    data[fieldId] = renderedValue === null ? { value } : { value, rendered_value: renderedValue };
  }
  return data;
}
