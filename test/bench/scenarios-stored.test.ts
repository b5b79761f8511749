// Runs tiny versions of the scenarios on a filled store, against the real server (test/support/scenarios.ts).
import t from "tap";
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios(t, "stored");
