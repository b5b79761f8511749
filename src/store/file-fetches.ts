/** Files that are being copied here from elsewhere: one copy for all who wait for a file, some files at the same time. */
import { limits } from "../../schemas/limits.ts";

export class FileFetches {
  readonly #fetch: (name: string) => Promise<boolean>;
  readonly #underWay = new Map<string, Promise<boolean>>();
  #busy = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param fetch returns false if there is no such file */
  constructor(fetch: (name: string) => Promise<boolean>) {
    this.#fetch = fetch;
  }

  get(name: string): Promise<boolean> {
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const fetched = this.#inTurn(name).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, fetched);
    return fetched;
  }

  async #inTurn(name: string): Promise<boolean> {
    if (this.#busy < limits.files_fetched_at_once_max) this.#busy++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#fetch(name);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy--;
      else next();
    }
  }
}
