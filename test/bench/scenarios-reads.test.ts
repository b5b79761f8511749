// Every scenario, tiny, against the real server, so that none can rot: those that read or listen. See test/support/scenarios.ts.
import { proveScenarios, reads } from "../support/scenarios.ts";

proveScenarios(reads);
