/** A process with the server's log: for each number on its stdin it logs as many lines, and says on its stdout that it has. */
import { createInterface } from "node:readline";
import { createLog } from "../../src/log.ts";

const log = createLog("warn");
const filler = "x".repeat(400);

createInterface({ input: process.stdin }).on("line", (count) => {
  for (let index = 0; index < Number(count); index++) log.warn({ index, filler }, "a line");
  process.stdout.write(`logged ${count}\n`);
});
