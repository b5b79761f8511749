/** Default settings of new users (spec 4.2; behaviour 2.2). Existing users keep their settings. */

import { isAdministrator } from "../../domain/permissions.ts";
import { changedSettings, storedSettings } from "../../domain/settings.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { userSettings } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forEither, type Outcome, type Params } from "../protocol/decision.ts";

/** PATCH /realm/user_settings_defaults, for administrators only. Everybody receives the event. */
export function changeSettingsDefaults(
  caller: UserRecord | null,
  params: Params<"realm.change-settings-defaults">,
  view: View,
): Outcome {
  if (caller !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  const { userDefaults } = view.realm;
  const changes = changedSettings(params.settings, (name) => userDefaults[name] ?? userSettings[name].default);
  if (changes.length === 0) return done({}, []);
  return done({}, [
    effects.put("realm", "realm", { ...view.realm, userDefaults: storedSettings(userDefaults, changes) }),
    ...changes.map(([property, value]) =>
      effects.emit("realm_user_settings_defaults", { op: "update", property, value }, { to: "realm" }),
    ),
  ]);
}

export const settingsDefaultsDecisions = {
  "realm.change-settings-defaults": forEither(changeSettingsDefaults),
} as const;
