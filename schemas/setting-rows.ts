/** What a row of a settings table is made of: a kind of value, who has its effect, what it means (schemas/user-settings.ts). */
import { type TSchema, Type } from "typebox";

/** A type of value: how it is checked on the wire, and the value until somebody sets it. */
export interface SettingValue<V> {
  readonly schema: TSchema;
  readonly default: V;
}

/** Which of the two older event types clients without `user_settings_object` learn of a change by (behaviour 2.1). */
export type SettingKind = "display" | "notification" | "other";

export interface UserSetting<V = boolean | number | string> {
  readonly default: V;
  readonly kind: SettingKind;
  /** Where the setting has its effect: in this server, or in clients, which it is only kept and evented for (D31). */
  readonly effect: "server" | "client";
  /** What `PATCH /settings` takes. */
  readonly schema: TSchema;
  /** What `PATCH /realm/user_settings_defaults` takes; null: the organization has no say. */
  readonly defaultsSchema: TSchema | null;
  readonly meaning: string;
}

export function flag(value: boolean): SettingValue<boolean> {
  return { schema: Type.Boolean(), default: value };
}

/** @param invalid the message where the public API has one of its own; `{value}` stands for what was sent */
export function oneOf<const V extends number | string>(
  values: readonly V[],
  fallback: NoInfer<V>,
  invalid?: string,
): SettingValue<V> {
  const options = { enum: [...values], ...(invalid === undefined ? {} : { invalid }) };
  const isText = values.every((value) => typeof value === "string");
  return { schema: isText ? Type.String(options) : Type.Integer(options), default: fallback };
}

/** A whole number between bounds, both included. */
export function between(minimum: number, maximum: number, fallback: number, invalid?: string): SettingValue<number> {
  const options = { minimum, maximum, ...(invalid === undefined ? {} : { invalid }) };
  return { schema: Type.Integer(options), default: fallback };
}

export function text(fallback: string): SettingValue<string> {
  return { schema: Type.String(), default: fallback };
}

/** @returns the builder of the rows of a kind */
export function rowsOf(kind: SettingKind) {
  return <V>(value: SettingValue<V>, effect: UserSetting["effect"], meaning: string): UserSetting<V> => ({
    default: value.default,
    kind,
    effect,
    schema: value.schema,
    defaultsSchema: value.schema,
    meaning,
  });
}

/** A setting that the organization has no default for (column D of spec 2.3 is empty). */
export function personal<V>(setting: UserSetting<V>): UserSetting<V> {
  return { ...setting, defaultsSchema: null };
}
