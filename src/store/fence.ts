/**
 * The fence by the disk: at most one process writes to an environment, whatever process ids and locks say. The owner of a data folder
 * stores its token in each environment before it reads anything from it, and every write transaction begins by comparing it. LMDB
 * has one writer at a time, across processes, so what an older owner acknowledged came before the take-over, and the new one sees it.
 */
import { join } from "node:path";
import type { Environment } from "./environment.ts";
import { OwnershipLost, Place } from "./place.ts";

const ownerKey = "owner";

export interface FencedEnvironment extends Environment {
  /** @throws OwnershipLost when another process took over, or the files were replaced */
  assertOwned(): void;
}

export function takenOver(folder: string): OwnershipLost {
  return new OwnershipLost(
    `Another process took over ${folder}. This one stops: nothing that it acknowledged is lost, and nothing more is written.`,
  );
}

/** Takes an environment over. From here on, the process that had it before cannot commit (M5). */
export function fenced(environment: Environment, folder: string, token: string): FencedEnvironment {
  const place = new Place(join(folder, "data.mdb"));
  environment.transaction(() => environment.put("meta", ownerKey, { value: token }));
  const check = () => {
    if (environment.get("meta", ownerKey)?.value !== token) throw takenOver(folder);
  };
  return Object.assign(Object.create(environment) as Environment, {
    transaction<R>(work: () => R): R {
      if (environment.isWriting) return environment.transaction(work);
      const result = environment.transaction(() => {
        check();
        return work();
      });
      // After the flush, before any answer: a file that is gone by now keeps nothing (M1).
      place.verify();
      return result;
    },
    assertOwned() {
      environment.refresh();
      check();
      place.verify();
    },
  });
}
