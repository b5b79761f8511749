// Runs tiny versions of the scenarios that write one row at a time, against the real server
// (test/support/scenarios.ts).
import t from "tap";
import { proveScenarios } from "../support/scenarios.ts";

proveScenarios(t, "posts");
