/** Linkifiers of an older version, whose patterns the engine refuses now (README, Decisions of our own: linkifiers). */
import t from "tap";
import { openFounded } from "../support/runtime.ts";

t.test(
  "[README, linkifiers] a pattern that is refused now is named in the log once, when its realm opens",
  async (t) => {
    const bench = await openFounded(t);
    const urlTemplate = "https://a.example/{id}";
    bench.environment.transaction(() => {
      bench.environment.put("linkifiers", 1, { id: 1, pattern: "#(?P<id>[0-9]+)", urlTemplate, order: 1 });
      bench.environment.put("linkifiers", 2, { id: 2, pattern: "(?=x)(?P<id>[0-9]+)", urlTemplate, order: 2 });
    });
    t.strictSame(bench.warnings, []);
    const { warnings } = bench.crash(t);
    t.equal(warnings.length, 1);
    t.match(warnings[0], /Linkifier 2 matches nothing.*"\(\?=x\)/);
  },
);
