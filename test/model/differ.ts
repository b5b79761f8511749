/** Compares two views that must be equal, and reports the first difference. */
import { isDeepStrictEqual } from "node:util";

/** @throws with the first difference */
export function differ(title: string, shown: unknown, expected: unknown): void {
  if (isDeepStrictEqual(shown, expected)) return;
  if (Array.isArray(shown) && Array.isArray(expected)) {
    const index = [...shown.keys(), shown.length].find((at) => !isDeepStrictEqual(shown[at], expected[at])) ?? 0;
    const [one, other] = [shown[index], expected[index]].map((value) => JSON.stringify(value));
    throw new Error(`${title}, entry ${index} (of ${shown.length}, ${expected.length}): ${one} instead of ${other}`);
  }
  throw new Error(`${title}: ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
}
