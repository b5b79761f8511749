/** The common parts of commands of the command line: options, secrets from files, and how wrong use is reported. */
import { readFileSync } from "node:fs";
import { Command as Program } from "commander";
import { programVersion } from "../../schemas/server.ts";
import { withConfigFile } from "../app/config-file.ts";
import { failureCodes, oneLine } from "../operate/admin/failures.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import type { OutputOptions } from "./session.ts";

export interface RealmOptions extends OutputOptions {
  readonly realm: string;
}

export function createProgram(): Program {
  const program = new Program("colloquy");
  return program
    .version(programVersion)
    .option("--config <file>", "settings of the server, for its DATA_DIR")
    .addHelpText("after", "\n`colloquy serve` runs the server, and `colloquy serve --help` lists its settings.")
    .hook("preAction", () => {
      const { config } = program.opts<{ config?: string }>();
      Object.assign(process.env, withConfigFile(process.env, config ?? null));
    })
    .description("Colloquy's command line. DATA_DIR is the data folder; the server may be running or stopped.")
    .configureOutput({
      outputError: (text, write) => write(`colloquy: ${oneLine(text.replace(/^error: /, ""))}\n`),
    })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : failureCodes.usage.exitCode));
}

export function addCommand(program: Program, name: string): Program {
  return program.command(name).option("--json", "print the result as one line of JSON");
}

export function realmOption(program: Program): Program {
  return program.option("--realm <label>", "label of the organization; by default the first one", "");
}

/** @throws AdminFailure when the file cannot be read; `-` is standard input */
export function readInput(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AdminFailure("input", `${file === "-" ? "standard input" : file} cannot be read: ${String(code)}`);
  }
}

/** The first line of a file: secrets are never arguments, which other users of the machine can see. */
export function readSecret(file: string): string {
  const [line = ""] = readInput(file).split(/\r?\n/);
  if (line === "")
    throw new AdminFailure("input", `${file === "-" ? "standard input" : file} has no secret in its first line`);
  return line;
}
