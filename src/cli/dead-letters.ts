/** CLI commands for deliveries and commands that failed too often. */
import type { Command as Program } from "commander";
import {
  dropDeadLettersOperation,
  type LetterOutcome,
  listDeadLettersOperation,
  retryDeadLettersOperation,
  showDeadLetterOperation,
} from "../operate/admin/dead-letter-operations.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import type { DeadLetterSummary } from "../store/dead-letters.ts";
import { addCommand, type RealmOptions, realmOption } from "./commands.ts";
import { type Printed, perform } from "./session.ts";

export function addDeadLetterCommands(program: Program): void {
  const letters = program
    .command("dead-letters")
    .description("list, retry or drop emails, outgoing webhooks and commands that failed too often");

  realmOption(addCommand(letters, "list"))
    .description("one line each: id, time, number of attempts, what, why")
    .action((options: RealmOptions) =>
      perform(listDeadLettersOperation, { realm: options.realm }, options, ({ letters: all }) => ({
        lines: all.length === 0 ? ["no dead letters"] : all.map(lineOf),
      })),
    );

  realmOption(addCommand(letters, "show"))
    .description("show one dead letter as JSON")
    .argument("<id>")
    .action((id: string, options: RealmOptions) =>
      perform(showDeadLetterOperation, { realm: options.realm, id: idOf(id) }, options, ({ letter }) => ({
        lines: [JSON.stringify(letter, null, 2)],
      })),
    );

  realmOption(addCommand(letters, "retry"))
    .description("make them due at once; a stopped server retries them at its next start")
    .argument("<ids...>", 'ids as `list` shows them, or "all"')
    .action((given: string[], options: RealmOptions) => {
      const params = { realm: options.realm, ids: idsOf(given) };
      return perform(retryDeadLettersOperation, params, options, (result) => shown(result, "is due now"));
    });

  realmOption(addCommand(letters, "drop"))
    .description("delete them")
    .argument("<ids...>", 'ids as `list` shows them, or "all"')
    .action((given: string[], options: RealmOptions) => {
      const params = { realm: options.realm, ids: idsOf(given) };
      return perform(dropDeadLettersOperation, params, options, (result) => shown(result, "is dropped"));
    });
}

function shown({ letters }: { readonly letters: readonly LetterOutcome[] }, done: string): Printed {
  const failed = letters.filter(({ problem }) => problem !== null).length;
  return {
    lines: letters.map(({ id, problem }) => `${id}: ${problem ?? done}`),
    problem: failed === 0 ? null : `${failed} dead letters were not changed`,
  };
}

function idsOf(given: readonly string[]): "all" | number[] {
  return given.length === 1 && given[0] === "all" ? "all" : given.map(idOf);
}

function idOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new AdminFailure("usage", `${JSON.stringify(text)} is not an id`);
}

function lineOf({ id, diedAt, attempts, what, reason }: DeadLetterSummary): string {
  const count = attempts === null ? "" : ` after ${attempts} attempt${attempts === 1 ? "" : "s"}`;
  return `${id}  ${diedAt}${count}  ${what}: ${reason}`;
}
