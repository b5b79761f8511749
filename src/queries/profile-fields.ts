/** GET /realm/profile_fields, and the section of POST /register with the fields and field types. */

import { profileFieldBodies } from "../../domain/profiles.ts";
import { profileFieldTypes } from "../../schemas/profile-fields.ts";
import type { Section } from "./state-section.ts";

export const profileFieldsState: Section<"custom_profile_fields"> = (view) => ({
  custom_profile_fields: profileFieldBodies(view),
  custom_profile_field_types: profileFieldTypes,
});
