/** Custom profile fields (public API). Markdown is parsed here; the realm actor checks values against their fields. */
import { command } from "../../../actors/protocol/decision.ts";
import { parseContent } from "../../../domain/markdown/render.ts";
import { profileFieldBodies } from "../../../domain/profiles.ts";
import { codePoints } from "../../../domain/text.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  createProfileField,
  deleteProfileField,
  type FieldData,
  getProfileFields,
  type ProfileValueChange,
  profileFieldTypes,
  removeProfileData,
  reorderProfileFields,
  updateProfileData,
  updateProfileField,
} from "../../../schemas/profile-fields.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

export const profileFieldsState: Section<"custom_profile_fields"> = (view) => ({
  custom_profile_fields: profileFieldBodies(view),
  custom_profile_field_types: profileFieldTypes,
});

const realmActor = { actor: "realm" } as const;

interface ProfileDataElement {
  readonly id: number;
  readonly value: string | readonly number[] | null;
}

/**
 * Reads profile values from a request and parses the Markdown of texts, which needs no state and is done before the
 * turn.
 */
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
    const input = {
      type: params.field_type,
      name: params.name.trim(),
      hint: params.hint,
      fieldData: (params.field_data ?? {}) as FieldData, // Any object: the realm actor checks its fields.
      displayInSummary: params.display_in_profile_summary,
      isRequired: params.required,
      isEditableByUser: params.editable_by_user,
    };
    return realm.dispatcher.ask(
      command(realmActor, "profile-field.create", input, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(updateProfileField, (call) => {
    const { params, realm } = call;
    const update = {
      fieldId: params.field_id,
      name: params.name?.trim() ?? null,
      hint: params.hint ?? null,
      fieldData: (params.field_data ?? null) as FieldData | null,
      displayInSummary: params.display_in_profile_summary ?? null,
      isRequired: params.required ?? null,
      isEditableByUser: params.editable_by_user ?? null,
    };
    return realm.dispatcher.ask(
      command(realmActor, "profile-field.update", update, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(reorderProfileFields, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "profile-field.reorder", { order: call.params.order }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(deleteProfileField, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "profile-field.delete", { fieldId: call.params.field_id }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(updateProfileData, (call) => {
    const data = readProfileData(call.params.data);
    return call.realm.dispatcher.ask(
      command(realmActor, "profile-data.set", { data }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removeProfileData, (call) => {
    const data = call.params.data.map((id) => ({ id, value: null, parsed: null }));
    return call.realm.dispatcher.ask(
      command(realmActor, "profile-data.set", { data }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
