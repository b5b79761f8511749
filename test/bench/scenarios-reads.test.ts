// Runs tiny versions of the scenarios that read, against the real server (test/support/scenarios.ts).
import t from "tap";
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios(t, "reads");
