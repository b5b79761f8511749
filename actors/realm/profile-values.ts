/**
 * Values of custom profile fields (public API: /users/me/profile_data; spec 4.8, profile_data). Requests are atomic.
 */

import { resolveContent } from "../../domain/markdown/render.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import { isRendered, readValue } from "../../domain/profile-fields.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { ProfileFieldRecord, ProfileValueChange, ProfileValueRecord } from "../../schemas/profile-fields.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

/** PATCH and DELETE /users/me/profile_data; DELETE sets values to null. */
export function changeOwnProfile(user: UserRecord, params: Params<"profile-data.set">, view: View): Outcome {
  if (user.botType !== null) return refuse.botsNotAllowed();
  const changed = setProfileValues(view, user, params.data, user);
  return isRefusal(changed) ? changed : done({}, changed.effects);
}

/**
 * Sets values in a user's profile, with one event per change. If a field occurs twice in the request, the last value
 * wins.
 * @param caller administrators may change every field, others only those editable by users; null: the server
 */
export function setProfileValues(
  view: View,
  user: UserRecord,
  data: readonly ProfileValueChange[],
  caller: UserRecord | null,
): { readonly effects: readonly Effect[] } | Refusal {
  const changes = new Map<number, Effect[]>();
  for (const change of data) {
    const field = view.profiles.field(change.id);
    if (field === undefined) return refuse.badRequest(`Field id ${change.id} not found.`);
    const effectsOrRefusal = changeValue(view, user, { field, change, caller });
    if (isRefusal(effectsOrRefusal)) return effectsOrRefusal;
    changes.set(change.id, effectsOrRefusal);
  }
  return { effects: [...changes.values()].flat() };
}

interface ValueChange {
  readonly field: ProfileFieldRecord;
  readonly change: ProfileValueChange;
  readonly caller: UserRecord | null;
}

function changeValue(view: View, user: UserRecord, { field, change, caller }: ValueChange): Effect[] | Refusal {
  if (caller !== null && !isAdministrator(caller) && !field.isEditableByUser) {
    return refuse.badRequest("You are not allowed to change this field. Contact an administrator to update it.");
  }
  const before = view.profiles.valuesOf(user.id).get(field.id);
  const { value } = change;
  if (value === null || value.length === 0) {
    if (before === undefined) return [];
    return [effects.remove("profileValues", [user.id, field.id]), valueEvent(user.id, { id: field.id, value: null })];
  }
  const read = readValue(view, field, value, caller);
  if (isRefusal(read)) return read;
  if (read.text === before?.value) return [];
  const hasMarkdown = isRendered(field) && change.parsed !== null;
  const row: ProfileValueRecord = {
    userId: user.id,
    fieldId: field.id,
    value: read.text,
    renderedValue: hasMarkdown ? resolveContent(change.parsed, mentionResolver(view, caller ?? user)).html : null,
  };
  const rendered = row.renderedValue === null ? {} : { rendered_value: row.renderedValue };
  return [
    effects.put("profileValues", [user.id, field.id], row),
    valueEvent(user.id, { id: field.id, value: row.value, ...rendered }),
  ];
}

interface ValueBody {
  readonly id: number;
  readonly value: string | null;
  readonly rendered_value?: string;
}

export function valueEvent(userId: UserId, body: ValueBody): Effect {
  const person = { user_id: userId, custom_profile_field: body };
  return effects.emit("realm_user", { op: "update", person }, { to: "realm" });
}

export const profileValuesDecisions = {
  "profile-data.set": forUser(changeOwnProfile),
} as const;
