// Every scenario, tiny, against the real server, so that none can rot: those that write one row after another. See test/support/scenarios.ts.
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios("posts");
