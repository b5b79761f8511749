// Runs tiny versions of the scenarios that change many rows, against the real server (test/support/scenarios.ts).
import t from "tap";
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios(t, "changes");
