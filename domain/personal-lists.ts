/**
 * The entries of a person's list (schemas/personal-list.ts): their keys, their order, and how clients see them. All
 * lists are stored alike, so this code knows no list by name; the declaration types the rows where one is known.
 */

import { createHash } from "node:crypto";
import type { UserId } from "../schemas/ids.ts";
import type { PersonalList } from "../schemas/personal-list.ts";
import type { KeyOf, RowOf, TableName } from "../schemas/records.ts";
import { compareText } from "./text.ts";
import type { View } from "./view.ts";

/** The values of an entry, by their names in rows and commands. */
export type EntryValues = Readonly<Record<string, unknown>>;

export interface EntryRow extends EntryValues {
  readonly userId: UserId;
}

/** The name of a list's table. */
export function tableOf(list: PersonalList): TableName {
  return list.table as TableName; // `definePersonalList` declares it
}

/** The row of an entry in its list's table. */
export function asRow(row: EntryRow): RowOf<TableName> {
  return row as unknown as RowOf<TableName>; // `definePersonalList` derives the type of the row from these values
}

/** @param id its number, or the value that names it */
export function entryKey({ key }: PersonalList, userId: UserId, id: unknown): KeyOf<TableName> {
  return key === undefined ? [userId, Number(id)] : [userId, nameHash(String(id))];
}

/** A name may be longer than a key. */
export function nameHash(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}

export function entryAt(view: View, list: PersonalList, key: KeyOf<TableName>): EntryRow | undefined {
  return view.row(tableOf(list), key) as EntryRow | undefined; // see `asRow`
}

function rangeOf(list: PersonalList, userId: UserId) {
  return { start: [userId], end: [userId + 1], limit: list.countMax };
}

export function countEntries(view: View, list: PersonalList, userId: UserId): number {
  return view.keys(tableOf(list), rangeOf(list, userId)).length;
}

/** By number, so the oldest is first, or by the value that names an entry. */
export function entriesOf(view: View, list: PersonalList, userId: UserId): EntryRow[] {
  const rows = view.rows(tableOf(list), rangeOf(list, userId));
  const entries = rows.map(({ row }) => row as unknown as EntryRow); // see `asRow`
  const { key } = list;
  return key === undefined ? entries : entries.sort((a, b) => compareText(String(a[key]), String(b[key])));
}

/** The values as clients know them; those that are missing stay so. */
export function sentValues({ values }: PersonalList, given: EntryValues): EntryValues {
  const sent = Object.entries(values).map(([name, { storedAs = name }]) => [name, given[storedAs]] as const);
  return Object.fromEntries(sent.filter(([, value]) => value !== undefined));
}

/** An entry as sent to clients, in answers, state and events. */
export function entryBody(list: PersonalList, row: EntryValues): EntryValues {
  const values = sentValues(list, row);
  if (list.counter === undefined) return values;
  return { id: row["id"], ...values, date_created: Math.floor(Number(row["createdAt"]) / 1000) };
}
