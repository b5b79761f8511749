/** The process of the command line. */
import { commandLine } from "./program.ts";
import { exitWith } from "./session.ts";

await commandLine().parseAsync().catch(exitWith);
