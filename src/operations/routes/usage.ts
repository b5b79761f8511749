/** Usage statistics for administrators (D32, D259). */

import type { View } from "../../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { getRealmStatistics, getUsage } from "../../../schemas/usage.ts";
import { realmStatistics } from "../../queries/realm-statistics.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok } from "../../runtime/results.ts";
import { bind } from "../calls.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface Usage {
  readonly date: string;
  readonly user_input: Readonly<Record<string, number>>;
  /** Whether this is the last page. */
  readonly found_newest: boolean;
}

function usageOf(view: View, date: string | undefined, afterUserId: number): Usage | Refusal {
  const day = dayOf(date ?? textOf(Math.floor(view.now / dayMs)));
  if (day === null) return refuse.badRequest("Invalid date");
  const limit = limits.usage_users_per_answer_max;
  const rows = view.rows("userInputs", { start: [day, afterUserId + 1], end: [day + 1], limit: limit + 1 });
  const shown = rows.slice(0, limit).map(({ key, row }) => [String(key[1]), row.reports]);
  return { date: textOf(day), user_input: Object.fromEntries(shown), found_newest: rows.length <= limit };
}

function textOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** null: not a valid date. */
function dayOf(date: string): number | null {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  const day = at / dayMs;
  return Number.isInteger(day) && textOf(day) === date ? day : null;
}

interface UsageTools {
  readonly hubOf: (realm: Realm) => { readonly readerCount: number };
}

export const usageRoutes = ({ hubOf }: UsageTools) => [
  bind(getUsage, (call) => {
    const usage = usageOf(call.realm.view, call.params.date, call.params.after_user_id ?? 0);
    return isRefusal(usage) ? usage : ok({ ...usage });
  }),
  bind(getRealmStatistics, (call) => ok(realmStatistics(call.realm.view, hubOf(call.realm).readerCount))),
];
