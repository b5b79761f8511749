// The file in which Zulip clients and bots keep their credentials: INI, section [api], keys email, key and site.

import { readFileSync } from "node:fs";

export interface Credentials {
  readonly email: string;
  readonly key: string;
}

/** Reads the credentials. Throws an error that names the file when something is missing. */
export function readZuliprc(path: string): Credentials {
  const fields = new Map<string, string>();
  let section = "";
  for (const line of readFileSync(path, "utf8").split(/\r?\n/)) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    const pair = /^\s*([a-z_]+)\s*[=:]\s*(.*?)\s*$/.exec(line);
    if (section === "api" && pair !== null) fields.set(pair[1] ?? "", pair[2] ?? "");
  }
  const email = fields.get("email");
  const key = fields.get("key");
  if (email === undefined || key === undefined) throw new Error(`${path} has no email and key in its [api] section`);
  return { email, key };
}
