/**
 * Data folders that older programs wrote (test/store/fixtures), and what those programs answered about them: a newer
 * program must answer the same.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, Client, type Params } from "./client.ts";
import { HostClient } from "./http.ts";
import { checkout } from "./process.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export const fixturesFolder = join(checkout, "test/store/fixtures");

/** Beside the data folder in the archive. */
export const knownFile = "known.json";

export interface KnownAnswers {
  readonly accounts: readonly (Account & { readonly host: string })[];
  readonly answers: readonly unknown[];
}

export interface OlderStore extends KnownAnswers {
  readonly dataDir: string;
}

/** Unpacks a fixture into a folder of its own. */
export function unpackStore(t: Teardown, name: string): OlderStore {
  const folder = temporaryFolder(t);
  const { status, stderr } = spawnSync("tar", ["-xzf", join(fixturesFolder, name), "-C", folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`cannot unpack ${name}: ${stderr}`);
  const known = JSON.parse(readFileSync(join(folder, knownFile), "utf8")) as KnownAnswers;
  return { ...known, dataDir: join(folder, "data") };
}

const history: Params = { anchor: "newest", num_before: 100, num_after: 0, apply_markdown: false };

/** Everything that an account sees and that does not depend on the time. */
const questions: readonly (readonly [string, Params])[] = [
  ["/messages", history],
  ["/messages", { ...history, apply_markdown: true }],
  ["/messages", { ...history, narrow: [{ operator: "is", operand: "unread" }] }],
  ["/messages", { ...history, narrow: [{ operator: "is", operand: "starred" }] }],
  ["/messages", { ...history, narrow: [{ operator: "search", operand: "soup" }] }],
  ["/users", {}],
  ["/users/me/subscriptions", {}],
  ["/user_groups", {}],
  ["/drafts", {}],
];

/** Of /register, which makes a queue. */
const sections = ["message", "update_message_flags", "starred_messages", "user_topic", "muted_users"] as const;
const statesCompared = ["unread_msgs", "starred_messages", "user_topics", "muted_users"] as const;

/** Asks as each account, in order. */
export async function askAll(url: string, accounts: KnownAnswers["accounts"]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const { host, ...account } of accounts) {
    const asking = new HostClient(new Client(url, account), host);
    for (const [path, params] of questions) answers.push({ path, body: (await asking.get(path, params)).body });
    const { body } = await asking.post("/register", { fetch_event_types: sections });
    for (const state of statesCompared) answers.push({ state, value: body[state] });
  }
  return answers;
}
