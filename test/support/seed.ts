/**
 * Seeds of property tests. They are fixed, so that a run depends on the change alone; `SEED=new`, as in the deep tier, draws
 * one. Each is printed: `SEED=... npx tap run <file>` repeats a failure.
 */
import { randomInt } from "node:crypto";

interface Commenting {
  comment(text: string): void;
}

const fixedSeed = 20261123;

export function seedOf(t: Commenting): number {
  const given = process.env["SEED"];
  const seed = given === "new" ? randomInt(2 ** 31) : Number(given ?? fixedSeed);
  t.comment(`SEED=${seed}`);
  return seed;
}
