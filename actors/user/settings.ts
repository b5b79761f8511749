/**
 * A user's own settings (spec 4.1; behaviour 2.1). A request is atomic, whereas the public server keeps the changes
 * made before an error. Unchanged values are neither written nor announced.
 */

import { mayChangeName, refuseSharedName } from "../../domain/own-account.ts";
import { apiEmail } from "../../domain/people.ts";
import { changedSettings, type SettingChange, settingOf, storedSettings } from "../../domain/settings.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import { languages } from "../../schemas/languages.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { SettingKind } from "../../schemas/setting-rows.ts";
import type { SettingsChange } from "../../schemas/settings.ts";
import { type UserSettingName, userSettings } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { revokeLinks } from "../rules/email-changes.ts";
import { revokeResets } from "../rules/password-resets.ts";
import { endSessionsOf } from "../rules/sessions.ts";
import { endSetup } from "../rules/setup.ts";
import { addressEvents } from "../rules/user-events.ts";
import { removeAllDrafts } from "./drafts.ts";
import { moveDueTime } from "./missed-messages.ts";

/**
 * PATCH /settings. The old password was verified against `formerHash`; if another request has changed it since, the
 * request is rejected.
 */
export function changeSettings(user: UserRecord, params: Params<"user.change-settings">, view: View): Outcome {
  const { password, settings } = params;
  const credential = view.row("credentials", user.id);
  if (password !== null && (credential === undefined || credential.passwordHash !== password.formerHash)) {
    return refuse.badRequest("Wrong password!");
  }
  const fullName = mayChangeName(view, user) ? params.fullName : null;
  const shared = fullName === null ? null : refuseSharedName(view, fullName, user.id);
  if (shared !== null) return shared;
  const changed =
    password === null || credential === undefined
      ? []
      : [
          effects.put("credentials", user.id, { ...credential, passwordHash: password.hash }),
          ...endSessionsOf(view, user.id, password.session ?? null),
          ...revokeResets(view, user.id),
          ...revokeLinks(view, user.id),
          ...endSetup(view, user.id),
        ];
  return done({}, [...changed, ...personalChanges(view, user, { settings, fullName }), ...awayEvent(user, params)]);
}

/**
 * Other users see the inverse of the setting as `away` (spec 4.12, user_status); without this event, state and events
 * would differ.
 */
function awayEvent(user: UserRecord, { settings }: Pick<SettingsChange, "settings">): Effect[] {
  const wanted = settings["presence_enabled"];
  if (wanted === undefined || wanted === settingOf(user, "presence_enabled")) return [];
  return [effects.emit("user_status", { user_id: user.id, away: wanted !== true }, { to: "realm" })];
}

/** Effects of new settings and a new name; none if nothing changes. */
export function personalChanges(
  view: View,
  before: UserRecord,
  { settings, fullName }: Pick<SettingsChange, "settings" | "fullName">,
): Effect[] {
  const isRenamed = fullName !== null && fullName !== before.fullName;
  const changes = changedSettings(settings, (name) => settingOf(before, name));
  if (!isRenamed && changes.length === 0) return [];
  const after = withSettings(isRenamed ? { ...before, fullName } : before, changes);
  const person = { user_id: after.id, full_name: after.fullName };
  return [
    effects.put("users", after.id, after),
    ...(isRenamed ? [effects.emit("realm_user", { op: "update", person }, { to: "realm" })] : []),
    ...changes.flatMap((change) => [
      ...settingEvents(view, after, change),
      ...(followUpEffects[change[0]]?.({ view, before, after }) ?? []),
    ]),
  ];
}

function withSettings(user: UserRecord, changes: readonly SettingChange[]): UserRecord {
  const timezone = changes.find(([name]) => name === "timezone")?.[1] ?? user.timezone;
  const others = changes.filter(([name]) => name !== "timezone");
  return { ...user, timezone: String(timezone), settings: storedSettings(user.settings, others) };
}

/** Event types for clients without support for `user_settings` events. */
const olderEvents: Readonly<Record<SettingKind, ((name: string, body: OlderBody, to: Audience) => Effect) | null>> = {
  display: (name, body, to) => effects.emit("update_display_settings", { ...body, setting_name: name }, to),
  notification: (name, body, to) =>
    effects.emit("update_global_notifications", { ...body, notification_name: name }, to),
  other: null,
};

/** The fields that both of them have. */
type OlderBody = Omit<StoredBody<"update_display_settings">, "setting_name">;

function settingEvents(view: View, user: UserRecord, [name, value]: SettingChange): Effect[] {
  const self = { to: "users", ids: [user.id] } as const;
  const language = name === "default_language" ? { language_name: languages[String(value)] ?? "" } : {};
  const event = effects.emit("user_settings", { op: "update", property: name, value, ...language }, self);
  const older = olderEvents[userSettings[name].kind];
  if (older === null || !hasOlderClient(view, user)) return [event];
  return [event, older(name, { user: apiEmail(user), setting: value, ...language }, self)];
}

/** Whether any of the user's queues receives the older events; otherwise they need not be written. */
function hasOlderClient(view: View, user: UserRecord): boolean {
  return [...view.queuesOf(user.id)].some((id) => {
    const capabilities = view.queue(id)?.options["capabilities"];
    return Array.isArray(capabilities) && !capabilities.includes("user_settings_object");
  });
}

interface Changed {
  readonly view: View;
  readonly before: UserRecord;
  readonly after: UserRecord;
}

/** Further effects of a change besides its events (spec 2.3; behaviour 2.1). */
const followUpEffects: { readonly [N in UserSettingName]?: (changed: Changed) => Effect[] } = {
  timezone: ({ after }) => [effects.emit("realm_user", { op: "update_timezone", user_id: after.id }, { to: "realm" })],
  email_address_visibility: ({ before, after }) => addressEvents(before, after),
  presence_enabled: ({ after }) => {
    const params = { isShared: settingOf(after, "presence_enabled") === true };
    return [effects.send(command({ actor: "presence", userId: after.id }, "presence.share", params, null))];
  },
  email_notifications_batching_period_seconds: ({ view, after }) => moveDueTime(view, after),
  // Deletes the drafts on the server. Clients keep their own copies and receive no event.
  enable_drafts_synchronization: ({ view, after }) =>
    settingOf(after, "enable_drafts_synchronization") === true ? [] : removeAllDrafts(view, after.id),
};

export const settingsDecisions = {
  "user.change-settings": forUser(changeSettings),
} as const;
