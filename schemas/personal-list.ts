/**
 * A small list that belongs to one person, such as saved snippets, in one declaration. The operations, commands, table,
 * events and the section of POST /register follow from it here; the decisions (actors/user/personal-lists.ts), the
 * routes, the client's reducer and the cases of the tests that cover every area are derived from `list`.
 *
 * An entry gets a number, or is named by one of its values (`key`). A change of a numbered entry announces the whole
 * entry, and only if it changes something; that of a named one announces the values that were passed, even none.
 */
import {
  type Static,
  type TArray,
  type TInteger,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from "typebox";
import { type Commands, defineArea, defineCommands, defineTable, type Table } from "./area.ts";
import { defineEndpoint, type Endpoint } from "./endpoint.ts";
import { type EventDeclaration, sentAsStored } from "./event.ts";
import type { UserId } from "./ids.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id, nullable } from "./types.ts";

/** How a text is checked. It is trimmed first. */
export interface TextRules {
  /** The name of its limit, which has the unit. */
  readonly bound: `${string}_code_points_max` | `${string}_bytes_max`;
  /** The error message if it is empty. */
  readonly blank: string;
  /** The characters that it may have: those of a name, of a text of several lines, or any. */
  readonly form: "name" | "lines" | "any";
}

/** A value of an entry. */
export interface ListValue<Sent extends TSchema = TSchema> {
  /** As a parameter. */
  readonly given: TSchema;
  /** In answers and events. The row has the same type. */
  readonly sent: Sent;
  /** An entry may be added without it; then it is null. */
  readonly isOptional?: true;
  /** Its name in commands and rows; absent: the same. */
  readonly storedAs?: string;
  readonly text?: TextRules;
  /** For the API documents and the tests: one value, and another that replaces it. */
  readonly examples: readonly [first: unknown, second: unknown];
}

interface TextDeclaration extends TextRules {
  readonly examples: readonly [first: string, second: string];
  readonly description?: string;
}

export function text({ examples, description, ...rules }: TextDeclaration): ListValue<typeof OtherText> {
  const given = Type.String(description === undefined ? {} : { description });
  return { given, sent: OtherText, text: rules, examples };
}

export function optional<S extends TSchema>(value: ListValue<S>) {
  return { ...value, sent: nullable(value.sent), isOptional: true } as const;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
}

interface ListDeclaration {
  /** One entry, in the fields of events and in words; an "s" makes it the list's name in paths and answers. */
  readonly entry: string;
  readonly description: string;
  readonly table: string;
  readonly commands: string;
  readonly event: string;
  /** Numbers the entries. */
  readonly counter?: string;
  /** The value that names an entry. */
  readonly key?: string;
  readonly operations: {
    readonly get: Operation;
    readonly add: Operation;
    readonly edit?: Operation;
    readonly remove: Operation;
  };
  /** By the name that clients know, in the order of an entry. */
  readonly values: Readonly<Record<string, ListValue>>;
  /** The order of the parameters and of their checks, if it is another. */
  readonly parameters?: readonly string[];
  /** `<entry>s_per_user_max` bounds the list. */
  readonly limits: Readonly<Record<string, number>>;
}

/** A list as the code that is derived from declarations sees it. */
export interface PersonalList extends ListDeclaration {
  /** The list's name in paths, answers and the state. */
  readonly plural: string;
  /** The field of answers, events and paths that identifies an entry. */
  readonly idName: string;
  /** The same in commands. */
  readonly storedId: string;
  /** "saved snippet". */
  readonly noun: string;
  readonly parameters: readonly string[];
  readonly countMaxName: string;
  readonly countMax: number;
  /** The name of the entry's type: "SavedSnippet". */
  readonly title: string;
  readonly Entry: TObject;
  readonly endpoints: {
    readonly get: Endpoint;
    readonly add: Endpoint;
    readonly edit: Endpoint | null;
    readonly remove: Endpoint;
  };
}

type Values<D extends ListDeclaration> = D["values"];
type Plural<D extends ListDeclaration> = `${D["entry"]}s`;
type Numbered = { readonly counter: string };
type Named<K extends string> = { readonly key: K };
type Edited = { readonly operations: { readonly edit: Operation } };

type StoredName<V, Name> = V extends { readonly storedAs: infer Stored extends string } ? Stored : Name;
type Stored<D extends ListDeclaration> = {
  readonly [N in keyof Values<D> as StoredName<Values<D>[N], N>]: Static<Values<D>[N]["sent"]>;
};
type IdName<D extends ListDeclaration> = D extends Named<infer K> ? K : `${D["entry"]}_id`;
type StoredId<D> = D extends Named<infer K> ? { readonly [N in K]: string } : { readonly id: number };
/** null: not passed, keeps its value. */
type Changes<D extends ListDeclaration> = {
  readonly [N in keyof Stored<D>]: N extends keyof StoredId<D> ? Stored<D>[N] : Stored<D>[N] | null;
};

type Flat<T> = { readonly [N in keyof T]: T[N] };
type RowOf<D extends ListDeclaration> = Flat<
  { userId: UserId } & (D extends Numbered ? { id: number; createdAt: number } : unknown) & Stored<D>
>;

type CommandParams<D extends ListDeclaration> = { readonly [N in `${D["commands"]}.add`]: Stored<D> } & {
  readonly [N in `${D["commands"]}.remove`]: StoredId<D>;
} & (D extends Edited ? { readonly [N in `${D["commands"]}.update`]: StoredId<D> & Changes<D> } : unknown);
type CommandReplies<D extends ListDeclaration> = D extends Numbered
  ? { readonly [N in `${D["commands"]}.add`]: { readonly [Field in IdName<D>]: number } }
  : Readonly<Record<never, never>>;

type Sent<D extends ListDeclaration> = { readonly [N in keyof Values<D>]: Values<D>[N]["sent"] };
type ObjectOf<P> = Flat<P> extends infer Fields extends TProperties ? TObject<Fields> : never;
type Entry<D extends ListDeclaration> = ObjectOf<
  (D extends Numbered ? { id: typeof OtherId; date_created: TInteger } : unknown) & Sent<D>
>;
type WithEntry<D extends ListDeclaration> = { readonly [N in D["entry"]]: Entry<D> };
type WithId<D extends ListDeclaration> = {
  readonly [N in IdName<D>]: D extends Numbered ? typeof OtherId : typeof OtherText;
};
type Passed<D extends ListDeclaration> = {
  readonly [N in Exclude<keyof Sent<D>, IdName<D>>]: TOptional<Sent<D>[N]>;
};
type Updated<D extends ListDeclaration> = D extends Numbered
  ? WithEntry<D>
  : WithId<D> & { readonly data: ObjectOf<Passed<D>> };
type EventVariants<D extends ListDeclaration> = {
  readonly add: WithEntry<D>;
  readonly remove: WithId<D>;
} & (D extends Edited ? { readonly update: Updated<D> } : unknown);

type Nested<Name extends string, T> = { readonly [N in Name]: T };

/** The declarations of the list, as an area. */
interface PersonalListArea<D extends ListDeclaration> {
  readonly endpoints: readonly Endpoint[];
  readonly commands: Commands<CommandParams<D>, CommandReplies<D>>;
  readonly state: Nested<Plural<D>, Nested<Plural<D>, TArray<Entry<D>>>>;
  readonly tables: Nested<
    D["table"],
    Table<readonly [userId: UserId, id: D extends Numbered ? number : string], RowOf<D>>
  >;
  readonly events: Nested<D["event"], EventDeclaration<EventVariants<D>, EventVariants<D>>>;
  readonly counters: readonly (D extends { readonly counter: infer Name } ? Name : never)[];
  readonly limits: D["limits"];
  readonly list: PersonalList;
}

/** @throws Error if a declaration contradicts itself */
export function definePersonalList<const D extends ListDeclaration>(declaration: D): PersonalListArea<D> {
  const list = readDeclaration(declaration);
  const { plural, idName, entry, table, values, counter, Entry } = list;
  const stored = Object.entries(values).map(([name, { storedAs = name }]) => storedAs);
  const numbered = counter !== undefined;
  const withEntry = { [entry]: Entry };
  const withId = { [idName]: numbered ? OtherId : OtherText };
  const passed = Object.fromEntries(
    Object.entries(values).flatMap(([name, { sent }]) => (name === idName ? [] : [[name, Type.Optional(sent)]])),
  );
  const updated = numbered ? withEntry : { ...withId, data: Type.Object(passed) };
  const { get, add, edit, remove } = list.endpoints;
  const area = defineArea({
    endpoints: [get, add, ...(edit === null ? [] : [edit]), remove],
    commands: defineCommands(),
    state: { [plural]: { [plural]: listSchema(list) } },
    tables: {
      [table]: defineTable<readonly [UserId, number | string], Record<string, unknown>>(
        numbered
          ? { fields: ["id", "userId", ...stored, "createdAt"], dates: ["createdAt"] }
          : { fields: ["userId", ...stored] },
      ),
    },
    events: {
      [list.event]: sentAsStored({
        add: withEntry,
        ...(edit === null ? {} : { update: updated }),
        remove: withId,
      }),
    },
    counters: numbered ? [counter] : [],
    limits: list.limits,
    list,
  });
  // The names are values of the declaration, which the compiler follows in its type only.
  return area as unknown as PersonalListArea<D>;
}

function readDeclaration(declaration: ListDeclaration): PersonalList {
  const { entry, key, counter, values, limits } = declaration;
  if ((key === undefined) === (counter === undefined)) throw new Error(`${entry} needs a counter or a key`);
  const plural = `${entry}s`;
  const countMaxName = `${plural}_per_user_max`;
  const countMax = limits[countMaxName];
  if (countMax === undefined) throw new Error(`${entry} has no ${countMaxName}`);
  const sent = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.sent]));
  const fields = key === undefined ? { id: OtherId, ...sent, date_created: Type.Integer() } : sent;
  const title = entry.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const list = {
    ...declaration,
    plural,
    idName: key ?? `${entry}_id`,
    storedId: key ?? "id",
    noun: entry.replaceAll("_", " "),
    parameters: declaration.parameters ?? Object.keys(values),
    countMaxName,
    countMax,
    title,
    Entry: Type.Object(fields, { title }),
  };
  return { ...list, endpoints: endpointsOf(list) };
}

const own = { authentication: "user", effectiveness: "durable" } as const;

function endpointsOf(list: Omit<PersonalList, "endpoints">): PersonalList["endpoints"] {
  const { operations, plural, idName, key, counter, parameters } = list;
  const [path, pathOfOne] = [`/${plural}`, `/${plural}/{${idName}${key === undefined ? "" : "*"}}`];
  const id = { [idName]: key === undefined ? Id : Type.String() };
  const params = (mayMiss: (name: string) => boolean) =>
    Object.fromEntries(
      parameters.map((name) => {
        const given = list.values[name]?.given ?? Type.Never();
        return [name, mayMiss(name) ? Type.Optional(given) : given];
      }),
    );
  const added = params((name) => list.values[name]?.isOptional === true);
  const { [idName]: _, ...changed } = params(() => true);
  return {
    get: defineEndpoint({
      ...own,
      ...operations.get,
      ...{ method: "GET", path, effectiveness: "read", params: {}, ok: { [plural]: listSchema(list) }, errors: [] },
    }),
    add: defineEndpoint({
      ...own,
      ...operations.add,
      ...{ method: "POST", path, params: added, ok: counter === undefined ? {} : { [idName]: OtherId }, errors: [] },
    }),
    edit:
      operations.edit === undefined
        ? null
        : defineEndpoint({
            ...own,
            ...operations.edit,
            ...{ method: "PATCH", path: pathOfOne, params: { ...id, ...changed }, ok: {}, errors: ["NOT_FOUND"] },
          }),
    remove: defineEndpoint({
      ...own,
      ...operations.remove,
      ...{ method: "DELETE", path: pathOfOne, params: id, ok: {}, errors: ["NOT_FOUND"] },
    }),
  };
}

function listSchema({ Entry, description }: Pick<PersonalList, "Entry" | "description">) {
  return Type.Array(Entry, { description });
}
