/**
 * create-realm killed halfway (M1): existing organizations are served, and the new one does not exist and can be
 * created again. Skipped with a message where strace is missing or not permitted.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { tracingObstacle } from "../support/strace.ts";

const args = ["create-realm", "sales", "--email", "eve@example.com"];

/** @returns whether it was killed */
function createUntil(dataDir: string, call: string, nth: number): boolean {
  const inject = ["-f", "-o", "/dev/null", "-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${nth}`];
  const { status } = spawnSync("strace", [...inject, process.execPath, "colloquy.mjs", ...args], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
  });
  return status !== 0;
}

/**
 * The nth call of a kind, in one thread: LMDB's first flush of the root, the flush of the key file, and the renames of the key file and
 * the organization.
 */
const moments = [
  ["fdatasync", 1],
  ["fsync", 7],
  ["rename", 1],
  ["rename", 2],
] as const;

for (const [call, nth] of moments) {
  t.test(
    `[M1] an organization whose creation is killed at ${call} ${nth} does not exist, and can be created again`,
    async (t) => {
      const reason = tracingObstacle();
      if (reason !== null) {
        t.pass(`not killed: ${reason}`, { skip: reason });
        return;
      }
      const dataDir = temporaryFolder(t);
      const first = await startTestServer(t, { dataDir });
      const id = await first.owner.say("general", "kept", "here to stay");
      await first.stop();
      t.ok(createUntil(dataDir, call, nth), "it was killed");
      t.notOk(readdirSync(join(dataDir, "realms")).includes("2"));
      t.equal((await runCli(t, dataDir, ...args)).stderr, "");
      t.strictSame(readdirSync(join(dataDir, "realms")), ["1", "2"], "no temporary environment is left");
      const { owner, url } = await startTestServer(t, { dataDir });
      t.equal((await owner.get(`/messages/${id}`)).body.raw_content, "here to stay");
      const account = { ...readZuliprc(join(dataDir, "zuliprc.sales")), userId: 2 };
      const eve = new HostClient(new Client(url, account), "sales.example.org");
      t.equal((await eve.get("/users/me")).body.email, "eve@example.com");
    },
  );
}
