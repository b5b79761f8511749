/** Building blocks of the settings tables: types of values, and the fields of a row (schemas/user-settings.ts). */
import { type TSchema, Type } from "typebox";
import { marked, OtherText } from "./person-marks.ts";

/** No setting is the id of a user. */
const OtherNumber = marked(Type.Integer(), "none");

/** A type of value: its schema on the wire, and its default. */
export interface SettingValue<V> {
  readonly schema: TSchema;
  readonly default: V;
}

/** Words that a request can use for some values. */
export interface Words<V> {
  readonly words?: Readonly<Record<string, V>>;
}

/** The older event type that reports a change to clients without `user_settings_object` (behaviour 2.1). */
export type SettingKind = "display" | "notification" | "other";

export interface UserSetting<V = boolean | number | string> {
  readonly default: V;
  readonly kind: SettingKind;
  /** "server": this server acts on the setting. "client": it is only stored and sent to clients (D31). */
  readonly effect: "server" | "client";
  /** How clients see the value. */
  readonly shown: TSchema;
  /** Values accepted by `PATCH /settings`. */
  readonly schema: TSchema;
  /** Values accepted by `PATCH /realm/user_settings_defaults`; null: the organization has no default for it. */
  readonly defaultsSchema: TSchema | null;
  readonly meaning: string;
}

/** The schema of a parameter, with its meaning for the API documents. */
export function described(schema: TSchema, meaning: string): TSchema {
  return { ...schema, description: meaning };
}

export function flag(value: boolean): SettingValue<boolean> {
  return { schema: Type.Boolean(), default: value };
}

/** @param invalid error message, if the public API has a specific one; `{value}` is replaced by the value sent */
export function oneOf<const V extends number | string>(
  values: readonly V[],
  fallback: NoInfer<V>,
  invalid?: string,
): SettingValue<V> {
  const options = { enum: [...values], ...(invalid === undefined ? {} : { invalid }) };
  const isText = values.every((value) => typeof value === "string");
  return { schema: isText ? Type.String(options) : Type.Integer(options), default: fallback };
}

/** An integer between inclusive bounds. */
export function between(minimum: number, maximum: number, fallback: number, invalid?: string): SettingValue<number> {
  const options = { minimum, maximum, ...(invalid === undefined ? {} : { invalid }) };
  return { schema: Type.Integer(options), default: fallback };
}

export function text(fallback: string): SettingValue<string> {
  return { schema: Type.String(), default: fallback };
}

/** How clients see values of this type: without the words that a request can use for some of them. */
export function shownAs<V>({ schema, default: fallback, words = {} }: SettingValue<V> & Words<V>): TSchema {
  const { type, enum: values, anyOf } = schema as { type?: string; enum?: unknown; anyOf?: unknown };
  const isNumber = anyOf !== undefined || type === "integer";
  const shown =
    values !== undefined ? schema : type === "boolean" ? Type.Boolean() : isNumber ? OtherNumber : OtherText;
  return [fallback, ...Object.values(words)].some((value) => value === null) ? Type.Union([shown, Type.Null()]) : shown;
}

/** @returns a function that builds rows of this kind */
export function rowsOf(kind: SettingKind) {
  return <V>(value: SettingValue<V>, effect: UserSetting["effect"], meaning: string): UserSetting<V> => ({
    default: value.default,
    kind,
    effect,
    shown: shownAs(value),
    schema: value.schema,
    defaultsSchema: value.schema,
    meaning,
  });
}

/** A setting without an organization default (column D of spec 2.3 is empty). */
export function personal<V>(setting: UserSetting<V>): UserSetting<V> {
  return { ...setting, defaultsSchema: null };
}
