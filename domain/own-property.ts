/** Looks up a name that a client sent in a table, without inherited properties such as `constructor`. */
export function ownProperty<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
