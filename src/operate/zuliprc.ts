/** `zuliprc`: the file from which existing clients and bots read their credentials. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { flushFolderSync } from "../store/folders.ts";

export interface Account {
  readonly email: string;
  readonly key: string;
  /** e.g. http://127.0.0.1:9991 */
  readonly site: string;
}

/**
 * Writes the file completely and private (mode 0600), or not at all. It is on disk when this returns, because the key
 * is stored nowhere else.
 */
export function writeZuliprc(file: string, { email, key, site }: Account): void {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(`${file}.new`, `[api]\nemail=${email}\nkey=${key}\nsite=${site}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw error;
  }
  flushFolderSync(dirname(file));
}

/**
 * The server's address differs from last time (another PORT, or PORT=0): updates the file, unless its site is not on
 * this machine, e.g. a proxy's name. A file that is missing or cannot be parsed is left unchanged.
 */
export function followAddress(file: string, site: string): void {
  let account: Account;
  try {
    account = readZuliprc(file);
  } catch {
    return;
  }
  const isOurs = /^https?:\/\/(127\.\d+\.\d+\.\d+|localhost|0\.0\.0\.0|\[[0-9a-f:]*\])(:\d+)?$/i.test(account.site);
  if (isOurs && account.site !== site) writeZuliprc(file, { ...account, site });
}

/**
 * The account of the file's key has another address now: updates the file. A file that is missing or cannot be parsed is
 * left unchanged, and so is one with a key that is not known.
 * @param emailOf the address of the account with this key
 */
export function followOwner(file: string, emailOf: (key: string) => string | undefined): void {
  let account: Account;
  try {
    account = readZuliprc(file);
  } catch {
    return;
  }
  const email = emailOf(account.key);
  if (email !== undefined && email !== account.email) writeZuliprc(file, { ...account, email });
}

/** @throws Error when the file cannot be read or lacks a field */
export function readZuliprc(file: string): Account {
  const fields = new Map<string, string>();
  for (const line of readFileSync(file, "utf8").split(/\r?\n/)) {
    const match = /^\s*(email|key|site)\s*=\s*(.*?)\s*$/.exec(line);
    if (match !== null) fields.set(match[1] ?? "", match[2] ?? "");
  }
  const [email, key, site] = ["email", "key", "site"].map((name) => fields.get(name));
  if (email === undefined || key === undefined || site === undefined)
    throw new Error(`${file} lacks email, key or site`);
  return { email, key, site };
}
