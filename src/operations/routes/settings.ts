/**
 * Personal settings and the organization's defaults for them (spec 4.1, 4.2; behaviour 2.1, 2.2).
 *
 * Asks for another email address (spec 4.1 rule 2; behaviour 2.1 step 3); the page behind its link confirms it.
 */
import { command, type NoFields } from "../../../actors/protocol/decision.ts";
import { mayChangeName, refuseEmailChange } from "../../../domain/own-account.ts";
import { type SettingValues, settingOf } from "../../../domain/settings.ts";
import { checkFullName, codePoints, isEmailAddress } from "../../../domain/text.ts";
import { canonicalTimezone } from "../../../domain/timezones.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { StateOf } from "../../../schemas/register.ts";
import type { SettingKind } from "../../../schemas/setting-rows.ts";
import {
  type SettingsChange,
  updateDisplaySettings,
  updateNotificationSettings,
  updateSettings,
  updateUserSettingsDefaults,
} from "../../../schemas/settings.ts";
import { emojisets, notificationSounds, userSettingRows, userSettings } from "../../../schemas/user-settings.ts";
import type { Section } from "../../queries/state-section.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok, type Reply, type Result } from "../../runtime/results.ts";
import { bind, bindProjected, type Call, requireCaller } from "../calls.ts";
import { hashApiKey } from "../identity/authentication.ts";
import type { Passwords } from "../identity/passwords.ts";
import { newSecret } from "../identity/secrets.ts";
import { emailChangeLink } from "../links.ts";
import { personName, type RateLimits } from "../rate-limits.ts";
import { originOf } from "../site.ts";

const emojisetChoices = Object.entries(emojisets).map(([key, text]) => ({ key, text }));
const choices = { emojiset_choices: emojisetChoices, available_notification_sounds: notificationSounds };

export const ownSettings: Section<"user_settings"> = (_view, user) => ({
  user_settings: shown<"user_settings">({
    ...Object.fromEntries(userSettingRows.map(([name]) => [name, settingOf(user, name)])),
    ...choices,
  }),
});

type OlderSection = "update_display_settings" | "update_global_notifications";

/** Older clients find their settings at the top level, each kind under its own event type. */
function flatSettings<S extends OlderSection>(kind: SettingKind, more: Readonly<Record<string, unknown>>): Section<S> {
  const rows = userSettingRows.filter(([, row]) => row.kind === kind);
  return (_view, user, request) => {
    const values = Object.fromEntries(rows.map(([name]) => [name, settingOf(user, name)]));
    // Like `shown`.
    return (request.takesSettingsObject ? {} : { ...values, ...more }) as StateOf<S>;
  };
}

export const displaySettings = flatSettings<"update_display_settings">("display", {
  emojiset_choices: emojisetChoices,
});
export const notificationSettings = flatSettings<"update_global_notifications">("notification", {
  available_notification_sounds: notificationSounds,
});

/** Defaults for new users; there is no default time zone. */
export const settingsDefaults: Section<"realm_user_settings_defaults"> = (view) => {
  const rows = userSettingRows.filter(([name]) => name !== "timezone");
  const values = rows.map(([name, row]) => [name, view.realm.userDefaults[name] ?? row.default]);
  return {
    realm_user_settings_defaults: shown<"realm_user_settings_defaults">({ ...Object.fromEntries(values), ...choices }),
  };
};

/** The fields are made from the same rows as their schemas, which the compiler cannot follow. */
function shown<S extends "user_settings" | "realm_user_settings_defaults">(values: Readonly<Record<string, unknown>>) {
  return values as StateOf<S>[S & keyof StateOf<S>];
}

/**
 * Sends the confirmation email; nothing changes before the user presses the button on the page behind the link. The current address succeeds without an
 * email. Not stored under the request's Idempotency-Key: a repeat a minute later replaces the link, within the email
 * rate limit.
 * @param site the organization's address, where the link leads
 */
async function startEmailChange(call: Call, email: string, site: string): Promise<Reply<NoFields>> {
  const caller = requireCaller(call);
  const newEmail = email.trim();
  if (newEmail === caller.email) return ok({});
  const refused = refuseEmailChange(call.realm.view, caller);
  if (refused !== null) return refused;
  if (!isEmailAddress(newEmail, limits.email_code_points_max)) return refuse.badRequest("Enter a valid email address.");
  if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
  const key = newSecret();
  const link = emailChangeLink(site, key);
  return call.realm.dispatcher.ask(
    command(
      { actor: "user", id: caller.id },
      "user.email-change.request",
      { newEmail, keyHash: hashApiKey(key), link },
      caller.id,
    ),
  );
}

type SettingsCall = Call<ParamsOf<typeof updateSettings>>;

export interface SettingsRouteTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  /** The site of links in email confirmations. */
  readonly siteOf: (realm: Realm) => string;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
}

export function settingsRoutes(tools: SettingsRouteTools) {
  const update = (call: SettingsCall) => updateOwn(call, tools);
  const withDelivery = ({ params }: SettingsCall, changed: Result<NoFields>) =>
    changed.kind === "ok" && params.email !== undefined ? ok({ server_sends_email: tools.sendsEmail }) : changed;
  return [
    bindProjected(updateSettings, update, withDelivery),
    bindProjected(updateDisplaySettings, update, withDelivery),
    bindProjected(updateNotificationSettings, update, withDelivery),

    bind(updateUserSettingsDefaults, (call) => {
      const settings = chosenSettings(call.params);
      return call.realm.dispatcher.ask(
        command({ actor: "realm" }, "realm.change-settings-defaults", { settings }, requireCaller(call).id),
        call.idempotencyKey,
      );
    }),
  ];
}

/**
 * All parameters are checked in the order of behaviour 2.1, then one command changes everything. Only the confirmation
 * email for a new address is separate, so it is requested last before the command.
 */
async function updateOwn(call: SettingsCall, tools: SettingsRouteTools): Promise<Reply<NoFields>> {
  const { params } = call;
  const settings = canonicalSettings(chosenSettings(params));
  if (isRefusal(settings)) return settings;
  const password = params.new_password === undefined ? null : await passwordChange(call, params.new_password, tools);
  if (password !== null && isRefusal(password)) return password;
  const isNamed = params.full_name !== undefined && mayChangeName(call.realm.view, requireCaller(call));
  const fullName = isNamed ? (params.full_name?.trim() ?? null) : null;
  const badName = fullName === null ? null : checkFullName(fullName, limits.full_name_code_points_max);
  if (password?.formerHash !== null && badName !== null) return badName;
  if (password?.formerHash !== null && params.email !== undefined) {
    const result = await startEmailChange(call, params.email, tools.siteOf(call.realm));
    if (result.kind === "refused") return result;
  }
  const caller = requireCaller(call);
  const change = { settings, fullName, password };
  return call.realm.dispatcher.ask(
    command({ actor: "user", id: caller.id }, "user.change-settings", change, caller.id),
    call.idempotencyKey,
  );
}

/** The parameters that are declared as user settings. */
function chosenSettings(params: Readonly<Record<string, unknown>>): SettingValues {
  return Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(userSettings, name)));
}

function canonicalSettings(settings: SettingValues): SettingValues | Refusal {
  const { timezone } = settings;
  // An empty time zone means not set.
  if (typeof timezone !== "string" || timezone === "") return settings;
  const canonical = canonicalTimezone(timezone);
  return canonical === null
    ? refuse.badRequest("timezone is not a recognized time zone")
    : { ...settings, timezone: canonical };
}

/**
 * Verifies the old password and hashes the new one. A wrong password is rejected in the turn, so that a repeat of a
 * successful request with the same Idempotency-Key gets the first answer (D25).
 */
async function passwordChange(
  call: SettingsCall,
  wanted: string,
  { passwords, rates }: SettingsRouteTools,
): Promise<SettingsChange["password"] | Refusal> {
  const { realm, params } = call;
  const caller = requireCaller(call);
  const who = personName(realm.epoch, caller.id);
  const address = call.address();
  // Counted before the slow comparison, or many concurrent attempts would all pass.
  const state = rates.take("login", who);
  if (state !== null && state.retryAfterS > 0) return tooManyAttempts(state.retryAfterS);
  const formerHash = realm.view.row("credentials", caller.id)?.passwordHash ?? null;
  const matches = await passwords.verify(formerHash, params.old_password ?? "");
  if (matches === false) rates.failed("password", address);
  else rates.giveBack("login", who);
  if (matches === null) return refuse.overloaded();
  if (!matches || formerHash === null) return { formerHash: null, hash: "" };
  if (codePoints(wanted) < limits.password_code_points_min) return refuse.badRequest("New password is too weak!");
  const hash = await passwords.hash(wanted);
  if (hash === null) return refuse.overloaded();
  return call.isSession && call.keyHash !== null ? { formerHash, hash, session: call.keyHash } : { formerHash, hash };
}

function tooManyAttempts(retryAfterS: number): Refusal {
  return refuse.badRequest(`You're making too many attempts! Try again in ${Math.ceil(retryAfterS)} seconds.`);
}
