/** Rules for custom profile fields and their values, with the error texts of the public API. */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { parseJson } from "../schemas/json.ts";
import { limits } from "../schemas/limits.ts";
import {
  externalAccounts,
  type FieldData,
  type FieldInput,
  type ProfileFieldRecord,
  profileFieldTypes,
} from "../schemas/profile-fields.ts";
import type { UserRecord } from "../schemas/users.ts";
import { ownProperty } from "./own-property.ts";
import { canAccessUser } from "./people.ts";
import { checkCharacters, checkLine, checkLines, codePoints } from "./text.ts";
import { isWebAddress } from "./urls.ts";
import type { View } from "./view.ts";

const { SHORT_TEXT, LONG_TEXT, SELECT, DATE, URL, USER, EXTERNAL_ACCOUNT, PRONOUNS } = profileFieldTypes;

/** A field for a known site: its name and hint are fixed by the site. */
export function defaultAccountOf(type: number, fieldData: FieldData) {
  const { subtype } = fieldData;
  return type === EXTERNAL_ACCOUNT.id && typeof subtype === "string"
    ? ownProperty(externalAccounts, subtype)
    : undefined;
}

/** Checks a field by itself, without the other fields. */
export function checkField(input: FieldInput): Refusal | null {
  const refused = checkFieldData(input.type, input.fieldData);
  if (refused !== null) return refused;
  if (defaultAccountOf(input.type, input.fieldData) === undefined) {
    if (input.name === "") return refuse.badRequest("Label cannot be blank.");
    const tooLong =
      checkLength("hint", input.hint, limits.profile_field_hint_code_points_max) ??
      checkLength("name", input.name, limits.profile_field_name_code_points_max);
    const refusedText = tooLong ?? checkCharacters("name", input.name) ?? checkLine("hint", input.hint);
    if (refusedText !== null) return refusedText;
  }
  if (!Object.values(profileFieldTypes).some(({ id }) => id === input.type)) {
    return refuse.badRequest("Invalid field type.");
  }
  const isLarge = input.type === LONG_TEXT.id || input.type === USER.id;
  return input.displayInSummary && isLarge
    ? refuse.badRequest("Field type not supported for display in profile summary.")
    : null;
}

function checkLength(what: string, text: string, codePointsMax: number): Refusal | null {
  const isTooLong = codePoints(text) > codePointsMax;
  return isTooLong ? refuse.badRequest(`${what} is too long (limit: ${codePointsMax} characters)`) : null;
}

function checkFieldData(type: number, fieldData: FieldData): Refusal | null {
  const refused =
    type === SELECT.id ? checkChoices(fieldData) : type === EXTERNAL_ACCOUNT.id ? checkAccount(fieldData) : null;
  return (
    refused ?? checkLength("field_data", storedFieldData(type, fieldData), limits.profile_field_data_code_points_max)
  );
}

/** The stored text of a field's data; "" for types without data. */
export function storedFieldData(type: number, fieldData: FieldData): string {
  if (type !== SELECT.id && type !== EXTERNAL_ACCOUNT.id) return "";
  const isKnownSite = defaultAccountOf(type, fieldData) !== undefined;
  return JSON.stringify(isKnownSite ? { subtype: fieldData["subtype"] } : fieldData);
}

/** A dictionary of choices, each with a text and an order, both strings. */
function checkChoices(choices: FieldData): Refusal | null {
  const entries = Object.entries(choices);
  if (entries.length === 0) return refuse.badRequest("Field must have at least one choice.");
  const texts = new Set<unknown>();
  for (const [key, choice] of entries) {
    if (key.trim() === "") return refuse.badRequest("'value' cannot be blank.");
    if (!isDict(choice)) return refuse.badRequest("field_data is not a dict");
    const refused = checkKeys(choice, ["text", "order"], []);
    if (refused !== null) return refused;
    const badText = checkLine("field_data", String(choice["text"]));
    if (badText !== null) return badText;
    texts.add(choice["text"]);
  }
  return texts.size < entries.length ? refuse.badRequest("Field must not have duplicate choices.") : null;
}

const username = "%(username)s";

function checkAccount(account: FieldData): Refusal | null {
  const refused = checkKeys(account, ["subtype"], ["url_pattern"]);
  if (refused !== null) return refused;
  const { subtype, url_pattern: pattern } = account;
  if (typeof pattern === "string") {
    if (pattern.split(username).length !== 2) return refuse.badRequest(`URL pattern must contain '${username}'.`);
    if (!isWebAddress(pattern.replace(username, "username"))) {
      return refuse.badRequest('field_data["url_pattern"] is not a URL');
    }
  }
  if (ownProperty(externalAccounts, String(subtype)) !== undefined) return null;
  if (subtype !== "custom") return refuse.badRequest("Invalid external account type");
  return pattern === undefined ? refuse.badRequest("Custom external account must define URL pattern") : null;
}

/** Required keys exist and are not blank, optional ones are strings, and there are no others. */
function checkKeys(dict: FieldData, required: readonly string[], optional: readonly string[]): Refusal | null {
  for (const key of [...required, ...optional]) {
    const value = Object.hasOwn(dict, key) ? dict[key] : undefined;
    const isRequired = required.includes(key);
    if (value === undefined) {
      if (isRequired) return refuse.badRequest(`${key} key is missing from field_data`);
    } else if (typeof value !== "string") return refuse.badRequest(`field_data["${key}"] is not a string`);
    else if (isRequired && value.trim() === "") return refuse.badRequest(`field_data["${key}"] cannot be blank.`);
  }
  const others = Object.keys(dict).filter((key) => !required.includes(key) && !optional.includes(key));
  return others.length > 0 ? refuse.badRequest(`Unexpected arguments: ${others.join(", ")}`) : null;
}

function isDict(value: unknown): value is FieldData {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldDataOf(field: ProfileFieldRecord): FieldData {
  const data = field.fieldData === "" ? {} : parseJson(field.fieldData);
  return isDict(data) ? data : {};
}

/** Whether its values are rendered as Markdown. */
export function isRendered(field: ProfileFieldRecord): boolean {
  return field.type === SHORT_TEXT.id || field.type === LONG_TEXT.id;
}

/** Whether a stored value is still valid, because choices can be removed. */
export function isStillValid(field: ProfileFieldRecord, value: string): boolean {
  return field.type !== SELECT.id || Object.hasOwn(fieldDataOf(field), value);
}

export type ProfileValue = string | readonly number[];

/**
 * A value as it is stored, or why it is rejected.
 * @param caller the user who enters it, who can only name users that they may know
 */
export function readValue(
  view: View,
  field: ProfileFieldRecord,
  value: ProfileValue,
  caller: UserRecord | null,
): { readonly text: string } | Refusal {
  if (field.type === USER.id) return readPeople(view, value, caller);
  if (typeof value !== "string") return refuse.badRequest(`${field.name} is not a string`);
  return valueChecks[field.type]?.(field, value) ?? { text: value };
}

type ValueCheck = (field: ProfileFieldRecord, value: string) => Refusal | null;

const checkShort: ValueCheck = (field, value) =>
  checkLength(field.name, value, limits.profile_short_text_code_points_max) ?? checkLine(field.name, value);

const valueChecks: Readonly<Record<number, ValueCheck>> = {
  [SHORT_TEXT.id]: checkShort,
  [LONG_TEXT.id]: (field, value) =>
    checkLength(field.name, value, limits.profile_long_text_code_points_max) ?? checkLines(field.name, value),
  [SELECT.id]: (field, value) =>
    isStillValid(field, value) ? null : refuse.badRequest(`'${value}' is not a valid choice for '${field.name}'.`),
  [DATE.id]: (field, value) => (isDate(value) ? null : refuse.badRequest(`${field.name} is not a date`)),
  [URL.id]: (field, value) => (isWebAddress(value) ? null : refuse.badRequest(`${field.name} is not a URL`)),
  [EXTERNAL_ACCOUNT.id]: checkShort,
  [PRONOUNS.id]: checkShort,
};

/** A calendar date such as 2001-02-28; the first year is 0001. */
function isDate(text: string): boolean {
  const time =
    /^\d{4}-\d{2}-\d{2}$/.test(text) && !text.startsWith("0000") ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Active users without duplicates; a list, or its JSON text (spec 4.8: values are strings). */
function readPeople(view: View, value: ProfileValue, caller: UserRecord | null): { readonly text: string } | Refusal {
  const given: unknown = typeof value === "string" ? parseJson(value) : value;
  if (!Array.isArray(given)) return refuse.badRequest("User IDs is not a list");
  if (given.length > limits.profile_people_max) {
    return refuse.badRequest(`User IDs is too long (limit: ${limits.profile_people_max} items)`);
  }
  for (const [index, id] of given.entries()) {
    if (!Number.isSafeInteger(id)) return refuse.badRequest(`User IDs[${index}] is not an integer`);
    const refused = checkPerson(view, Number(id), caller);
    if (refused !== null) return refused;
  }
  return { text: JSON.stringify([...new Set(given)]) };
}

function checkPerson(view: View, id: number, caller: UserRecord | null): Refusal | null {
  const person = view.users.get(id);
  if (person === undefined || (caller !== null && !canAccessUser(view, caller, person))) {
    return refuse.badRequest(`Invalid user ID: ${id}`);
  }
  if (!person.isActive) return refuse.badRequest(`User with ID ${id} is deactivated`);
  return person.botType === null ? null : refuse.badRequest(`User with ID ${id} is a bot`);
}
