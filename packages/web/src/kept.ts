/** What a tab keeps over a reload, for the person who typed it. */

/** @returns null if nothing is kept */
export function readKept(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that stores nothing costs only this.
  }
}

/** @returns whether what is kept is that of somebody else */
export function changesWriter(userId: number): boolean {
  const before = readKept("writer");
  keep("writer", userId);
  return before !== null && before !== userId;
}
