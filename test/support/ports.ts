/** Ports for programs that a test starts. */
export { freePort, freePortRange } from "../../bench/lib/ports.ts";
