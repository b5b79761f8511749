/**
 * A process with the server's log: for each number on stdin it logs that many lines, and reports on stdout when it is
 * done.
 */
import { createInterface } from "node:readline";
import { createLog } from "../../src/log/log.ts";

const log = createLog("warn");
const filler = "x".repeat(400);

createInterface({ input: process.stdin }).on("line", (count) => {
  for (let index = 0; index < Number(count); index++) log.warn({ index, filler }, "a line");
  process.stdout.write(`logged ${count}\n`);
});
