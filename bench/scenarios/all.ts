// The table of scenarios, in the order in which they run.

import type { Scenario } from "../lib/scenario.ts";
import { fanout } from "./fanout.ts";
import { idle } from "./idle.ts";
import { presence } from "./presence.ts";
import { read } from "./read.ts";
import { send } from "./send.ts";
import { start } from "./start.ts";
import { typing } from "./typing.ts";
import { users } from "./users.ts";

export const scenarios: readonly Scenario[] = [start, send, read, users, fanout, presence, typing, idle];
