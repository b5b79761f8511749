// Runs tiny versions of the scenarios that can measure a cluster, against three NATS servers and three nodes.
import t from "tap";
import { clusterObstacle } from "../../bench/lib/cluster.ts";
import { proveScenarios } from "../support/scenarios.ts";

const obstacle = clusterObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else proveScenarios(t, "cluster", { cluster: 3 });
