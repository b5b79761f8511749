/** Damage on disk: what the store found, where, and what to do. Data that cannot be trusted is never served. */
import { limits } from "../../schemas/limits.ts";

const advice = "Stop the server, run `npm run -s cli -- check`, and restore a backup";

/** A file of the store does not hold what was written to it. */
export class DamagedData extends Error {
  override readonly name = "DamagedData";

  constructor(file: string, what: string) {
    super(`${file} is damaged: ${what}. ${advice}.`);
  }
}

/** One row of a table: its checksum, or its bytes, are wrong. The file is known to whoever read it from there. */
export class DamagedRow extends Error {
  override readonly name = "DamagedRow";

  constructor(table: string, key: unknown, reason: string) {
    super(`the row ${JSON.stringify(key)} of table ${table} ${reason}`);
  }
}

/** @returns the error to throw in place of `error`, which a read of `file` met */
export function namedIn(file: string, error: unknown): unknown {
  return error instanceof DamagedRow ? new DamagedData(file, error.message) : error;
}

/** The damage that caused an error, or null. */
export function damageIn(error: unknown): DamagedData | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof DamagedData) return at;
  return null;
}

/** Many requests may meet the same damage: the log names each damaged row once. */
export class DamageReports {
  readonly #told = new Set<string>();

  /** @returns whether this damage was not reported before */
  isNew(damage: DamagedData): boolean {
    if (this.#told.has(damage.message) || this.#told.size >= limits.damage_reports_max) return false;
    this.#told.add(damage.message);
    return true;
  }
}
