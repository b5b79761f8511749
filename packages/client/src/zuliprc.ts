/** Credentials, and the file in which clients of the Zulip API keep them: INI with email, key and site in `[api]`. */

export interface Credentials {
  /** Address of the server, such as `https://chat.example.com`. */
  readonly site: string;
  readonly email: string;
  /** The account's API key. */
  readonly key: string;
}

/** A page of the server itself: the browser sends the session's cookie, which scripts cannot read. */
export interface SessionAccess {
  readonly site: string;
  readonly email: null;
  readonly key: null;
}

/** How a client proves who it is. */
export type Access = Credentials | SessionAccess;

/**
 * @param name of the file, for the error message
 * @throws Error if a field is missing
 */
export function parseZuliprc(text: string, name = "zuliprc"): Credentials {
  const fields = new Map<string, string>();
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    const pair = /^\s*(email|key|site)\s*[=:]\s*(.*?)\s*$/.exec(line);
    if (section === "api" && pair !== null) fields.set(pair[1] ?? "", pair[2] ?? "");
  }
  const [site, email, key] = ["site", "email", "key"].map((field) => fields.get(field) ?? "");
  if (!site || !email || !key) throw new Error(`${name} needs email, key and site in its section [api]`);
  return checkCredentials({ site, email, key });
}

/** @throws Error if the site is not an address */
export function checkCredentials({ site, email, key }: Credentials): Credentials {
  const address = /^https?:\/\//i.test(site) ? site : `https://${site}`;
  if (!URL.canParse(address)) throw new Error(`"${site}" is not the address of a server`);
  return { site: address.replace(/\/+$/, ""), email, key };
}
