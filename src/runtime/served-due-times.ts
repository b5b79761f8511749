/**
 * When organizations are due that came from other nodes of a cluster and were not opened here yet. What the root says of
 * them is older.
 */
import { statSync } from "node:fs";
import { limits } from "../../schemas/limits.ts";
import { dataFile } from "../store/data-file.ts";
import { openLmdb } from "../store/lmdb.ts";
import { nextDueIn } from "./durable-timers.ts";

export class ServedDueTimes {
  readonly #dueAt = new Map<number, number | null>();

  /**
   * Reads it from a closed store.
   * @returns false if it is so large that whoever uses it first would wait long: it should be opened at once
   */
  read(id: number, folder: string): boolean {
    if (statSync(dataFile(folder)).size > limits.cluster_opened_at_once_bytes) return false;
    const environment = openLmdb(folder);
    try {
      this.#dueAt.set(id, nextDueIn(environment));
    } finally {
      void environment.close();
    }
    return true;
  }

  /**
   * @param hint of the root: it counts if the organization did not come from another node, or was opened since
   * @returns null: never
   */
  of(id: number, hint: number | null): number | null {
    const dueAt = this.#dueAt.get(id);
    return dueAt === undefined ? hint : dueAt;
  }

  forget(id: number): void {
    this.#dueAt.delete(id);
  }
}
