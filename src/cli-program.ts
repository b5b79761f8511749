/** The command line: all commands. */
import type { Command as Program } from "commander";
import { addBackupCommands } from "./cli-backup.ts";
import { addClusterCommands } from "./cli-cluster.ts";
import { createProgram } from "./cli-commands.ts";
import { addDeadLetterCommands } from "./cli-dead-letters.ts";
import { addListenCommand } from "./cli-listen.ts";
import { addRealmCommands } from "./cli-realms.ts";
import { addServerCommands } from "./cli-server.ts";
import { addTimeCommands } from "./cli-time.ts";
import { addUserCommands } from "./cli-users.ts";

const groups = [
  addServerCommands,
  addRealmCommands,
  addUserCommands,
  addDeadLetterCommands,
  addBackupCommands,
  addTimeCommands,
  addClusterCommands,
  addListenCommand,
] as const;

export function commandLine(): Program {
  const program = createProgram();
  for (const add of groups) add(program);
  return program;
}
