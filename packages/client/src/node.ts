/** The package in Node and in other runtimes with files. */
import { readFile } from "node:fs/promises";
import { Client, type ClientOptions } from "./client.ts";
import { type Credentials, checkCredentials, parseZuliprc } from "./zuliprc.ts";

export * from "./exports.ts";

/**
 * Makes a client. No request is sent yet.
 * @param zuliprc the path of a zuliprc, its text, or what it contains
 * @throws Error if the credentials are incomplete, or the file cannot be read
 */
export async function connect(zuliprc: string | Credentials, options: ClientOptions = {}): Promise<Client> {
  const credentials = typeof zuliprc === "string" ? await readZuliprc(zuliprc) : checkCredentials(zuliprc);
  return new Client(credentials, { ...options, userAgent: options.userAgent ?? "colloquy-client" });
}

/** @param zuliprc a path, or the text of such a file, which has lines */
export async function readZuliprc(zuliprc: string): Promise<Credentials> {
  if (zuliprc.includes("\n")) return parseZuliprc(zuliprc);
  return parseZuliprc(await readFile(zuliprc, "utf8"), zuliprc);
}
