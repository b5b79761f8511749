/** Custom profile fields (public API). Markdown is parsed here; what a value may be depends on its field, and is the realm's to say. */
import { command, type ProfileValueChange } from "../../../actors/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  createProfileField,
  deleteProfileField,
  getProfileFields,
  removeProfileData,
  reorderProfileFields,
  updateProfileData,
  updateProfileField,
} from "../../../schemas/profile-fields.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import type { FieldData } from "../../domain/profile-fields.ts";
import { profileFieldBodies } from "../../domain/profiles.ts";
import { codePoints } from "../../domain/text.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

const realmActor = { actor: "realm" } as const;

interface ProfileDataElement {
  readonly id: number;
  readonly value: string | readonly number[] | null;
}

/** What a request says of a profile, with the Markdown of texts parsed: work that needs no state (architecture). */
export function readProfileData(data: readonly ProfileDataElement[]): ProfileValueChange[] {
  return data.map(({ id, value }) => {
    const isText = typeof value === "string" && codePoints(value) <= limits.profile_long_text_code_points_max;
    return { id, value, parsed: isText ? parseContent(value, { linkifiers: [], translateEmoticons: false }) : null };
  });
}

export const profileFieldRoutes = [
  bind(getProfileFields, ({ realm }) => ok({ custom_fields: profileFieldBodies(realm.view) })),

  bind(createProfileField, (call) => {
    const { params, realm } = call;
    const draft = {
      type: params.field_type,
      name: params.name.trim(),
      hint: params.hint,
      fieldData: (params.field_data ?? {}) as FieldData, // An object of anything: the realm looks into it.
      displayInSummary: params.display_in_profile_summary,
      isRequired: params.required,
      isEditableByUser: params.editable_by_user,
    };
    const asked = command(realmActor, "profile-field.create", draft, callerOf(call).id);
    return realm.dispatcher.ask(asked, call.claim);
  }),

  bind(updateProfileField, (call) => {
    const { params, realm } = call;
    const update = {
      fieldId: params.field_id,
      name: params.name?.trim() ?? null,
      hint: params.hint ?? null,
      fieldData: (params.field_data ?? null) as FieldData | null, // As above.
      displayInSummary: params.display_in_profile_summary ?? null,
      isRequired: params.required ?? null,
      isEditableByUser: params.editable_by_user ?? null,
    };
    const asked = command(realmActor, "profile-field.update", update, callerOf(call).id);
    return realm.dispatcher.ask(asked, call.claim);
  }),

  bind(reorderProfileFields, (call) => {
    const asked = command(realmActor, "profile-field.reorder", { order: call.params.order }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(deleteProfileField, (call) => {
    const asked = command(realmActor, "profile-field.delete", { fieldId: call.params.field_id }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(updateProfileData, (call) => {
    const data = readProfileData(call.params.data);
    const asked = command(realmActor, "profile-data.set", { data }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(removeProfileData, (call) => {
    const data = call.params.data.map((id) => ({ id, value: null, parsed: null }));
    const asked = command(realmActor, "profile-data.set", { data }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),
];
