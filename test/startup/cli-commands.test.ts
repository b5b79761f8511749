/** What all commands of the command line have in common, in a walk over their table. */
import type { Command } from "commander";
import t from "tap";
import { commandLine } from "../../src/cli/program.ts";

/** Commands without subcommands. */
function leavesOf(program: Command, path = ""): { readonly path: string; readonly command: Command }[] {
  return program.commands.flatMap((command) => {
    const name = `${path} ${command.name()}`.trimStart();
    return command.commands.length === 0 ? [{ path: name, command }] : leavesOf(command, name);
  });
}

t.test("every command has --json, and a description", async (t) => {
  const leaves = leavesOf(commandLine());
  t.ok(leaves.length > 30, `${leaves.length} commands`);
  for (const { path, command } of leaves) {
    t.ok(
      command.options.some(({ long }) => long === "--json"),
      path,
    );
    t.ok(command.description().length > 10, `${path}: ${command.description()}`);
  }
});

t.test("[S2] no command takes a secret as an argument", async (t) => {
  for (const { path, command } of leavesOf(commandLine())) {
    const names = [
      ...command.options.map(({ long }) => long ?? ""),
      ...command.registeredArguments.map((argument) => argument.name()),
    ];
    const found = names.filter((name) => /password|secret|token|key/.test(name) && !/-file$/.test(name));
    t.strictSame(found, [], path);
  }
});
