/**
 * One's own settings (spec 4.1; behaviour 2.1). Everything that a request changes is one decision: all of it or nothing, where
 * the public server keeps what came before an error. What is so already is not written and tells nobody anything.
 */
import { refuse } from "../../schemas/errors.ts";
import { languages } from "../../schemas/languages.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { SettingKind } from "../../schemas/setting-rows.ts";
import { type UserSettingName, userSettings } from "../../schemas/user-settings.ts";
import { mayChangeName, refuseSharedName } from "../../src/domain/own-account.ts";
import { apiEmail } from "../../src/domain/people.ts";
import { changedSettings, type SettingChange, settingOf, storedSettings } from "../../src/domain/settings.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command, type SettingsChange } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { addressEvents } from "../people-events.ts";
import { removeAllDrafts } from "./drafts.ts";
import { moveDueTime } from "./missed-messages.ts";

/** PATCH /settings. The former password was verified against `formerHash`: another request may have changed it meanwhile. */
export function changeSettings(_context: unknown, asked: Command<"user.change-settings">, view: View): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { password, settings } = asked.params;
  const credential = view.row("credentials", user.id);
  if (password !== null && (credential === undefined || credential.passwordHash !== password.formerHash)) {
    return refuse.badRequest("Wrong password!");
  }
  const fullName = mayChangeName(view, user) ? asked.params.fullName : null;
  const shared = fullName === null ? null : refuseSharedName(view, fullName, user.id);
  if (shared !== null) return shared;
  const changed =
    password === null || credential === undefined
      ? []
      : [effects.put("credentials", user.id, { ...credential, passwordHash: password.hash })];
  return done({}, [
    ...changed,
    ...personalChanges(view, user, { settings, fullName }),
    ...awayEvent(user, asked.params),
  ]);
}

/** Others know the inverse of the setting as `away` (spec 4.12, user_status): they are told, or state and events would differ. */
function awayEvent(user: UserRecord, { settings }: Pick<SettingsChange, "settings">): Effect[] {
  const wanted = settings["presence_enabled"];
  if (wanted === undefined || wanted === settingOf(user, "presence_enabled")) return [];
  return [effects.emit("user_status", { user_id: user.id, away: wanted !== true }, { to: "realm" })];
}

/** What follows from new values of somebody's settings and name; nothing where they are so already. */
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
      ...(consequences[change[0]]?.({ view, before, after }) ?? []),
    ]),
  ];
}

function withSettings(user: UserRecord, changes: readonly SettingChange[]): UserRecord {
  const timezone = changes.find(([name]) => name === "timezone")?.[1] ?? user.timezone;
  const others = changes.filter(([name]) => name !== "timezone");
  return { ...user, timezone: String(timezone), settings: storedSettings(user.settings, others) };
}

/** How clients that know no `user_settings` events learn of a change. */
const olderEvents: Readonly<Record<SettingKind, { readonly type: string; readonly nameField: string } | null>> = {
  display: { type: "update_display_settings", nameField: "setting_name" },
  notification: { type: "update_global_notifications", nameField: "notification_name" },
  other: null,
};

function settingEvents(view: View, user: UserRecord, [name, value]: SettingChange): Effect[] {
  const self = { to: "users", ids: [user.id] } as const;
  const language = name === "default_language" ? { language_name: languages[String(value)] } : {};
  const event = effects.emit("user_settings", { op: "update", property: name, value, ...language }, self);
  const older = olderEvents[userSettings[name].kind];
  if (older === null || !hasOlderClient(view, user)) return [event];
  const body = { user: apiEmail(user), [older.nameField]: name, setting: value, ...language };
  return [event, effects.emit(older.type, body, self)];
}

/** Whether any of the person's queues takes the older events: else they need not be written. */
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

/** What a change brings about beyond its events (spec 2.3; behaviour 2.1). */
const consequences: { readonly [N in UserSettingName]?: (changed: Changed) => Effect[] } = {
  timezone: ({ after }) => [effects.emit("realm_user", { op: "update_timezone", user_id: after.id }, { to: "realm" })],
  email_address_visibility: ({ before, after }) => addressEvents(before, after),
  presence_enabled: ({ after }) => {
    const params = { isShared: settingOf(after, "presence_enabled") === true };
    return [effects.tell(command({ actor: "presence", userId: after.id }, "presence.share", params, null))];
  },
  email_notifications_batching_period_seconds: ({ view, after }) => moveDueTime(view, after),
  // Drafts on the server go; clients keep their own copies and are told nothing.
  enable_drafts_synchronization: ({ view, after }) =>
    settingOf(after, "enable_drafts_synchronization") === true ? [] : removeAllDrafts(view, after.id),
};
