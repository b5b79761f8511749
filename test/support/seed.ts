/** Seeds of property tests: printed with every run, so that `SEED=... npx tap <file>` repeats a failure. */
import { randomInt } from "node:crypto";

interface Commenting {
  comment(text: string): void;
}

export function seedOf(t: Commenting): number {
  const given = process.env["SEED"];
  const seed = given === undefined || given === "" ? randomInt(2 ** 31) : Number(given);
  t.comment(`SEED=${seed}`);
  return seed;
}
