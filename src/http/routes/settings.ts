/** Personal settings and the organization's defaults for them (spec 4.1, 4.2; behaviour 2.1, 2.2). */
import { command, type SettingsChange } from "../../../actors/commands.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  updateDisplaySettings,
  updateNotificationSettings,
  updateSettings,
  updateUserSettingsDefaults,
} from "../../../schemas/settings.ts";
import { userSettings } from "../../../schemas/user-settings.ts";
import { mayChangeName } from "../../domain/own-account.ts";
import type { SettingValues } from "../../domain/settings.ts";
import { checkFullName, codePoints } from "../../domain/text.ts";
import { canonicalTimezone } from "../../domain/timezones.ts";
import { bind, type Call, callerOf, type Handled } from "../../runtime/calls.ts";
import type { Realm } from "../../runtime/realm.ts";
import { startEmailChange } from "../email-change.ts";
import type { Passwords } from "../passwords.ts";
import { personName, type RateLimits } from "../rate-limits.ts";

type SettingsCall = Call<ParamsOf<typeof updateSettings>>;

export interface SettingsRouteTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  /** Where the link in the mail to a new address leads. */
  readonly siteOf: (realm: Realm) => string;
}

export function settingsRoutes(tools: SettingsRouteTools) {
  const update = (call: SettingsCall) => updateOwn(call, tools);
  return [
    bind(updateSettings, update),
    bind(updateDisplaySettings, update),
    bind(updateNotificationSettings, update),

    bind(updateUserSettingsDefaults, (call) => {
      const settings = chosenSettings(call.params);
      const asked = command({ actor: "realm" }, "realm.change-settings-defaults", { settings }, callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
    }),
  ];
}

/**
 * Everything is looked at, in the order of behaviour 2.1, before anything begins; then one command changes all of it. Only the
 * mail to a new address is not part of it, so it is the last thing before.
 */
async function updateOwn(call: SettingsCall, tools: SettingsRouteTools): Promise<Handled> {
  const { params } = call;
  const settings = canonicalSettings(chosenSettings(params));
  if (isRefusal(settings)) return settings;
  const password = params.new_password === undefined ? null : await passwordChange(call, params.new_password, tools);
  if (password !== null && isRefusal(password)) return password;
  const isNamed = params.full_name !== undefined && mayChangeName(call.realm.view, callerOf(call));
  const fullName = isNamed ? (params.full_name?.trim() ?? null) : null;
  const badName = fullName === null ? null : checkFullName(fullName, limits.full_name_code_points_max);
  if (password?.formerHash !== null && badName !== null) return badName;
  if (password?.formerHash !== null && params.email !== undefined) {
    const handled = await startEmailChange(call, params.email, tools.siteOf(call.realm));
    if (handled.kind === "refused") return handled;
  }
  const caller = callerOf(call);
  const change = { settings, fullName, password };
  const asked = command({ actor: "user", id: caller.id }, "user.change-settings", change, caller.id);
  return call.realm.dispatcher.ask(asked, call.claim);
}

/** The parameters that are rows of the table of settings. */
function chosenSettings(params: Readonly<Record<string, unknown>>): SettingValues {
  return Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(userSettings, name)));
}

function canonicalSettings(settings: SettingValues): SettingValues | Refusal {
  const { timezone } = settings;
  // Empty: not set.
  if (typeof timezone !== "string" || timezone === "") return settings;
  const canonical = canonicalTimezone(timezone);
  return canonical === null
    ? refuse.badRequest("timezone is not a recognized time zone")
    : { ...settings, timezone: canonical };
}

/**
 * Verifies the former password and hashes the new one. A wrong one is refused in the turn, so that the repetition of a request
 * that has succeeded under its Idempotency-Key is answered as the first time (D25).
 */
async function passwordChange(
  call: SettingsCall,
  wanted: string,
  { passwords, rates }: SettingsRouteTools,
): Promise<SettingsChange["password"] | Refusal> {
  const { realm, params } = call;
  const caller = callerOf(call);
  const who = personName(realm.epoch, caller.id);
  // Taken before the slow comparison, or many attempts at a time would all pass.
  const state = rates.take("login", who);
  if (state !== null && state.retryAfterS > 0) return tooManyAttempts(state.retryAfterS);
  const formerHash = realm.view.row("credentials", caller.id)?.passwordHash ?? null;
  const matches = await passwords.verify(formerHash, params.old_password ?? "");
  if (matches !== false) rates.giveBack("login", who);
  if (matches === null) return refuse.overloaded();
  if (!matches || formerHash === null) return { formerHash: null, hash: "" };
  if (codePoints(wanted) < limits.password_code_points_min) return refuse.badRequest("New password is too weak!");
  const hash = await passwords.hash(wanted);
  return hash === null ? refuse.overloaded() : { formerHash, hash };
}

function tooManyAttempts(retryAfterS: number): Refusal {
  return refuse.badRequest(`You're making too many attempts! Try again in ${Math.ceil(retryAfterS)} seconds.`);
}

function isRefusal(value: object): value is Refusal {
  return "kind" in value && value.kind === "refused";
}
