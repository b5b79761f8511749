/** CLI commands about organizations. */
import type { Command as Program } from "commander";
import { AdminFailure } from "../operate/admin/operation.ts";
import {
  createRealmsOperation,
  deactivateRealmOperation,
  eraseRealmOperation,
  reactivateRealmOperation,
  rebuildSearchOperation,
} from "../operate/admin/realm-operations.ts";
import { addCommand, type RealmOptions, readInput, realmOption } from "./commands.ts";
import { type OutputOptions, perform } from "./session.ts";

interface CreateOptions extends OutputOptions {
  readonly email?: string;
  readonly name?: string;
  readonly host?: string[];
  readonly site?: string;
  readonly from?: string;
  readonly skipExisting: boolean;
}

type RequestedRealms = Parameters<typeof createRealmsOperation.run>[0]["realms"];

export function addRealmCommands(program: Program): void {
  addCommand(program, "create-realm")
    .description("create another organization, reachable under hosts whose first label is <label>, or many from a file")
    .argument("[label]", "first label of its host, e.g. sales for sales.chat.example.org")
    .option("--email <address>", "email address of its owner")
    .option("--name <name>", "name of the organization")
    .option("--host <host...>", "exact hosts in addition to the label")
    .option("--site <url>", "address to write into its zuliprc")
    .option("--from <file>", 'lines of JSON such as {"label":"sales","email":"eve@example.com"}; - is standard input')
    .option("--skip-existing", "with --from: leave out labels that exist", false)
    .action((label: string | undefined, options: CreateOptions) => {
      const params = { realms: requestedRealms(label, options), skip_existing: options.skipExisting };
      return perform(createRealmsOperation, params, options, ({ created, skipped }) => ({
        lines: [
          ...created.map((one) => `realm ${one.label} was created; credentials of its owner: ${one.zuliprc}`),
          ...(skipped === 0 ? [] : [`${skipped} existed already`]),
        ],
      }));
    });

  addRealmChange(program, "deactivate-realm", deactivateRealmOperation, "the organization is deactivated").description(
    "deactivate an organization: requests with its keys are rejected, and nothing is deleted",
  );
  addRealmChange(program, "reactivate-realm", reactivateRealmOperation, "the organization is active").description(
    "reactivate a deactivated organization",
  );

  addCommand(program, "erase-realm")
    .description("remove a deactivated organization and all its files for ever; earlier backups and archives keep it")
    .argument("<label>", "label of the organization")
    .requiredOption("--confirm <label>", "the same label once more: this cannot be undone")
    .action((realm: string, options: OutputOptions & { readonly confirm: string }) =>
      perform(eraseRealmOperation, { realm, confirm: options.confirm }, options, () => ({
        lines: [`organization ${realm} is erased`],
      })),
    );

  realmOption(addCommand(program, "rebuild-search"))
    .description("discard the search index; the server builds it again, and searches say meanwhile how far they looked")
    .action((options: RealmOptions) =>
      perform(rebuildSearchOperation, { realm: options.realm }, options, () => ({
        lines: ["the search index will be rebuilt"],
      })),
    );
}

function addRealmChange(
  program: Program,
  name: string,
  operation: typeof deactivateRealmOperation,
  done: string,
): Program {
  return addCommand(program, name)
    .argument("[label]", "label of the organization; by default the first one", "")
    .action((realm: string, options: OutputOptions) =>
      perform(operation, { realm }, options, () => ({ lines: [done] })),
    );
}

function requestedRealms(label: string | undefined, { email, name, host, site, from }: CreateOptions): RequestedRealms {
  if (from !== undefined) {
    if (label !== undefined) throw new AdminFailure("usage", "give a label or --from, not both");
    return readInput(from)
      .split(/\r?\n/)
      .flatMap((line, index) => (line.trim() === "" ? [] : [realmIn(line, index + 1)]));
  }
  if (label === undefined) throw new AdminFailure("usage", "give the label of the organization, or --from <file>");
  if (email === undefined) throw new AdminFailure("usage", "--email is missing: the address of its owner");
  return [
    {
      label,
      email,
      ...(name === undefined ? {} : { name }),
      ...(host === undefined ? {} : { hosts: host }),
      ...(site === undefined ? {} : { site }),
    },
  ];
}

/** The operation checks what is in it. */
function realmIn(line: string, number: number): RequestedRealms[number] {
  try {
    return JSON.parse(line) as RequestedRealms[number];
  } catch {
    throw new AdminFailure("input", `line ${number} is not JSON`);
  }
}
