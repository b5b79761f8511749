/** The package in browsers. */
import { Client, type ClientOptions } from "./client.ts";
import { type Credentials, checkCredentials } from "./zuliprc.ts";

export * from "./exports.ts";

/** Makes a client. No request is sent yet. @throws Error if the site is not an address */
export async function connect(credentials: Credentials, options: ClientOptions = {}): Promise<Client> {
  return new Client(checkCredentials(credentials), { ...options, userAgent: null });
}
