/** Values of custom profile fields of a person, as user objects show them (spec 2.6). */
import type { UserRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";

export interface ProfileDatumBody {
  readonly value: string;
  /** HTML, for fields whose text is Markdown. */
  readonly rendered_value?: string;
}

/**
 * By the field's id as text; only fields with a value (behaviour 2.15). Values of a field that was removed a moment ago are
 * on their way out and are not shown.
 */
export function profileData(view: View, user: UserRecord): Record<string, ProfileDatumBody> {
  const data: Record<string, ProfileDatumBody> = {};
  for (const [fieldId, { value, renderedValue }] of view.profiles.valuesOf(user.id)) {
    if (view.profiles.field(fieldId) === undefined) continue;
    data[String(fieldId)] = renderedValue === null ? { value } : { value, rendered_value: renderedValue };
  }
  return data;
}
