/** Logs faults. Many requests may hit the same damage on disk; each damaged place is logged once. */
import type { Log } from "../log/log.ts";
import { DamageReports, damageIn } from "../store/damage.ts";

/** @param where fields that describe the operation */
export type FaultLog = (error: unknown, where: Readonly<Record<string, unknown>>, message: string) => void;

export function createFaultLog(log: Log): FaultLog {
  const damages = new DamageReports();
  return (error, where, message) => {
    const damage = damageIn(error);
    if (damage === null) log.error({ err: error, ...where }, message);
    else if (damages.isNew(damage)) log.error(where, damage.message);
  };
}
