/** A server with an archive, as a program, and a server on what was restored from it. */
import { join } from "node:path";
import type { Test } from "tap";
import type { Client } from "../support/client.ts";
import { everything } from "../support/kept-messages.ts";
import { runCli, type ServerProgram, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { isComplete, pauseAfter, restoreTo, until } from "./archive-support.ts";

export interface ArchivedServer extends ServerProgram {
  readonly dataDir: string;
  readonly archive: string;
}

export interface ArchivedFolders {
  readonly dataDir?: string;
  readonly archive?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Resolves when moments can be restored. */
export async function startArchived(t: Test, given: ArchivedFolders = {}): Promise<ArchivedServer> {
  const { dataDir = join(temporaryFolder(t), "data"), archive = temporaryFolder(t), environment = {} } = given;
  const program = await startProgram(t, dataDir, { ...environment, ARCHIVE_DIR: archive });
  await complete({ archive, dataDir });
  return { ...program, dataDir, archive };
}

export function post(client: Client, content: string): Promise<number> {
  return client.say("general", "plans", content);
}

export function complete({ archive, dataDir }: Pick<ArchivedServer, "archive" | "dataDir">): Promise<void> {
  return until(() => isComplete(archive, dataDir));
}

/** A moment between what was answered before and what is asked for afterwards. */
export async function moment(): Promise<string> {
  const time = Date.now();
  await pauseAfter(time);
  return new Date(time).toISOString();
}

/** A server on what was restored, which has the credentials of the original. */
export async function startRestored(t: Test, archive: string, time: string) {
  const dataDir = join(temporaryFolder(t), "restored");
  const restored = await restoreTo(t, archive, dataDir, time);
  t.strictSame([restored.code, restored.stderr], [0, ""], restored.stdout);
  t.strictSame((await runCli(t, dataDir, "check")).stdout, "no problems\n");
  return { dataDir, ...(await startProgram(t, dataDir)) };
}

export async function contentsOf(client: Client): Promise<string[]> {
  return (await everything(client)).map(({ content }) => content);
}
