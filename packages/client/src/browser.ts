/** The package in browsers. */
import { Client, type ClientOptions } from "./client.ts";
import { type Credentials, checkCredentials } from "./zuliprc.ts";

export * from "./exports.ts";

/** Makes a client. No request is sent yet. @throws Error if the site is not an address */
export async function connect(credentials: Credentials, options: ClientOptions = {}): Promise<Client> {
  return new Client(checkCredentials(credentials), { ...options, userAgent: null });
}

/** A client of a page that the server itself serves, logged in by its cookie session (`POST /session`). */
export function connectSession(site: string, options: ClientOptions = {}): Client {
  return new Client({ site: site.replace(/\/+$/, ""), email: null, key: null }, { ...options, userAgent: null });
}
