/** How the operator calls the command line, for messages that say what to do: a package has its own command. */
import { basename } from "node:path";

export const commandLine = basename(process.argv[1] ?? "").startsWith("colloquy") ? "colloquy" : "npm run -s cli --";
