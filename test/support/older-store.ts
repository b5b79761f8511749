/**
 * Data folders that older programs wrote (test/store/fixtures), and what those programs answered about them: a newer
 * program must answer the same.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, type Answer, Client, type Params } from "./client.ts";
import { HostClient } from "./http.ts";
import { checkout } from "./process.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export const fixturesFolder = join(checkout, "test/store/fixtures");

/** Beside the data folder in the archive. */
export const knownFile = "known.json";

export interface KnownAnswers {
  readonly accounts: readonly (Account & { readonly host: string })[];
  readonly answers: readonly OldAnswer[];
}

export interface OldAnswer {
  /** What was asked. */
  readonly asked: string;
  /** null where the program had no such operation. */
  readonly value: Readonly<Record<string, unknown>> | null;
}

export interface OlderStore extends KnownAnswers {
  readonly dataDir: string;
}

/** Unpacks the store of a version into a folder of its own. */
export function unpackStore(t: Teardown, version: number): OlderStore {
  const name = `version-${version}.tar.gz`;
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

/** Each account's questions; null where an older program has no such operation. */
export async function askAll(url: string, accounts: KnownAnswers["accounts"]): Promise<OldAnswer[]> {
  const answers: OldAnswer[] = [];
  for (const { host, ...account } of accounts) {
    const asking = new HostClient(new Client(url, account), host);
    for (const [path, params] of questions) {
      answers.push({ asked: askedAs(path, params), value: await bodyIfKnown(asking.get(path, params)) });
    }
    const { body } = await asking.post("/register", { fetch_event_types: sections });
    for (const state of statesCompared) answers.push({ asked: state, value: { [state]: body[state] } });
  }
  return answers;
}

function askedAs(path: string, params: Params): string {
  return Object.keys(params).length === 0 ? path : `${path} ${JSON.stringify(params)}`;
}

/** The tests check each answer against the API documents, which do not say that an operation does not exist. */
async function bodyIfKnown(answer: Promise<Answer>): Promise<OldAnswer["value"]> {
  try {
    return (await answer).body;
  } catch (error) {
    if (/"code":"NOT_FOUND"/.test(String(error))) return null;
    throw error;
  }
}

/**
 * What a program says now of what an older one said: later programs add fields to an answer.
 * @param then what the older program answered
 */
export function saidThen(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then)) return now.map((item, index) => saidThen(item, then[index]));
  if (!isRecord(now) || !isRecord(then)) return now;
  return Object.fromEntries(
    Object.keys(then).flatMap((key) => (key in now ? [[key, saidThen(now[key], then[key])]] : [])),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
