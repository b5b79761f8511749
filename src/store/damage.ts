/** Errors about damaged data: what is damaged, where, and what to do. Data that cannot be trusted is never served. */
import { limits } from "../../schemas/limits.ts";
import { commandLine } from "./command-line.ts";

export const damageAdvice = `Stop the server, run \`${commandLine} check\`, and restore a backup`;

/** A file of the store does not contain what was written to it. */
export class DamagedData extends Error {
  override readonly name = "DamagedData";

  constructor(file: string, what: string) {
    super(`${file} is damaged: ${what}. ${damageAdvice}.`);
  }
}

/** One row of a table has a wrong checksum or wrong bytes. The reader of the file adds its name. */
export class DamagedRow extends Error {
  override readonly name = "DamagedRow";

  constructor(table: string, key: unknown, reason: string) {
    super(`${rowName(table, key)} ${reason}`);
  }
}

/** How messages name a row. A key that cannot be read is its bytes. */
export function rowName(table: string, key: unknown): string {
  const shown = key instanceof Uint8Array ? `0x${Buffer.from(key).toString("hex")}` : JSON.stringify(key);
  return `the row ${shown} of table ${table}`;
}

/** @returns the error to throw instead of `error`, which a read of `file` raised */
export function namedIn(file: string, error: unknown): unknown {
  return error instanceof DamagedRow ? new DamagedData(file, error.message) : error;
}

/** The damage that caused an error, or null. */
export function damageIn(error: unknown): DamagedData | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof DamagedData) return at;
  return null;
}

/** Many requests may hit the same damage; each damaged row is logged once. */
export class DamageReports {
  readonly #reported = new Set<string>();

  /** @returns whether this damage has not been reported before */
  isNew(damage: DamagedData): boolean {
    if (this.#reported.has(damage.message) || this.#reported.size >= limits.damage_reports_max) return false;
    this.#reported.add(damage.message);
    return true;
  }
}
