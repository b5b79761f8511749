/** Asking a table with a name that a client sent: `constructor` and its kin are not in any of ours. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
