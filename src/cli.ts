/** The command line for administration: realms, users, backups, checks. */
import { join } from "node:path";
import type { Command as Program } from "commander";
import { addBackupCommands } from "./cli-backup.ts";
import { addClusterCommands } from "./cli-cluster.ts";
import { createProgram } from "./cli-commands.ts";
import { addDeadLetterCommands } from "./cli-dead-letters.ts";
import { addRealmCommands } from "./cli-realms.ts";
import { addServerCommands } from "./cli-server.ts";
import { dataDir, exitWith, say } from "./cli-session.ts";
import { addTimeCommands } from "./cli-time.ts";
import { addUserCommands } from "./cli-users.ts";
import { listen } from "./listen.ts";
import { readZuliprc } from "./zuliprc.ts";

function addListenCommand(program: Program): void {
  program
    .command("listen")
    .description("print every event as it arrives over the WebSocket, one line of JSON each")
    .argument("[types...]", "event types; default: all")
    .option("--zuliprc <file>", "credentials (default: DATA_DIR/zuliprc)")
    .option("--count <n>", "stop after this many events", (text) => Number(text), Number.POSITIVE_INFINITY)
    .action(async (types: string[], options: { zuliprc?: string; count: number }) => {
      const account = readZuliprc(options.zuliprc ?? join(dataDir(), "zuliprc"));
      const onEvent = (event: object) => say(JSON.stringify(event));
      const ended = await listen(account, { types, count: options.count, onEvent });
      if (ended !== null) throw new Error(ended);
    });
}

const program = createProgram();
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
for (const add of groups) add(program);

await program.parseAsync().catch(exitWith);
