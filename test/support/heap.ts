/** What this process holds: the heap without what nobody refers to any more, so that it depends on no clock. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** In MiB, after everything that can go has gone. */
export function heapMib(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
