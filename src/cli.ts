/** The process of the command line. */
import { commandLine } from "./cli-program.ts";
import { exitWith } from "./cli-session.ts";

await commandLine().parseAsync().catch(exitWith);
