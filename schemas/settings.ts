/**
 * Changing personal settings and the organization's defaults for them (spec 4.1, 4.2). What can be set, and to what, is in
 * user-settings.ts.
 */
import { type TOptional, type TSchema, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { type UserSettingName, userSettingRows } from "./user-settings.ts";

type SettingParams = { readonly [N in UserSettingName]: TOptional<TSchema> };

/** One optional parameter for each setting that has a schema here. */
function parametersOf(schemaOf: (row: (typeof userSettingRows)[number][1]) => TSchema | null): SettingParams {
  const params = userSettingRows.flatMap(([name, row]) => {
    const schema = schemaOf(row);
    return schema === null ? [] : [[name, Type.Optional(schema)]];
  });
  return Object.fromEntries(params);
}

const password = { maxLength: limits.password_bytes_max, secret: true };

const accountParams = {
  full_name: Type.Optional(Type.String()),
  email: Type.Optional(Type.String({ maxLength: limits.email_code_points_max })),
  old_password: Type.Optional(Type.String(password)),
  new_password: Type.Optional(Type.String(password)),
};

function settingsEndpoint<P extends string>(operationId: string, path: P, summary: string) {
  return defineEndpoint({
    operationId,
    method: "PATCH",
    path,
    authentication: "user",
    effectiveness: "durable",
    role: "human",
    summary,
    params: { ...accountParams, ...parametersOf((row) => row.schema) },
    ok: {},
    errors: [],
  });
}

export const updateSettings = settingsEndpoint("update-settings", "/settings", "Changes the caller's own settings.");

/** The same under two older paths (issue 3; public API, feature level 80). */
export const updateDisplaySettings = settingsEndpoint(
  "update-display-settings",
  "/settings/display",
  "Deprecated: another path of update-settings.",
);
export const updateNotificationSettings = settingsEndpoint(
  "update-notification-settings",
  "/settings/notifications",
  "Deprecated: another path of update-settings.",
);

export const updateUserSettingsDefaults = defineEndpoint({
  operationId: "update-realm-user-settings-defaults",
  method: "PATCH",
  path: "/realm/user_settings_defaults",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes the settings that new people start with; organization administrators only.",
  params: { ...parametersOf((row) => row.defaultsSchema) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
