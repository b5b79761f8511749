/** The heap of this process after a garbage collection, so that it does not depend on time. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Of objects and buffers, after a garbage collection. */
export function memoryBytes(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** In MiB, after a garbage collection. */
export function heapMib(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
