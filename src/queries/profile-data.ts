/** Values of custom profile fields of a person, as user objects show them (spec 2.6). */
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";

export interface ProfileDatumBody {
  readonly value: string;
  /** HTML, for fields whose text is Markdown. */
  readonly rendered_value?: string;
}

/** By the field's id as text; only fields with a value (behaviour 2.15). */
export function profileData(view: View, user: UserRecord): Record<string, ProfileDatumBody> {
  const range = { start: [user.id], end: [user.id + 1], limit: limits.profile_values_per_user_max };
  const data: Record<string, ProfileDatumBody> = {};
  for (const { row } of view.rows("profileValues", range)) {
    const rendered = row.renderedValue === null ? {} : { rendered_value: row.renderedValue };
    data[String(row.fieldId)] = { value: row.value, ...rendered };
  }
  return data;
}
