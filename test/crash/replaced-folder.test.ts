/**
 * A data folder that is removed or replaced under a running server (M1): no client gets a 200 for a write to a deleted
 * file, and the process exits with one clear line, with or without requests.
 */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { uploaded } from "../support/attachments.ts";
import { runCli, type ServerProgram, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const lost =
  /"level":60,[^\n]*"msg":"[^"]+ was (removed|replaced) while the server ran on it\. The server stops: [^"]+"\}\n$/;

/** Nothing else may be logged, however slow the machine is. */
const quiet = { SLOW_TURN_MS: "none" };

async function hasEnded(t: Test, { program }: ServerProgram): Promise<void> {
  const { code, stderr } = await program.exited;
  t.equal(code, 75);
  t.match(stderr, lost);
  t.equal(stderr.trimEnd().split("\n").length, 1, "one line");
}

function copyOver(folder: string): void {
  renameSync(folder, `${folder}-before`);
  const isSocket = (path: string) => path.endsWith(".sock");
  cpSync(`${folder}-before`, folder, { recursive: true, filter: (path) => !isSocket(path) });
}

/** The server may create files meanwhile, and Node's own retries do not look for those; or it ends, and removes its own. */
function remove(path: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === 20 || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  }
}

/** The ways in which the folder is changed. */
const damages: Readonly<Record<string, (dataDir: string) => void>> = {
  "is removed": remove,
  "is emptied": (dataDir) => {
    for (const name of readdirSync(dataDir)) remove(join(dataDir, name));
  },
  "is removed and recreated": (dataDir) => {
    remove(dataDir);
    mkdirSync(dataDir);
  },
  "is replaced by a copy": copyOver,
  "has its journal removed": (dataDir) => remove(join(dataDir, "journal")),
  "has its root replaced by a copy": (dataDir) => copyOver(join(dataDir, "root")),
  "has an organization replaced by a copy": (dataDir) => copyOver(join(dataDir, "realms", "1")),
  "has its uploads replaced by a copy": (dataDir) => copyOver(join(dataDir, "realms", "1", "files")),
};

for (const [how, damage] of Object.entries(damages)) {
  t.test(`[M1] a server whose data folder ${how} exits without any request`, async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const server = await startProgram(t, dataDir, quiet);
    await uploaded(server.owner, "kept");
    damage(dataDir);
    await hasEnded(t, server);
  });
}

for (const how of ["is removed and recreated", "has an organization replaced by a copy"]) {
  t.test(`[M1] no write is answered with 200 after the data folder ${how}`, async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const server = await startProgram(t, dataDir, quiet);
    t.ok((await server.owner.say("general", "t", "before")) > 0);
    damages[how]?.(dataDir);
    const answer = await server.owner
      .post("/messages", { type: "channel", to: "general", topic: "t", content: "after" })
      .catch(() => null);
    t.equal(answer, null, "the connection ends without a response");
    await hasEnded(t, server);
  });
}

t.test("[M1] a backup that is restored while the server runs is served after the next start", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const server = await startProgram(t, dataDir, quiet);
  const id = await server.owner.say("general", "t", "before");
  const backup = join(folder, "backup");
  t.equal((await runCli(t, dataDir, "backup", backup)).code, 0);
  renameSync(dataDir, join(folder, "former"));
  t.equal((await runCli(t, dataDir, "restore", backup)).code, 0);
  await hasEnded(t, server);
  const again = await startProgram(t, dataDir);
  t.equal((await again.owner.get(`/messages/${id}`)).body.raw_content, "before");
  t.equal(again.owner.account?.key, server.owner.account?.key);
});
