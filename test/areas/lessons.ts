/** Extracts records from a request or a response (test/fuzz). */

/** The part of a request's path that a pattern captures, decoded. */
export function placeIn(target: string, pattern: RegExp): string | undefined {
  const part = pattern.exec(target)?.[1];
  return part === undefined ? undefined : decodeURIComponent(part);
}

/** The rows in another order. */
export function turned(rows: readonly { readonly id: number }[]): string {
  return JSON.stringify(rows.map(({ id }) => id).reverse());
}
