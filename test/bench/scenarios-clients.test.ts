// Every scenario, tiny, against the real server, so that none can rot: those that do what many clients do together. See test/support/scenarios.ts.
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios("clients");
