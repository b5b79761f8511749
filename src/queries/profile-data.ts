/** Values of a user's custom profile fields, for user objects (spec 2.6). */

import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";

export interface ProfileDatumBody {
  readonly value: string;
  /** HTML, for fields with Markdown. */
  readonly rendered_value?: string;
}

/**
 * By field id as text; only fields with a value (behaviour 2.15). Values of a deleted field are hidden until their rows
 * are removed.
 */
export function profileData(view: View, user: UserRecord): Record<string, ProfileDatumBody> {
  const data: Record<string, ProfileDatumBody> = {};
  for (const [fieldId, { value, renderedValue }] of view.profiles.valuesOf(user.id)) {
    if (view.profiles.field(fieldId) === undefined) continue;
    data[String(fieldId)] = renderedValue === null ? { value } : { value, rendered_value: renderedValue };
  }
  return data;
}
