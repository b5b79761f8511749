/** Custom profile fields as clients see them (OpenAPI, CustomProfileField). Values are in queries/profile-data.ts. */
import type { ProfileFieldRecord } from "../schemas/profile-fields.ts";
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
    // Sent only if true (public API).
    ...(field.displayInSummary ? { display_in_profile_summary: true } : {}),
  };
}

/** All fields, in order. */
export function profileFieldBodies(view: View) {
  return view.profiles.fields.map(profileFieldBody);
}
