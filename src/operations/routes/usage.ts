/** Usage statistics for administrators (D32, D259). */
import { isRefusal } from "../../../schemas/errors.ts";
import { getRealmStatistics, getUsage } from "../../../schemas/usage.ts";
import { realmStatistics } from "../../queries/realm-statistics.ts";
import { usageOf } from "../../queries/usage.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok } from "../../runtime/results.ts";
import { bind } from "../calls.ts";

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
