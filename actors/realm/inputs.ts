/** Usage statistics (spec 4.7, new_user_input; D32): per person and day, how many reports told of new input. Older days go. */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

export function persistInputs(_context: unknown, asked: Command<"inputs.persist">, view: View): Outcome {
  const { counts } = asked.params;
  const newest = Math.max(...counts.map(({ day }) => day));
  const outdated = { start: [0], end: [newest - limits.usage_days_kept + 1], limit: 2 * limits.batch_rows_max };
  return done({}, [
    ...view.keys("userInputs", outdated).map((key) => effects.remove("userInputs", key)),
    ...counts.map(({ day, userId, reports }) => {
      const before = view.row("userInputs", [day, userId])?.reports ?? 0;
      return effects.put("userInputs", [day, userId], { reports: before + reports });
    }),
  ]);
}
