// The table of scenarios, in the order in which they run.

import type { Scenario } from "../lib/scenario.ts";
import { backup } from "./backup.ts";
import { cost } from "./cost.ts";
import { createChannel } from "./create-channel.ts";
import { deleteTopic } from "./delete-topic.ts";
import { disk } from "./disk.ts";
import { edges } from "./edges.ts";
import { failover } from "./failover.ts";
import { fanout } from "./fanout.ts";
import { history } from "./history.ts";
import { idle } from "./idle.ts";
import { idleOrganizations } from "./idle-organizations.ts";
import { markRead } from "./mark-read.ts";
import { mixed } from "./mixed.ts";
import { moves } from "./moves.ts";
import { organizations } from "./organizations.ts";
import { permissions } from "./permissions.ts";
import { settings, status } from "./personal-changes.ts";
import { presence } from "./presence.ts";
import { read } from "./read.ts";
import { reconnect } from "./reconnect.ts";
import { register } from "./register.ts";
import { send } from "./send.ts";
import { slowDisk } from "./slow-disk.ts";
import { start } from "./start.ts";
import { startFilled } from "./start-filled.ts";
import { startKilled } from "./start-killed.ts";
import { typing } from "./typing.ts";
import { users } from "./users.ts";

export const scenarios: readonly Scenario[] = [
  start,
  startFilled,
  startKilled,
  send,
  organizations,
  slowDisk,
  cost,
  settings,
  status,
  createChannel,
  read,
  history,
  users,
  register,
  markRead,
  deleteTopic,
  moves,
  backup,
  disk,
  fanout,
  edges,
  failover,
  presence,
  typing,
  mixed,
  reconnect,
  idle,
  idleOrganizations,
  permissions,
];
