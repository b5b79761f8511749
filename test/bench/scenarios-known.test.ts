// Each scenario is run by exactly one of the test files beside this one, which know what it must count.
import t from "tap";
import { scenarios } from "../../bench/scenarios/all.ts";
import { COUNTED, groups } from "../support/scenarios.ts";

t.test("[8 Bench] the tests know what each scenario must count, and run each of them once", async (t) => {
  const all = scenarios.map(({ name }) => name).toSorted();
  t.same(Object.keys(COUNTED).toSorted(), all);
  t.same(Object.values(groups).flat().toSorted(), all);
});
