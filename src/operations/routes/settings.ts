/** Personal settings and the organization's defaults for them (spec 4.1, 4.2; behaviour 2.1, 2.2). */
import { command, type NoFields } from "../../../actors/protocol/commands.ts";
import { mayChangeName } from "../../../domain/own-account.ts";
import type { SettingValues } from "../../../domain/settings.ts";
import { checkFullName, codePoints } from "../../../domain/text.ts";
import { canonicalTimezone } from "../../../domain/timezones.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  type SettingsChange,
  updateDisplaySettings,
  updateNotificationSettings,
  updateSettings,
  updateUserSettingsDefaults,
} from "../../../schemas/settings.ts";
import { userSettings } from "../../../schemas/user-settings.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok, type Reply, type Result } from "../../runtime/results.ts";
import { bind, bindProjected, type Call, requireCaller } from "../calls.ts";
import { startEmailChange } from "../identity/email-change.ts";
import type { Passwords } from "../identity/passwords.ts";
import { personName, type RateLimits } from "../rate-limits.ts";

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
      const asked = command({ actor: "realm" }, "realm.change-settings-defaults", { settings }, requireCaller(call).id);
      return call.realm.dispatcher.ask(asked, call.idempotencyKey);
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
  const asked = command({ actor: "user", id: caller.id }, "user.change-settings", change, caller.id);
  return call.realm.dispatcher.ask(asked, call.idempotencyKey);
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
