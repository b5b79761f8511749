// The table of scenarios, in the order in which they run.

import type { Scenario } from "../lib/scenario.ts";
import { createChannel } from "./create-channel.ts";
import { fanout } from "./fanout.ts";
import { history } from "./history.ts";
import { idle } from "./idle.ts";
import { permissions } from "./permissions.ts";
import { presence } from "./presence.ts";
import { read } from "./read.ts";
import { send } from "./send.ts";
import { settings } from "./settings.ts";
import { start } from "./start.ts";
import { status } from "./status.ts";
import { typing } from "./typing.ts";
import { users } from "./users.ts";

export const scenarios: readonly Scenario[] = [
  start,
  send,
  settings,
  status,
  createChannel,
  read,
  history,
  users,
  fanout,
  presence,
  typing,
  idle,
  permissions,
];
