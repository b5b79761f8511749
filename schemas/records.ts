/**
 * The tables of all areas together; an area's own file declares its rows. A row is encoded as the list of its `fields`
 * in this order (store/codec.ts), preceded by the table's version. Fields may only be appended; any other change needs
 * a migration. Absent values are `null`, never `undefined`. Times are milliseconds (D26). No row stores a collection
 * that can grow without bound.
 */
import type { AllOf, AnyTable, Key, Table } from "./area.ts";
import { type Area as FeatureArea, areas as featureAreas } from "./areas.ts";
import { runtimeArea } from "./runtime.ts";

/** The runtime has tables, too. */
type Area = FeatureArea | typeof runtimeArea;
const areas: readonly Area[] = [...featureAreas, runtimeArea];

type DeclaredTables = AllOf<Area, "tables">;

type Shapes = {
  readonly [T in keyof DeclaredTables]: DeclaredTables[T] extends Table<infer K, infer R>
    ? { readonly key: K; readonly row: R }
    : never;
};
/** All tables of a realm's environment, with their keys and rows. An interface, so that the compiler resolves it once. */
export interface RowTypes extends Shapes {}
export type TableName = keyof RowTypes;
export type KeyOf<T extends TableName> = RowTypes[T]["key"] & Key;
export type RowOf<T extends TableName> = RowTypes[T]["row"];

const tables = Object.assign({}, ...areas.map((area) => ("tables" in area ? area.tables : {}))) as Readonly<
  Record<TableName, AnyTable>
>;

function eachTable<V>(read: (table: AnyTable) => V): Readonly<Record<TableName, V>> {
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, read(table)])) as Record<TableName, V>;
}

/** The order of a row's fields on disk; append only. */
export const rowFields = eachTable(({ fields }) => fields) as {
  readonly [T in TableName]: readonly (keyof RowOf<T> & string)[];
};

/** Fields with the time of an event, for tables that have any; `set-time` corrects them. */
export const datedFields = Object.fromEntries(
  Object.entries(tables).flatMap(([name, { dates }]) => (dates === undefined ? [] : [[name, dates] as const])),
) as Partial<typeof rowFields>;

/** `rowMigrations[table][n]` upgrades a row from version n to n + 1. */
export const rowMigrations = eachTable(({ migrations = {} }) => migrations);

/** Version of each table's rows: one more than its number of migrations. */
export const rowVersions: Readonly<Record<TableName, number>> = eachTable(
  ({ migrations = {} }) => 1 + Object.keys(migrations).length,
);

type CounterLists = Area extends infer A
  ? A extends { readonly counters: readonly (infer Name)[] }
    ? Name
    : never
  : never;
/** Counters of a realm. Ids follow the order of decisions (M4). */
export type CounterName = CounterLists & string;
export const counterNames: readonly CounterName[] = areas.flatMap((area) =>
  "counters" in area ? [...area.counters] : [],
);
