/** The number of the last turn that a store has; 0 if it never got one from the journal. */
import type { Lmdb } from "./store.ts";

export const turnKey = "turn";

export function turnNumberIn(environment: Pick<Lmdb, "get">): number {
  return (environment.get("meta", turnKey)?.value as number | undefined) ?? 0;
}

/** Must be called inside the transaction that writes the turns up to it. */
export function putTurnNumber(environment: Pick<Lmdb, "put">, turn: number): void {
  environment.put("meta", turnKey, { value: turn });
}
