/** The operations on a person's own lists (schemas/personal-list.ts): get, add, edit and remove, the same for all. */
import { type CommandType, command, type Params } from "../../../actors/protocol/decision.ts";
import { type EntryValues, entriesOf, entryBody } from "../../../domain/personal-lists.ts";
import { checkCharacters, checkLines, codePoints } from "../../../domain/text.ts";
import type { View } from "../../../domain/view.ts";
import { personalLists } from "../../../schemas/areas.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { PersonalList, TextRules } from "../../../schemas/personal-list.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Sections } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { type Binding, bind, type Call, requireCaller } from "../calls.ts";

/** As the only field of an answer. */
function readList(view: View, list: PersonalList, user: UserRecord) {
  return { [list.plural]: entriesOf(view, list, user.id).map((row) => entryBody(list, row)) };
}

export const personalListSections: Partial<Sections> = Object.fromEntries(
  personalLists.map((list) => [list.plural, (view: View, user: UserRecord) => readList(view, list, user)]),
);

export const personalListRoutes: readonly Binding[] = personalLists.flatMap((list) => {
  const { get, add, edit, remove } = list.endpoints;
  for (const { text } of Object.values(list.values)) if (text !== undefined) boundOf(text);
  return [
    bind(get, (call) => ok(readList(call.realm.view, list, requireCaller(call)))),
    bind(add, (call) => {
      const values = readValues(list, call.params, list.parameters);
      return isRefusal(values) ? values : ask(call, list, "add", values);
    }),
    ...(edit === null
      ? []
      : [
          bind(edit, (call) => {
            const names = list.parameters.filter((name) => name !== list.key);
            const values = readValues(list, call.params, names);
            return isRefusal(values) ? values : ask(call, list, "update", { ...idIn(call, list), ...values });
          }),
        ]),
    bind(remove, (call) => ask(call, list, "remove", idIn(call, list))),
  ];
});

function ask(call: Call, list: PersonalList, name: "add" | "update" | "remove", values: EntryValues) {
  const { id } = requireCaller(call);
  const type = `${list.commands}.${name}` as CommandType; // `definePersonalList` declares it, with these parameters
  const params = values as Params<CommandType>;
  return call.realm.dispatcher.ask(command({ actor: "user", id }, type, params, id), call.idempotencyKey);
}

function idIn({ params }: Call<EntryValues>, { idName, storedId }: PersonalList): EntryValues {
  return { [storedId]: trimmed(params[idName]) };
}

function trimmed(value: unknown): unknown {
  return typeof value === "string" ? value.trim() : value;
}

/** null: not passed. */
function readValues(list: PersonalList, params: EntryValues, names: readonly string[]): EntryValues | Refusal {
  const given = new Map(names.map((name) => [name, trimmed(params[name]) ?? null]));
  const textsOf = (order: readonly string[]): readonly GivenText[] =>
    order.flatMap((name) => {
      const [value, rules] = [given.get(name), list.values[name]?.text];
      return typeof value === "string" && rules !== undefined ? [{ name, value, rules }] : [];
    });
  const refused =
    firstRefusal(textsOf(names), checkLength) ?? firstRefusal(textsOf(Object.keys(list.values)), checkForm);
  return refused ?? Object.fromEntries([...given].map(([name, value]) => [list.values[name]?.storedAs ?? name, value]));
}

interface GivenText {
  readonly name: string;
  readonly value: string;
  readonly rules: TextRules;
}

function firstRefusal(texts: readonly GivenText[], check: (text: GivenText) => Refusal | null): Refusal | null {
  for (const text of texts) {
    const refused = check(text);
    if (refused !== null) return refused;
  }
  return null;
}

/** @throws Error at the start, if a declaration names a limit that does not exist */
function boundOf({ bound }: TextRules): number {
  const max = (limits as Readonly<Record<string, number>>)[bound];
  if (max === undefined) throw new Error(`there is no ${bound}`);
  return max;
}

function checkLength({ name, value, rules }: GivenText): Refusal | null {
  if (value === "") return refuse.badRequest(rules.blank);
  const max = boundOf(rules);
  const { bound } = rules;
  const [length, unit] = bound.endsWith("_bytes_max")
    ? [Buffer.byteLength(value), "bytes"]
    : [codePoints(value), "characters"];
  return length > max ? refuse.badRequest(`${name} is too long (limit: ${max} ${unit})`) : null;
}

const checkForms = { name: checkCharacters, lines: checkLines, any: () => null };

function checkForm({ name, value, rules }: GivenText): Refusal | null {
  return checkForms[rules.form](name, value);
}
