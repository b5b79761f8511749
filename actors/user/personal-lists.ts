/**
 * The decisions about a person's own lists (schemas/personal-list.ts), the same for all. Texts are already trimmed and
 * checked. Only the owner's clients get the events.
 */

import {
  asRow,
  countEntries,
  type EntryRow,
  type EntryValues,
  entriesOf,
  entryAt,
  entryBody,
  entryKey,
  sentValues,
  tableOf,
} from "../../domain/personal-lists.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { EventType, StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { PersonalList } from "../../schemas/personal-list.ts";
import type { CounterName } from "../../schemas/records.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Decisions, done, type Effect, effects, forUser, type Outcome } from "../protocol/decision.ts";

/** Further rules of a list: methods, so that a list may name the types of its own values. */
export interface ListRules {
  /** Called before anything else is checked. `values` of an update are null where an entry keeps its own. */
  check(values: EntryValues, entries: readonly EntryValues[], isNew: boolean): Refusal | null;
  /** Whether an entry that has no row can be changed all the same. */
  isImplied?(id: unknown): boolean;
}

/** The decisions of a list, by type of command. */
export function listDecisions(list: PersonalList, rules: ListRules | undefined): Decisions<unknown> {
  const { commands, storedId } = list;
  const refusedBy = (user: UserRecord, values: EntryValues, view: View, isNew: boolean) =>
    rules === undefined ? null : rules.check(values, entriesOf(view, list, user.id), isNew);

  const add = (user: UserRecord, values: EntryValues, view: View): Outcome =>
    refusedBy(user, values, view, true) ?? insert(list, user.id, values, view);

  const update = (user: UserRecord, values: EntryValues, view: View): Outcome => {
    const refused = refusedBy(user, values, view, false);
    if (refused !== null) return refused;
    const { [storedId]: id, ...others } = values;
    const changes = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
    const before = entryAt(view, list, entryKey(list, user.id, id));
    if (before !== undefined) return change(list, before, changes);
    if (rules?.isImplied?.(id) !== true) return doesNotExist(list);
    return Object.keys(changes).length === 0 ? done({}, []) : insert(list, user.id, values, view);
  };

  const remove = (user: UserRecord, { [storedId]: id }: EntryValues, view: View): Outcome => {
    const key = entryKey(list, user.id, id);
    if (entryAt(view, list, key) === undefined) return doesNotExist(list);
    return done({}, [effects.remove(tableOf(list), key), eventFor(list, user.id, { op: "remove", [list.idName]: id })]);
  };

  return {
    [`${commands}.add`]: forUser(add),
    ...(list.endpoints.edit === null ? {} : { [`${commands}.update`]: forUser(update) }),
    [`${commands}.remove`]: forUser(remove),
  };
}

function insert(list: PersonalList, userId: UserId, values: EntryValues, view: View): Outcome {
  if (countEntries(view, list, userId) >= list.countMax) return refuse.badRequest(`Too many ${list.noun}s`);
  if (list.counter === undefined) return done({}, added(list, { userId, ...values }));
  const counter = list.counter as CounterName; // `definePersonalList` declares it
  const id = view.counter(counter) + 1;
  const row = { id, userId, ...values, createdAt: view.now };
  return done({ [list.idName]: id }, [effects.setCounter(counter, id), ...added(list, row)]);
}

function added(list: PersonalList, row: EntryRow): Effect[] {
  return written(list, row, { op: "add", [list.entry]: entryBody(list, row) });
}

function change(list: PersonalList, before: EntryRow, changes: EntryValues): Outcome {
  const row = { ...before, ...changes };
  const { counter, entry, idName, storedId } = list;
  if (counter === undefined) {
    const data = sentValues(list, changes);
    return done({}, written(list, row, { op: "update", [idName]: row[storedId], data }));
  }
  const isSame = Object.entries(changes).every(([name, value]) => before[name] === value);
  return done({}, isSame ? [] : written(list, row, { op: "update", [entry]: entryBody(list, row) }));
}

function written(list: PersonalList, row: EntryRow, body: EventBody): Effect[] {
  const key = entryKey(list, row.userId, row[list.storedId]);
  return [effects.put(tableOf(list), key, asRow(row)), eventFor(list, row.userId, body)];
}

function doesNotExist({ noun }: PersonalList): Refusal {
  return refuse.notFound(`${noun[0]?.toUpperCase()}${noun.slice(1)} does not exist.`);
}

interface EventBody {
  readonly op: "add" | "update" | "remove";
  readonly [field: string]: unknown;
}

function eventFor(list: PersonalList, userId: UserId, body: EventBody): Effect {
  // `definePersonalList` declares the event with these fields.
  return effects.emit(list.event as EventType, body as unknown as StoredBody, { to: "users", ids: [userId] });
}
