// Every scenario is run by exactly one of the scenario test files in this folder, and its expected numbers are listed.
import t from "tap";
import { scenarios } from "../../bench/scenarios/all.ts";
import { COUNTED, groups } from "../support/scenarios.ts";

t.test("the tests list the expected numbers of every scenario, and run each scenario once", async (t) => {
  const all = scenarios.map(({ name }) => name).toSorted();
  t.same(Object.keys(COUNTED).toSorted(), all);
  const { cluster, ...others } = groups;
  const alone: readonly string[] = Object.values(others).flat();
  // With `--cluster`, scenarios of the other groups are run once more.
  const onlyThere = cluster.filter((name) => !alone.includes(name));
  t.same([...alone, ...onlyThere].toSorted(), all);
});
