// Every scenario, tiny, against the real server, so that none can rot: those that change something, and the start. See test/support/scenarios.ts.
import t from "tap";
import { scenarios } from "../../bench/scenarios/all.ts";
import { COUNTED, changes, proveScenarios, reads } from "../support/scenarios.ts";

t.test("[8 Bench] the tests know what each scenario must count, and run each of them once", async (t) => {
  const all = scenarios.map(({ name }) => name).toSorted();
  t.same(Object.keys(COUNTED).toSorted(), all);
  t.same([...changes, ...reads].toSorted(), all);
});

proveScenarios(changes);
