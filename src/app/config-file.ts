/**
 * The file of `--config`: one NAME=value a line, blank lines, and comments that begin with #. Quotes around a whole value
 * are removed, and nothing else is interpreted. Variables of the environment take precedence over the file.
 */
import { readFileSync, statSync } from "node:fs";
import { BadConfig, isVariable, type Variables } from "./config.ts";

export const configFileBytesMax = 65_536;

/**
 * @param file null: the environment alone
 * @throws BadConfig with one line that names the file, and the line in it
 */
export function withConfigFile(environment: Variables, file: string | null): Variables {
  return file === null ? environment : { ...parse(read(file), file), ...setIn(environment) };
}

/** An empty variable counts as absent. */
function setIn(environment: Variables): Variables {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
}

function read(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > configFileBytesMax)
      throw new BadConfig(`--config ${file}: it has more than ${configFileBytesMax} bytes`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof BadConfig) throw error;
    throw new BadConfig(`--config ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Messages name no values: they may be secrets (S2). */
function parse(text: string, file: string): Variables {
  const settings = new Map<string, string>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const where = `--config ${file}, line ${index + 1}`;
    const [, name, value] = /^([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new BadConfig(`${where}: it must be NAME=value`);
    if (!isVariable(name)) throw new BadConfig(`${where}: ${name} is not a setting: see colloquy serve --help`);
    if (settings.has(name)) throw new BadConfig(`${where}: ${name} is set twice`);
    settings.set(name, unquoted(value));
  }
  return Object.fromEntries(settings);
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}
