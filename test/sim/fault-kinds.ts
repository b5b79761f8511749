/** Every kind of fault that a run may meet: each must occur, otherwise the runs prove less than they claim. */
import type { StoreFault } from "./faulty-store.ts";
import { outsideFaults } from "./outside.ts";

/** Faults outside the store. */
export const worldFaults = [
  "machine killed",
  "restart",
  "full disk",
  "slow machine",
  "turns of one command",
  "crash between frames",
  "crash between answers",
  "lost network",
  "stalled reader",
  ...outsideFaults,
] as const;
export const storeFaults = [
  "crash before commit",
  "crash after commit",
  "crash between rows",
  "failed commit",
  "slow flush",
  "clock set back",
  "clock jumps ahead",
] as const satisfies readonly StoreFault["kind"][];
export type FaultKind = (typeof worldFaults)[number] | StoreFault["kind"];
