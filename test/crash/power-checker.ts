/**
 * Opens data folders in the state after a power cut, one after the other, and reports what is wrong. It is a process of
 * its own, because a badly damaged store kills the process that opens it. One line of JSON in, one out.
 */

import { join } from "node:path";
import { createInterface } from "node:readline";
import { checkFolder } from "../../src/store/backup.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { RootStore } from "../../src/store/root.ts";
import { fetchFile } from "../support/attachments.ts";
import { auditRealm } from "../support/audit.ts";
import type { Client } from "../support/client.ts";
import { ascends, everything, readQueue, type Stored } from "../support/kept-messages.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { digestOf, type Expected, type ExpectedPost, promisedBy } from "./power-workload.ts";

export interface Question {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly expected: Expected;
}

export interface Report {
  /** One line for each promise that does not hold. */
  readonly lost: readonly string[];
  /** One line for each inconsistency. */
  readonly damaged: readonly string[];
}

const noTeardown = { teardown: () => undefined };

async function examine({ dataDir, environment, expected }: Question): Promise<Report> {
  const lost: string[] = [];
  const damaged: string[] = [];
  let server: TestServer;
  try {
    server = await startTestServer(noTeardown, { dataDir, environment });
  } catch (error) {
    return {
      lost: promisedBy(expected),
      damaged: [`it does not start: ${error instanceof Error ? error.stack : String(error)}`],
    };
  }
  try {
    if (!server.running.isZuliprcGood)
      (expected.isInitialized ? lost : damaged).push("the owner's credentials are rejected");
    else await lookAround(server.owner, expected, lost, damaged);
  } catch (error) {
    damaged.push(`a request fails: ${error instanceof Error ? error.stack : String(error)}`);
  }
  await server.stop();
  damaged.push(...(await auditFolder(dataDir)));
  return { lost, damaged };
}

async function lookAround(owner: Client, expected: Expected, lost: string[], damaged: string[]): Promise<void> {
  const stored = await everything(owner);
  comparePosts(stored, expected.posts, lost, damaged);
  for (const { url, digest } of expected.uploads) {
    // A file shorter than its row says ends the connection early.
    const page = await fetchFile(owner, url).catch(() => null);
    if (page?.status !== 200 || digestOf(page.bytes) !== digest) lost.push(`the file ${url} is gone`);
  }
  const sent = await owner.post("/messages", { type: "channel", to: "general", topic: "after", content: "after" });
  if (sent.status !== 200) damaged.push(`a post is rejected: ${JSON.stringify(sent.body)}`);
  if (expected.queue === null) return;
  const read = await readQueue(owner, expected.queue.id, expected.queue.lastEventId);
  if (read === null) {
    lost.push("the queue is gone");
    return;
  }
  const received = new Set(expected.posts.filter(({ isReceived }) => isReceived).map(({ key }) => key));
  const notReceived = stored.filter((message) => !received.has(keyOf(message, expected.posts))).map(({ id }) => id);
  const wanted = [...notReceived, sent.body.id as number];
  if (read.messageIds.join() !== wanted.join())
    damaged.push(`[E2] the queue delivers ${read.messageIds}, not ${wanted}`);
  const ids = [expected.queue.lastEventId, ...read.eventIds];
  if (!ascends(ids)) damaged.push(`[E1] event ids: ${ids}`);
}

function keyOf({ content }: Stored, posts: readonly ExpectedPost[]): string {
  return posts.find(({ contents }) => contents.includes(content))?.key ?? "";
}

function comparePosts(
  stored: readonly Stored[],
  posts: readonly ExpectedPost[],
  lost: string[],
  damaged: string[],
): void {
  const byContent = new Map(stored.map((message) => [message.content, message]));
  if (byContent.size !== stored.length) damaged.push("a message is there twice");
  const explained = new Set<number>();
  for (const { key, id, contents } of posts) {
    const found = contents.flatMap((content) => (content === null ? [] : (byContent.get(content) ?? [])))[0];
    if (found !== undefined) explained.add(found.id);
    if (found === undefined && !contents.includes(null)) lost.push(`${key} is gone`);
    if (found !== undefined && id !== 0 && found.id !== id) damaged.push(`${key} was ${id} and is ${found.id}`);
  }
  for (const { id, content } of stored) {
    if (!explained.has(id)) lost.push(`message ${id} reads ${content.slice(0, 40)}, which was never sent`);
  }
}

async function auditFolder(dataDir: string): Promise<string[]> {
  const root = RootStore.open(dataDir);
  const problems = await checkFolder(root, dataDir);
  await root.close();
  const lmdb = openLmdb(join(dataDir, "realms", "1"));
  problems.push(...auditRealm(lmdb));
  await lmdb.close();
  return problems;
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await examine(JSON.parse(line) as Question))}\n`);
}
process.exit(0);
