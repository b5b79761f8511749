/** The command line for administration: realms, users, backups, checks. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command as Program } from "commander";
import { command } from "../actors/protocol/commands.ts";
import { limits } from "../schemas/limits.ts";
import { programVersion } from "../schemas/server.ts";
import { type Role, roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";
import { breakChain } from "./archive/chain.ts";
import { restoreArchive } from "./archive/restore-archive.ts";
import { parseRestoreTime } from "./archive/restore-plan.ts";
import { addDeadLetterCommands } from "./cli-dead-letters.ts";
import { addTimeCommands } from "./cli-time.ts";
import { withConfigFile } from "./config-file.ts";
import { ownProperty } from "./domain/own-property.ts";
import { checkFullName, isEmailAddress } from "./domain/text.ts";
import { hashApiKey } from "./http/authentication.ts";
import { Passwords } from "./http/passwords.ts";
import { newApiKey } from "./http/secrets.ts";
import { offline } from "./journal/durability.ts";
import { journalPorts, settleFolder } from "./journal/settle-folder.ts";
import { listen } from "./listen.ts";
import { createRealm } from "./realm-creation.ts";
import { systemClock } from "./runtime/clock.ts";
import type { Alarm } from "./runtime/dispatcher.ts";
import { Realm } from "./runtime/realm.ts";
import { backupFolder, checkFolder } from "./store/backup.ts";
import { realmFolder } from "./store/realm-folders.ts";
import { restoreBackup } from "./store/restore.ts";
import { RootStore } from "./store/root.ts";
import { searchStateKey, startedAnew, stateOf } from "./store/search-index.ts";
import { readZuliprc, writeZuliprc } from "./zuliprc.ts";

const dataDir = () => resolve(process.env["DATA_DIR"] || "./data");
const alarm: Alarm = {
  bug: (error) => fail(String(error)),
  fatal: (error) => fail(String(error)),
  warn: (line) => void process.stderr.write(`colloquy: ${line}\n`),
};

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(message: string): never {
  process.stderr.write(`colloquy: ${message}\n`);
  process.exit(1);
}

/**
 * Opens the root of an existing data folder.
 * @param isExclusive whether the server must not be running
 * @param changes whether the work changes the stores
 */
async function withRoot<T>(
  isExclusive: boolean,
  work: (root: RootStore) => Promise<T>,
  changes = isExclusive,
): Promise<T> {
  if (!existsSync(join(dataDir(), "root"))) fail(`${dataDir()} has no data: start the server first`);
  const root = RootStore.open(dataDir());
  if (isExclusive) root.lock();
  try {
    // A server that was killed left turns in the journal.
    if (isExclusive) await settleFolder(dataDir());
    // The archive would not notice the changes.
    if (changes) breakChain(dataDir());
    return await work(root);
  } finally {
    if (isExclusive) root.unlock();
    await root.close();
  }
}

const program = new Program("colloquy")
  .description("Colloquy's command line. DATA_DIR is the data folder.")
  .version(programVersion)
  .option("--config <file>", "settings of the server, for its DATA_DIR")
  .addHelpText("after", "\n`colloquy serve` runs the server, and `colloquy serve --help` lists its settings.")
  .hook("preAction", () => {
    const { config } = program.opts<{ config?: string }>();
    Object.assign(process.env, withConfigFile(process.env, config ?? null));
  });

program
  .command("create-realm")
  .description(
    "create another organization, reachable under hosts whose first label is <label>; the server may be running",
  )
  .argument("<label>", "first label of its host, e.g. sales for sales.chat.example.org")
  .requiredOption("--email <address>", "email address of its owner")
  .option("--name <name>", "name of the organization")
  .option("--host <host...>", "exact hosts in addition to the label")
  .option("--site <url>", "address to write into its zuliprc", "http://127.0.0.1:9991")
  .action(async (label: string, options: { email: string; name?: string; host?: string[]; site: string }) => {
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
      fail("a label has only lower-case letters, digits and dashes");
    if (!isEmailAddress(options.email, limits.email_code_points_max)) fail("--email is not a valid email address");
    await withRoot(false, async (root) => {
      const hosts = (options.host ?? []).map(normalHost);
      const file = join(dataDir(), `zuliprc.${label}`);
      await createRealm(
        {
          label,
          hosts,
          name: options.name ?? label,
          ownerEmail: options.email,
          ownerPassword: null,
        },
        { dataDir: dataDir(), root, clock: systemClock, alarm },
        (key) => writeZuliprc(file, { email: options.email, key, site: options.site }),
      );
      say(`realm ${label} was created; credentials of its owner: ${file}`);
    });
  });

/** The form in which Host headers are compared: lower case, without port (D4). */
function normalHost(host: string): string {
  const normal = host.toLowerCase().replace(/:\d+$/, "");
  if (!/^[a-z0-9.-]+$/.test(normal)) fail(`${JSON.stringify(host)} is not a host name`);
  return normal;
}

program
  .command("create-user")
  .description("create an account (the server must not be running; while it is, use POST /users)")
  .argument("<email>")
  .argument("<full name>")
  .option("--role <role>", `one of ${Object.keys(roles).join(", ")}`, "member")
  .option("--realm <label>", "label of the realm", "")
  .action(async (email: string, fullName: string, options: { role: string; realm: string }) => {
    const role = ownProperty<Role>(roles, options.role);
    if (role === undefined) fail(`--role must be one of ${Object.keys(roles).join(", ")}`);
    if (!isEmailAddress(email, limits.email_code_points_max)) fail("that is not a valid email address");
    const badName = checkFullName(fullName, limits.full_name_code_points_max);
    if (badName !== null) fail(badName.msg);
    const password = randomBytes(12).toString("base64url");
    const passwordHash = await new Passwords().hash(password);
    if (passwordHash === null) fail("the password could not be hashed");
    const made = await withRealm(options.realm, (realm) =>
      realm.dispatcher.ask(command({ actor: "realm" }, "user.create", { email, fullName, passwordHash, role }, null)),
    );
    if (made.kind === "refused") fail(made.msg);
    say(`user ${made.answer.user_id} was created; password: ${password}`);
  });

function withRealm<T>(label: string, work: (realm: Realm) => Promise<T>): Promise<T> {
  return withRoot(true, async (root) => {
    const entry = root.realms().find((candidate) => candidate.label === label);
    if (entry === undefined) fail(`there is no realm ${JSON.stringify(label)}`);
    const folder = realmFolder(dataDir(), entry.id);
    const realm = new Realm({
      folder,
      clock: systemClock,
      alarm,
      acceptsWrites: () => true,
      owner: root.token,
      durability: offline,
    });
    try {
      return await work(realm);
    } finally {
      await realm.close();
    }
  });
}

program
  .command("reactivate-realm")
  .description("reactivate a deactivated organization (the server must not be running)")
  .argument("[label]", "label of the realm", "")
  .action(async (label: string) => {
    const done = await withRealm(label, (realm) =>
      realm.dispatcher.ask(command({ actor: "realm" }, "realm.reactivate", {}, null)),
    );
    if (done.kind === "refused") fail(done.msg);
    say("the organization is active");
  });

program
  .command("grant-can-change-user-emails")
  .description(
    "allow an owner to change other users' email addresses without confirmation (the server must not be running)",
  )
  .argument("<email>", "email address of the account")
  .option("--revoke", "revoke the permission", false)
  .option("--realm <label>", "label of the realm", "")
  .action(async (email: string, options: { revoke: boolean; realm: string }) => {
    const isGranted = !options.revoke;
    const granted = await withRealm(options.realm, (realm) =>
      realm.dispatcher.ask(command({ actor: "realm" }, "user.grant-email-changes", { email, isGranted }, null)),
    );
    if (granted.kind === "refused") fail(granted.msg);
    say(`${email} may ${isGranted ? "now" : "no longer"} change other users' email addresses (owners only)`);
  });

program
  .command("new-key")
  .description(
    "give an account a new API key and write its zuliprc; all earlier keys are revoked (the server must not be running)",
  )
  .argument("<email>", "email address of the account")
  .option("--realm <label>", "label of the realm", "")
  .option(
    "--zuliprc <file>",
    "file to write; its site is kept (default: DATA_DIR/zuliprc, with the realm's label if it has one)",
  )
  .action(async (email: string, options: { realm: string; zuliprc?: string }) => {
    const key = newApiKey();
    const made = await withAccount(email, options.realm, (realm, { id }) =>
      realm.dispatcher.ask(command({ actor: "user", id }, "user.api-key.regenerate", { hash: hashApiKey(key) }, id)),
    );
    if (made.kind === "refused") fail(made.msg);
    const file = resolve(
      options.zuliprc ?? join(dataDir(), `zuliprc${options.realm === "" ? "" : `.${options.realm}`}`),
    );
    writeZuliprc(file, { email, key, site: existsSync(file) ? readZuliprc(file).site : "http://127.0.0.1:9991" });
    say(`the new key of ${email} is in ${file}`);
  });

program
  .command("set-password")
  .description("give an account a new random password (the server must not be running)")
  .argument("<email>", "email address of the account")
  .option("--realm <label>", "label of the realm", "")
  .action(async (email: string, options: { realm: string }) => {
    const password = randomBytes(12).toString("base64url");
    const hash = await new Passwords().hash(password);
    if (hash === null) fail("the password could not be hashed");
    const made = await withAccount(email, options.realm, (realm, { id }) => {
      const formerHash = realm.view.row("credentials", id)?.passwordHash ?? null;
      if (formerHash === null) fail(`${email} is a bot, and bots have no password`);
      const change = { settings: {}, fullName: null, password: { formerHash, hash } };
      return realm.dispatcher.ask(command({ actor: "user", id }, "user.change-settings", change, id));
    });
    if (made.kind === "refused") fail(made.msg);
    say(`password of ${email}: ${password}`);
  });

/** Runs work on an account of a realm while the server is not running. */
function withAccount<T>(
  email: string,
  label: string,
  work: (realm: Realm, user: UserRecord) => Promise<T>,
): Promise<T> {
  return withRealm(label, async (realm) => {
    const user = realm.view.users.byEmail(email);
    if (user === undefined) fail(`there is no account ${email}`);
    return work(realm, user);
  });
}

program
  .command("rebuild-search")
  .description(
    "delete the search index; the server rebuilds it, and searches stay complete meanwhile (the server must not be running)",
  )
  .option("--realm <label>", "label of the realm", "")
  .action(async (options: { realm: string }) => {
    await withRealm(options.realm, async ({ environment, dispatcher }) => {
      const state = stateOf(environment.get("searchState", searchStateKey));
      dispatcher.maintain(() => environment.put("searchState", searchStateKey, startedAnew(state)));
    });
    say("the search index will be rebuilt");
  });

program
  .command("listen")
  .description("print every event as it arrives over the WebSocket, one line of JSON each")
  .argument("[types...]", "event types; default: all")
  .option("--zuliprc <file>", "credentials (default: DATA_DIR/zuliprc)")
  .option("--count <n>", "stop after this many events", (text) => Number(text), Number.POSITIVE_INFINITY)
  .action(async (types: string[], options: { zuliprc?: string; count: number }) => {
    const account = readZuliprc(options.zuliprc ?? join(dataDir(), "zuliprc"));
    const ended = await listen(account, {
      types,
      count: options.count,
      onEvent: (event) => say(JSON.stringify(event)),
    });
    if (ended !== null) fail(ended);
  });

program
  .command("backup")
  .description("copy all data, compacted and consistent, to a new folder; the server may be running")
  .argument("<folder>", "must not exist yet")
  .action(async (folder: string) => {
    if (existsSync(folder)) fail(`${folder} exists already`);
    const holder = { now: systemClock.now, warn: alarm.warn };
    const ports = { ...holder, ...journalPorts(dataDir(), holder) };
    const problems = await withRoot(false, (root) => backupFolder(root, dataDir(), resolve(folder), ports));
    for (const problem of problems) say(problem);
    if (problems.length > 0) fail(`${problems.length} problems in ${resolve(folder)}: keep an older backup`);
    say(`backup is at ${resolve(folder)}`);
  });

program
  .command("restore")
  .description(
    "restore a backup, or a moment of an archive, into an empty DATA_DIR; earlier event queues become invalid",
  )
  .argument("<folder>", "a folder written by `backup`, or with --to the ARCHIVE_DIR of a server, which may be running")
  .option("--to <time>", "the moment: ISO 8601 with a time zone, Unix seconds, or latest")
  .action(async (folder: string, options: { to?: string }) => {
    if (options.to === undefined) {
      await restoreBackup(resolve(folder), dataDir(), settleFolder);
      say(`restored to ${dataDir()}`);
      return;
    }
    const time = parseRestoreTime(options.to) ?? fail(`--to ${options.to} is not a time such as 2026-11-24T12:00:00Z`);
    const { at, problems } = await restoreArchive(resolve(folder), dataDir(), time);
    say(`restored to ${dataDir()} as it was at ${new Date(at).toISOString()}`);
    for (const problem of problems) say(problem);
    if (problems.length > 0) fail(`${problems.length} problems in ${dataDir()}`);
  });

program
  .command("check")
  .description("read every row of every realm and check indexes against their rows (the server must not be running)")
  .action(async () => {
    const problems = await withRoot(true, (root) => checkFolder(root, dataDir()), false);
    for (const problem of problems) say(problem);
    if (problems.length > 0) fail(`${problems.length} problems`);
    say("no problems");
  });

const tools = { dataDir, say, fail, withRoot, withRealm };
addTimeCommands(program, tools);
addDeadLetterCommands(program, tools);

await program.parseAsync().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
