/** The command line: all commands. */
import type { Command as Program } from "commander";
import { addBackupCommands } from "./backup.ts";
import { addClusterCommands } from "./cluster.ts";
import { createProgram } from "./commands.ts";
import { addDeadLetterCommands } from "./dead-letters.ts";
import { addListenCommand } from "./listen-command.ts";
import { addRealmCommands } from "./realms.ts";
import { addServerCommands } from "./server.ts";
import { addTimeCommands } from "./time.ts";
import { addUserCommands } from "./users.ts";

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
