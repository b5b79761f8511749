/** CLI commands for deliveries and commands that failed too often. */
import type { Command as Program } from "commander";
import { type CliTools, entryOf, withRows } from "./cli-time.ts";
import { systemClock } from "./runtime/clock.ts";
import { realmFolder } from "./runtime/realm-host.ts";
import { dropLetter, retryLetter, type ShownLetter, shownLetter, shownLetters } from "./store/dead-letters.ts";
import type { Environment } from "./store/environment.ts";

type Change = (environment: Environment, id: number) => string | null;

export function addDeadLetterCommands(program: Program, { dataDir, say, fail, withRoot }: CliTools): void {
  const letters = program
    .command("dead-letters")
    .description("list, retry or drop emails, outgoing webhooks and commands that failed too often");

  /** Only reads rows, so the server may be running. */
  const read = (label: string, work: (environment: Environment) => void) =>
    withRoot(false, (root) => withRows(realmFolder(dataDir(), entryOf(root, label, fail).id), work));

  const idOf = (text: string) =>
    /^[1-9]\d{0,15}$/.test(text) ? Number(text) : fail(`${JSON.stringify(text)} is not an id`);

  /** A running server would not notice the change, so none may be running. The next start finds what is due. */
  const change = async (given: readonly string[], label: string, one: Change, done: string) => {
    const problems: string[] = [];
    await withRoot(true, async (root) => {
      const entry = entryOf(root, label, fail);
      await withRows(realmFolder(dataDir(), entry.id), (environment) => {
        const isAll = given.length === 1 && given[0] === "all";
        for (const id of isAll ? shownLetters(environment).map((letter) => letter.id) : given.map(idOf)) {
          const problem = one(environment, id);
          if (problem === null) say(`${id}: ${done}`);
          else problems.push(`${id}: ${problem}`);
        }
      });
      root.putRealm({ ...entry, dueHint: 0 });
    });
    for (const problem of problems) say(problem);
    if (problems.length > 0) fail(`${problems.length} dead letters were not changed`);
  };

  letters
    .command("list")
    .description("one line each: id, time, number of attempts, what, why; the server may be running")
    .option("--realm <label>", "label of the realm", "")
    .action((options: { realm: string }) =>
      read(options.realm, (environment) => {
        const all = shownLetters(environment);
        for (const letter of all) say(lineOf(letter));
        if (all.length === 0) say("no dead letters");
      }),
    );

  letters
    .command("show")
    .description("show one dead letter as JSON; the server may be running")
    .argument("<id>")
    .option("--realm <label>", "label of the realm", "")
    .action((id: string, options: { realm: string }) =>
      read(options.realm, (environment) => {
        const letter = shownLetter(environment, idOf(id));
        if (letter === null) fail("there is no such dead letter");
        say(JSON.stringify(letter, null, 2));
      }),
    );

  letters
    .command("retry")
    .description("make them due at once: the next start of the server retries them (the server must not be running)")
    .argument("<ids...>", 'ids as `list` shows them, or "all"')
    .option("--realm <label>", "label of the realm", "")
    .action((ids: string[], options: { realm: string }) => {
      const now = systemClock.now();
      return change(ids, options.realm, (environment, id) => retryLetter(environment, id, now), "is due now");
    });

  letters
    .command("drop")
    .description("delete them (the server must not be running)")
    .argument("<ids...>", 'ids as `list` shows them, or "all"')
    .option("--realm <label>", "label of the realm", "")
    .action((ids: string[], options: { realm: string }) => change(ids, options.realm, dropLetter, "is dropped"));
}

function lineOf({ id, diedAt, attempts, what, reason }: ShownLetter): string {
  const count = attempts === null ? "" : ` after ${attempts} attempt${attempts === 1 ? "" : "s"}`;
  return `${id}  ${diedAt}${count}  ${what}: ${reason}`;
}
