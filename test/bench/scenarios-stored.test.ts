// Every scenario, tiny, against the real server, so that none can rot: those that begin with much in store. See test/support/scenarios.ts.
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios("stored");
