/** The cases of a person's own lists (schemas/personal-list.ts), all derived from their declarations. */
import { type Command, type CommandType, command, type Params } from "../../actors/protocol/decision.ts";
import { type EntryRow, type EntryValues, entryKey, nameHash, tableOf } from "../../domain/personal-lists.ts";
import { type PersonalListCommands, personalLists } from "../../schemas/areas.ts";
import { limits } from "../../schemas/limits.ts";
import type { ListValue, PersonalList } from "../../schemas/personal-list.ts";
import type { Draw, World } from "../sim/world.ts";
import type { Client } from "../support/client.ts";
import {
  type AccountCases,
  type Cases,
  type Consequence,
  type FactCases,
  type FactKey,
  type Longest,
  nothing,
} from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { freshName, must } from "./make.ts";

type LimitName = keyof typeof limits;

/** The parameters of an entry; `mark` makes its texts differ from those of other entries. */
function paramsOf({ values }: PersonalList, which: 0 | 1, mark = ""): EntryValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, { examples, text }]) => [
      name,
      text === undefined ? examples[which] : `${examples[which]}${mark}`,
    ]),
  );
}

/** Adds an entry, and returns its number or the value that names it. */
async function add(client: Client, list: PersonalList, mark = ""): Promise<unknown> {
  const params = paramsOf(list, 0, mark);
  const body = await must(client.post(`/${list.plural}`, params));
  return list.key === undefined ? body[list.idName] : params[list.key];
}

/** One value that replaces another. */
function changeOf(list: PersonalList): EntryValues {
  const [name = ""] = Object.keys(list.values).filter((value) => value !== list.key);
  return { [name]: list.values[name]?.examples[1] };
}

/** The entries that other tests refer to by their ids. */
function idCases(list: PersonalList): Pick<Cases, "fuzz" | "owned" | "forms"> {
  const { noun, idName, plural, key } = list;
  const { get, add: create, edit, remove } = list.endpoints;
  if (key !== undefined) {
    return {
      fuzz: {
        things: [noun],
        meanings: { [`${remove.operationId} ${key}`]: noun },
        learned: { [get.operationId]: ({ [plural]: entries }) => [[noun, entries.at(-1)?.[key]]] },
      },
    };
  }
  return {
    fuzz: {
      things: [noun],
      meanings: { [idName]: noun },
      learned: { [create.operationId]: ({ [idName]: id }) => [[noun, id]] },
    },
    owned: { [idName]: async (client) => Number(await add(client, list, ` ${freshName()}`)) },
    ...(edit === null ? {} : { forms: { [edit.operationId]: () => changeOf(list) } }),
  };
}

function drawValue(world: World, { examples, text, isOptional }: ListValue, isKept: boolean): unknown {
  const drawn = text === undefined ? world.flip() : world.random.pick([...examples, world.name(), world.oneOfFew()]);
  return isOptional === true || isKept ? world.maybe(drawn) : drawn;
}

function drawsOf(list: PersonalList): Readonly<Record<string, Draw>> {
  const { commands, key, storedId } = list;
  const asked = (name: string, id: number, values: EntryValues): Command =>
    command(self(id), `${commands}.${name}` as CommandType, values as Params<CommandType>, id);
  const valuesOf = (world: World, isKept: boolean) =>
    Object.fromEntries(
      Object.entries(list.values).map(([name, value]) => [
        value.storedAs ?? name,
        drawValue(world, value, isKept && name !== key),
      ]),
    );
  /** Mostly an existing one. */
  const one = (world: World, values: EntryValues) => {
    if (key === undefined) return world.own(tableOf(list));
    const row = world.row(tableOf(list))?.row as EntryRow | undefined;
    return { userId: row?.userId ?? world.user(), id: row?.[key] ?? values[key] };
  };
  return {
    [`${commands}.add`]: (world) => asked("add", world.user(), valuesOf(world, false)),
    ...(list.endpoints.edit === null
      ? {}
      : {
          [`${commands}.update`]: (world) => {
            const values = valuesOf(world, true);
            const { userId, id } = one(world, values);
            return asked("update", userId, { ...values, [storedId]: id });
          },
        }),
    [`${commands}.remove`]: (world) => {
      const { userId, id } = one(world, valuesOf(world, true));
      return asked("remove", userId, { [storedId]: id });
    },
  };
}

/** The values of each entry stay what was acknowledged (M1). */
function factsOf(list: PersonalList): FactCases {
  const { commands, storedId, key, noun } = list;
  const stored = Object.entries(list.values).map(([name, { storedAs = name }]) => storedAs);
  const claims = (userId: number | null, id: unknown, values: EntryValues): Consequence => ({
    claims: Object.entries(values).map(([name, value]) => ({
      key: [noun, userId ?? 0, key === undefined ? Number(id) : nameHash(String(id)), name],
      value,
    })),
  });
  type Read = (command: Command<keyof PersonalListCommands>, answer: EntryValues | null) => Consequence;
  const readers: Readonly<Record<string, Read>> = {
    [`${commands}.add`]: ({ params, callerId }, answer) => {
      const id = key === undefined ? answer?.[list.idName] : (params as EntryValues)[key];
      return id === undefined ? nothing : claims(callerId, id, params as EntryValues);
    },
    [`${commands}.update`]: ({ params, callerId }) => {
      const { [storedId]: id, ...values } = params as EntryValues;
      const changes = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
      if (key === undefined || Object.keys(changes).length === 0) return claims(callerId, id, changes);
      // An entry without a row may have got one: then its other values are new, too.
      const place = nameHash(String(id));
      const forgets = ([kind, userId, entry]: FactKey) => kind === noun && userId === callerId && entry === place;
      return { ...claims(callerId, id, { ...changes, [key]: id }), forgets };
    },
    [`${commands}.remove`]: ({ params, callerId }) =>
      claims(callerId, (params as EntryValues)[storedId], Object.fromEntries(stored.map((name) => [name, undefined]))),
  };
  return {
    readers,
    actual: {
      [noun]: (replica, userId, id, name) =>
        (replica.get(tableOf(list), [Number(userId), id] as never) as EntryRow | undefined)?.[name],
    },
    tables: [tableOf(list)],
  };
}

function accountOf(list: PersonalList): AccountCases {
  const bounds = Object.values(list.values).flatMap(({ text }) => text?.bound ?? []) as LimitName[];
  const longestBound = bounds.toSorted((a, b) => limits[b] - limits[a])[0];
  const longestText = (bound: LimitName, index: number, { wide }: Longest) =>
    bound.endsWith("_bytes_max") ? String(index).padEnd(limits[bound], "x") : wide(limits[bound]);
  return {
    bound: {
      what: `${list.noun}s`,
      limits: [list.countMaxName as LimitName, ...(longestBound === undefined ? [] : [longestBound])],
      rows: list.countMax,
      tables: [tableOf(list)],
      test: [`test/api/${list.commands}.test.ts`, `[S3] ${list.countMaxName}`],
    },
    longest: {
      [list.table]: (index: number, longest: Longest) => {
        const { userId, now } = longest;
        const values = Object.entries(list.values).map(([name, { storedAs = name, text, examples }]) => [
          storedAs,
          text === undefined ? examples[0] : longestText(text.bound as LimitName, index, longest),
        ]);
        const row = { id: index, userId, ...Object.fromEntries(values), createdAt: now };
        return [entryKey(list, userId, row[list.storedId]), row];
      },
    },
  };
}

function casesOf(list: PersonalList): Cases {
  const { plural, event, idName } = list;
  const { get, add: create, edit, remove } = list.endpoints;
  return {
    examples: async (call) => {
      const first = paramsOf(list, 0);
      const answer = await call(create.operationId, first);
      const id = { [idName]: list.key === undefined ? answer[idName] : first[list.key] };
      await call(get.operationId);
      if (edit !== null) await call(edit.operationId, { ...id, ...changeOf(list) });
      await call(remove.operationId, id);
    },
    audiences: { accounts: Object.values(list.endpoints).flatMap((endpoint) => endpoint?.operationId ?? []) },
    ...idCases(list),
    draws: drawsOf(list),
    facts: factsOf(list),
    lists: {
      appliers: { [plural]: () => undefined, [event]: reduced },
      keys: { [plural]: "any order" },
      play: async (owner) => {
        for (const mark of [" one", " two"]) {
          const path = `/${plural}/${encodeURIComponent(String(await add(owner, list, mark)))}`;
          if (edit !== null) await must(owner.patch(path, changeOf(list)));
          if (mark === " two") await must(owner.delete(path));
        }
      },
    },
    account: accountOf(list),
    state: { [plural]: [plural] },
  };
}

export const personalListCases: readonly Cases[] = personalLists.map(casesOf);

/** A list draws all of its commands. */
export type PersonalListDraws = { readonly [T in keyof PersonalListCommands]: Draw };
