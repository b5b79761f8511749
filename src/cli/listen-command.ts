/** The CLI command that prints events as they arrive. */
import { join } from "node:path";
import { Argument, InvalidArgumentError, type Command as Program } from "commander";
import { eventTypes } from "../../schemas/events.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import { type Account, readZuliprc } from "../operate/zuliprc.ts";
import { addCommand } from "./commands.ts";
import { listen } from "./listen.ts";
import { alarm, dataDir, say } from "./session.ts";

export function addListenCommand(program: Program): void {
  addCommand(program, "listen")
    .description("print every event as it arrives over the WebSocket, one line of JSON each; SIGINT ends it")
    // The server accepts types that it does not know, and sends no events of them.
    .addArgument(new Argument("[types...]", "event types; default: all").choices([...eventTypes].sort()))
    .option("--zuliprc <file>", "credentials (default: DATA_DIR/zuliprc)")
    .option("--count <n>", "stop after this many events", readCount)
    .action(listenForEvents);
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("it must be a number from 1 to 999999999");
  return Number(text);
}

async function listenForEvents(types: string[], options: { zuliprc?: string; count?: number }): Promise<void> {
  const file = options.zuliprc ?? join(dataDir(), "zuliprc");
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  await listen(accountIn(file), {
    types,
    count: options.count ?? Number.POSITIVE_INFINITY,
    onEvent: (event) => say(JSON.stringify(event)),
    onNotice: alarm.warn,
    signal: ending.signal,
  });
}

/** @throws AdminFailure when the file cannot be used */
function accountIn(file: string): Account {
  try {
    return readZuliprc(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AdminFailure("input", code === undefined ? message : `${file} cannot be read: ${code}`);
  }
}
