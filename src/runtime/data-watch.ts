/**
 * Checks periodically that this process still owns the data folder: another process may have taken it over, or somebody
 * may have removed or replaced it. Writes detect that by themselves (the journal and store/fence.ts); this check is for a server that only
 * reads.
 */
import { limits } from "../../schemas/limits.ts";
import type { Clock } from "./clock.ts";

export interface Owned {
  /** @throws OwnershipLost */
  assertOwned(): void;
}

/**
 * @param lost must not return
 * @param others what else is due with each check: an idle server wakes once for all of it
 * @returns a function that stops the checks
 */
export function watchData(
  clock: Clock,
  owned: () => readonly Owned[],
  lost: (error: unknown) => never,
  others: () => void = () => undefined,
): () => void {
  let isOver = false;
  let cancel: () => void = () => undefined;

  const look = (all: readonly Owned[], from: number): void => {
    if (isOver) return;
    const to = from + limits.data_folder_checks_per_pass;
    try {
      for (const one of all.slice(from, to)) one.assertOwned();
    } catch (error) {
      lost(error);
    }
    if (to < all.length) clock.soon(() => look(all, to));
    else wait();
  };
  const wait = (): void => {
    cancel = clock.after(limits.data_folder_check_ms, () => {
      look(owned(), 0);
      others();
    });
  };

  wait();
  return () => {
    isOver = true;
    cancel();
  };
}
