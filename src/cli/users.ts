/** CLI commands about accounts. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command as Program } from "commander";
import { ownProperty } from "../../domain/own-property.ts";
import { roles } from "../../schemas/types.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import {
  createUserOperation,
  deactivateUserOperation,
  grantEmailChangesOperation,
  listUsersOperation,
  newKeyOperation,
  reactivateUserOperation,
  resetLinkOperation,
  setPasswordOperation,
  setRoleOperation,
  setupLinkOperation,
} from "../operate/admin/user-operations.ts";
import { readZuliprc, writeZuliprc } from "../operate/zuliprc.ts";
import { addCommand, type RealmOptions, readSecret, realmOption } from "./commands.ts";
import { dataDir, perform, say } from "./session.ts";

interface ListOptions extends RealmOptions {
  readonly bots: boolean;
  readonly deactivated: boolean;
}

interface PasswordOptions extends RealmOptions {
  readonly passwordFile?: string;
}

interface CreateOptions extends PasswordOptions {
  readonly role: string;
}

export function addUserCommands(program: Program): void {
  realmOption(addCommand(program, "list-users"))
    .description("one line for each account: id, role, address, name")
    .option("--bots", "bots, too", false)
    .option("--deactivated", "deactivated accounts, too", false)
    .action((options: ListOptions) => {
      const { realm, bots, deactivated } = options;
      return perform(listUsersOperation, { realm, bots, deactivated }, options, ({ users }) => ({
        lines: users.map(
          ({ id, email, fullName, role, isActive, isBot }) =>
            `${id}  ${isBot ? "bot" : role}${isActive ? "" : " (deactivated)"}  ${email}  ${fullName}`,
        ),
      }));
    });
  addAccountCommands(program);
  addCredentialCommands(program);
}

function addAccountCommands(program: Program): void {
  passwordOption(realmOption(addCommand(program, "create-user")))
    .description("create an account; a random password is printed")
    .argument("<email>")
    .argument("<full name>")
    .option("--role <role>", `one of ${Object.keys(roles).join(", ")}`, "member")
    .action((email: string, fullName: string, options: CreateOptions) => {
      const role = roleOf(options.role, "--role");
      const params = { realm: options.realm, email, full_name: fullName, role, ...passwordOf(options) };
      return perform(createUserOperation, params, options, ({ user_id: id, password }) => ({
        lines: [`user ${id} was created${password === undefined ? "" : `; password: ${password}`}`],
      }));
    });

  accountCommand(program, "deactivate-user")
    .description("deactivate an account and its bots: keys answer 401, connections end, nothing is deleted")
    .action((email: string, options: RealmOptions) =>
      perform(deactivateUserOperation, { realm: options.realm, email }, options, () => ({
        lines: [`${email} is deactivated`],
      })),
    );

  accountCommand(program, "reactivate-user")
    .description("reactivate an account")
    .action((email: string, options: RealmOptions) =>
      perform(reactivateUserOperation, { realm: options.realm, email }, options, () => ({
        lines: [`${email} is active`],
      })),
    );

  accountCommand(program, "set-role")
    .description("give an account another role")
    .argument("<role>", `one of ${Object.keys(roles).join(", ")}`)
    .action((email: string, name: string, options: RealmOptions) => {
      const params = { realm: options.realm, email, role: roleOf(name, "the role") };
      return perform(setRoleOperation, params, options, () => ({ lines: [`${email} is ${name} now`] }));
    });

  accountCommand(program, "grant-can-change-user-emails")
    .description("allow an owner to change other users' email addresses without confirmation")
    .option("--revoke", "revoke the permission", false)
    .action((email: string, options: RealmOptions & { readonly revoke: boolean }) => {
      const isGranted = !options.revoke;
      const params = { realm: options.realm, email, is_granted: isGranted };
      return perform(grantEmailChangesOperation, params, options, () => ({
        lines: [`${email} may ${isGranted ? "now" : "no longer"} change other users' email addresses (owners only)`],
      }));
    });
}

function addCredentialCommands(program: Program): void {
  passwordOption(accountCommand(program, "set-password"))
    .description("give an account another password; a random one is printed")
    .action((email: string, options: PasswordOptions) => {
      const params = { realm: options.realm, email, ...passwordOf(options) };
      return perform(setPasswordOperation, params, options, ({ password }) => ({
        lines: [password === undefined ? `the password of ${email} is set` : `password of ${email}: ${password}`],
      }));
    });

  accountCommand(program, "reset-link")
    .description("print a link that sets a new password for an account, once, within 24 hours")
    .action((email: string, options: RealmOptions) =>
      perform(resetLinkOperation, { realm: options.realm, email }, options, ({ link }) => ({ lines: [link] })),
    );

  realmOption(addCommand(program, "setup-link"))
    .description("print the link by which an organization is set up in a browser, until it is")
    .action((options: RealmOptions) =>
      perform(setupLinkOperation, { realm: options.realm }, options, ({ link }) => ({ lines: [link] })),
    );

  accountCommand(program, "new-key")
    .description("give an account a new API key and write its zuliprc; all earlier keys are revoked")
    .option(
      "--zuliprc <file>",
      "file to write; its site is kept (default: DATA_DIR/zuliprc, with the organization's label if it has one)",
    )
    .action((email: string, options: RealmOptions & { readonly zuliprc?: string }) => {
      const own = join(dataDir(), `zuliprc${options.realm === "" ? "" : `.${options.realm}`}`);
      const file = resolve(options.zuliprc ?? own);
      return replaceKey(email, file, options.zuliprc === undefined ? ownedBy(file) : namedFile(file), options);
    });
}

interface KeyFile {
  readonly site: string;
  /** The user whose credentials the file has, unless the user named the file and so wants to replace them. */
  readonly replaces?: string;
}

const newFile: KeyFile = { site: "http://127.0.0.1:9991" };

/** The server's own file may be damaged: this is the command that writes it again. */
function ownedBy(file: string): KeyFile {
  try {
    const { site, email } = readZuliprc(file);
    return { site, replaces: email };
  } catch {
    return newFile;
  }
}

/** @throws Error when the file is there and is no zuliprc: it may have been named by mistake */
function namedFile(file: string): KeyFile {
  return existsSync(file) ? { site: readZuliprc(file).site } : newFile;
}

/** The key is in the file only (S2). */
function replaceKey(email: string, file: string, { site, ...params }: KeyFile, options: RealmOptions): Promise<void> {
  return perform(newKeyOperation, { realm: options.realm, email, ...params }, { json: false }, (account) => {
    try {
      writeZuliprc(file, { ...account, site });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new AdminFailure(
        "output",
        `${file} cannot be written (${String(code)}): the old keys are revoked, run new-key again`,
      );
    }
    if (options.json === true) say(JSON.stringify({ email: account.email, zuliprc: file }));
    return { lines: options.json === true ? [] : [`the new key of ${email} is in ${file}`] };
  });
}

function accountCommand(program: Program, name: string): Program {
  return realmOption(addCommand(program, name)).argument("<email>", "email address of the account");
}

function passwordOption(program: Program): Program {
  return program.option("--password-file <file>", "its first line is the password; - is standard input");
}

function passwordOf({ passwordFile }: PasswordOptions): { readonly password?: string } {
  return passwordFile === undefined ? {} : { password: readSecret(passwordFile) };
}

function roleOf(name: string, what: string): keyof typeof roles {
  if (ownProperty(roles as Readonly<Record<string, number>>, name) !== undefined) return name as keyof typeof roles;
  throw new AdminFailure("usage", `${what} must be one of ${Object.keys(roles).join(", ")}`);
}
