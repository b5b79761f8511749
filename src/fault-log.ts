/** The log of faults. Many requests may meet the same damage on disk: the log names each damaged place once. */
import type { Log } from "./log.ts";
import { DamageReports, damageIn } from "./store/damage.ts";

/** @param where fields that say what was being done */
export type FaultLog = (error: unknown, where: Readonly<Record<string, unknown>>, message: string) => void;

export function createFaultLog(log: Log): FaultLog {
  const damages = new DamageReports();
  return (error, where, message) => {
    const damage = damageIn(error);
    if (damage === null) log.error({ err: error, ...where }, message);
    else if (damages.isNew(damage)) log.error(where, damage.message);
  };
}
