/** Operations on accounts. */
import { randomBytes } from "node:crypto";
import { Type } from "typebox";
import { command } from "../../../actors/protocol/decision.ts";
import { resetLink } from "../../../domain/password-resets.ts";
import { checkFullName, isEmailAddress } from "../../../domain/text.ts";
import { limits } from "../../../schemas/limits.ts";
import { type Role, roles } from "../../../schemas/types.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { setupLink } from "../../operations/links.ts";
import { AdminFailure, defineOperation, emailParam, realmParam } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";
import { accountOf, ask, entryOf, roleName, withRealm } from "./realms.ts";

const realm = { actor: "realm" } as const;

type RoleName = keyof typeof roles;

const roleNames = Object.keys(roles);

const roleParam = Type.Unsafe<RoleName>(
  Type.Union(
    roleNames.map((name) => Type.Literal(name)),
    { description: `one of ${roleNames.join(", ")}` },
  ),
);

const passwordParam = Type.String({
  minLength: limits.password_code_points_min,
  maxLength: limits.password_bytes_max,
  description: "by default a random one",
});

export interface ListedUser {
  readonly id: number;
  readonly email: string;
  readonly fullName: string;
  readonly role: string;
  readonly isActive: boolean;
  readonly isBot: boolean;
  readonly joinedAt: string;
}

export const listUsersOperation = defineOperation({
  name: "list-users",
  summary: "Lists the accounts of an organization, with their addresses and roles.",
  params: {
    ...realmParam,
    bots: Type.Optional(Type.Boolean({ description: "bots, too" })),
    deactivated: Type.Optional(Type.Boolean({ description: "deactivated accounts, too" })),
  },
  async run({ realm: label, bots = false, deactivated = false }, ports) {
    const users = await ports.read(entryOf(ports, label), (lmdb) => {
      const found: ListedUser[] = [];
      lmdb.each("users", (user) => {
        if ((bots || user.botType === null) && (deactivated || user.isActive)) found.push(listedUser(user));
      });
      return found;
    });
    return { users };
  },
});

function listedUser({ id, email, fullName, role, isActive, botType, joinedAt }: UserRecord): ListedUser {
  return {
    id,
    email,
    fullName,
    role: roleName(role),
    isActive,
    isBot: botType !== null,
    joinedAt: new Date(joinedAt).toISOString(),
  };
}

export const createUserOperation = defineOperation({
  name: "create-user",
  summary: "Creates an account. Returns its password if it is a random one.",
  params: {
    ...realmParam,
    email: emailParam,
    full_name: Type.String(),
    role: Type.Optional(roleParam),
    password: Type.Optional(passwordParam),
  },
  async run({ realm: label, email, full_name: fullName, role: name = "member", password }, ports) {
    if (!isEmailAddress(email, limits.email_code_points_max))
      throw new AdminFailure("usage", "that is not a valid email address");
    const badName = checkFullName(fullName, limits.full_name_code_points_max);
    if (badName !== null) throw new AdminFailure("usage", badName.msg);
    const entry = entryOf(ports, label);
    const chosen = await passwordOf(ports, password);
    const params = { email, fullName, passwordHash: chosen.hash, role: roleNamed(name) };
    const { user_id: id } = await ports.withRealm(entry, (opened) =>
      ask(opened, command(realm, "user.create", params, null)),
    );
    return { user_id: id, ...chosen.shown };
  },
});

function roleNamed(name: RoleName): Role {
  return roles[name];
}

/** A random password is shown once; a given one is not repeated (S2). */
async function passwordOf(ports: AdminPorts, given: string | undefined) {
  const password = given ?? randomBytes(12).toString("base64url");
  const hash = await ports.hashPassword(password);
  if (hash === null) throw new AdminFailure("busy", "too many passwords are being hashed: try again");
  return { hash, shown: given === undefined ? { password } : {} };
}

export const setPasswordOperation = defineOperation({
  name: "set-password",
  summary: "Gives an account another password. Returns it if it is a random one.",
  params: { ...realmParam, email: emailParam, password: Type.Optional(passwordParam) },
  async run({ realm: label, email, password }, ports) {
    const entry = entryOf(ports, label);
    const chosen = await passwordOf(ports, password);
    await ports.withRealm(entry, async (opened) => {
      const { id } = accountOf(opened, email);
      const formerHash = opened.view.row("credentials", id)?.passwordHash ?? null;
      if (formerHash === null) throw new AdminFailure("refused", `${email} is a bot, and bots have no password`);
      const change = { settings: {}, fullName: null, password: { formerHash, hash: chosen.hash } };
      return ask(opened, command({ actor: "user", id }, "user.change-settings", change, id));
    });
    return chosen.shown as { readonly password?: string };
  },
});

export const resetLinkOperation = defineOperation({
  name: "reset-link",
  summary: "Makes a link that sets a new password for an account, once, within 24 hours. Earlier links are revoked.",
  params: { ...realmParam, email: emailParam },
  async run({ realm: label, email }, ports) {
    const entry = entryOf(ports, label);
    const { key, hash: keyHash } = ports.newKey();
    await ports.withRealm(entry, (opened) => {
      const { email: stored } = accountOf(opened, email);
      return ask(opened, command(realm, "password.reset-link", { email: stored, keyHash }, null));
    });
    return { link: resetLink(ports.siteOf(entry), key) };
  },
});

export const setupLinkOperation = defineOperation({
  name: "setup-link",
  summary: "Shows the link by which an organization is set up in a browser, until it is.",
  params: realmParam,
  async run({ realm: label }, ports) {
    const entry = entryOf(ports, label);
    const open = await ports.read(entry, (lmdb) => lmdb.get("setup", "owner"));
    if (open === undefined) throw new AdminFailure("refused", "this organization is set up: its owner has a password");
    return { link: setupLink(ports.siteOf(entry), open.secret) };
  },
});

export const setRoleOperation = defineOperation({
  name: "set-role",
  summary: "Gives an account another role.",
  params: { ...realmParam, email: emailParam, role: roleParam },
  async run({ realm: label, email, role }, ports) {
    await withRealm(ports, label, (opened) => {
      const params = { userId: accountOf(opened, email).id, role: roleNamed(role) };
      return ask(opened, command(realm, "user.set-role", params, null));
    });
    return {};
  },
});

export const deactivateUserOperation = defineOperation({
  name: "deactivate-user",
  summary: "Deactivates an account and its bots: their keys answer 401 and their connections end. Nothing is deleted.",
  params: { ...realmParam, email: emailParam },
  async run({ realm: label, email }, ports) {
    await withRealm(ports, label, (opened) => {
      const params = { userId: accountOf(opened, email).id, comment: null };
      return ask(opened, command(realm, "user.deactivate", params, null));
    });
    return {};
  },
});

export const reactivateUserOperation = defineOperation({
  name: "reactivate-user",
  summary: "Reactivates an account.",
  params: { ...realmParam, email: emailParam },
  async run({ realm: label, email }, ports) {
    await withRealm(ports, label, (opened) =>
      ask(opened, command(realm, "user.reactivate", { userId: accountOf(opened, email).id }, null)),
    );
    return {};
  },
});

export const newKeyOperation = defineOperation({
  name: "new-key",
  summary: "Revokes all API keys of an account and returns a new one.",
  params: {
    ...realmParam,
    email: emailParam,
    replaces: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: "whose credentials the new key will replace in a file: refused if that is another account",
      }),
    ),
  },
  async run({ realm: label, email, replaces = email }, ports) {
    const { key, hash } = ports.newKey();
    const address = await withRealm(ports, label, async (opened) => {
      const { id, email: stored } = accountOf(opened, email);
      const former = opened.view.users.byEmail(replaces);
      // The hash of a key is all that the server has, so a key that is overwritten is lost.
      if (former !== undefined && former.id !== id) {
        throw new AdminFailure(
          "refused",
          `the key of ${former.email} would be lost in that file, and nothing was changed: name another one (--zuliprc)`,
        );
      }
      await ask(opened, command({ actor: "user", id }, "user.api-key.regenerate", { hash }, id));
      return stored;
    });
    return { email: address, key };
  },
});

export const grantEmailChangesOperation = defineOperation({
  name: "grant-can-change-user-emails",
  summary: "Allows an owner to change other users' email addresses without confirmation, or revokes that.",
  params: { ...realmParam, email: emailParam, is_granted: Type.Boolean() },
  async run({ realm: label, email, is_granted: isGranted }, ports) {
    await withRealm(ports, label, (opened) =>
      ask(opened, command(realm, "user.grant-email-changes", { email, isGranted }, null)),
    );
    return {};
  },
});
