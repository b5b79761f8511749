/**
 * The things that administrative operations create in a running server and in a stopped data folder alike: keys,
 * hashes, realms.
 */
import { join } from "node:path";
import { hashApiKey } from "../operations/identity/authentication.ts";
import { Passwords } from "../operations/identity/passwords.ts";
import { newSecret } from "../operations/identity/secrets.ts";
import type { AdminPorts } from "./admin/ports.ts";
import { createRealm, type RealmCreationTools } from "./realm-creation.ts";
import { writeZuliprc } from "./zuliprc.ts";

/** @param site the server's address, for credentials */
export function creationPorts(
  tools: RealmCreationTools & { readonly onceOwned?: (id: number) => Promise<void> },
  site: () => string,
): Pick<AdminPorts, "hashPassword" | "newKey" | "createRealm"> {
  const passwords = new Passwords();
  /** One at a time: the folder has a single draft. */
  let last: Promise<unknown> = Promise.resolve();
  return {
    hashPassword: (password) => passwords.hash(password),
    newKey() {
      const key = newSecret();
      return { key, hash: hashApiKey(key) };
    },
    createRealm(wanted) {
      const file = join(tools.dataDir, `zuliprc.${wanted.label}`);
      const create = async () => {
        const id = await createRealm({ ...wanted, ownerPassword: null }, tools, (key) =>
          writeZuliprc(file, { email: wanted.ownerEmail, key, site: wanted.site ?? site() }),
        );
        await tools.onceOwned?.(id);
      };
      const made = last.then(create, create);
      last = made;
      return made.then(() => file);
    },
  };
}
