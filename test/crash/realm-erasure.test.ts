/**
 * erase-realm killed halfway (M1): the next start has either the organization with everything, or nothing of it. Skipped
 * with a message where strace is missing or not permitted.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { served } from "../support/operations.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { tracingObstacle } from "../support/strace.ts";

const args = ["erase-realm", "sales", "--confirm", "sales"];

/** @returns whether it was killed */
function eraseUntil(dataDir: string, call: string, nth: number): boolean {
  const inject = ["-f", "-o", "/dev/null", "-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${nth}`];
  const { status } = spawnSync("strace", [...inject, process.execPath, "colloquy.mjs", ...args], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
  });
  return status !== 0;
}

/**
 * The nth call of a kind, in one thread: LMDB's flush of the erasure, the removal of the credentials, the new name of the
 * folder, the flush of that name, and LMDB's flush of the end.
 */
const moments = [
  ["fdatasync", 4, true],
  ["unlink", 1, false],
  ["rename", 2, false],
  ["fsync", 7, false],
  ["fdatasync", 5, false],
] as const;

t.test("[M1] an organization whose erasure is killed is there as before, or gone", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not killed: ${reason}`, { skip: reason });
    return;
  }
  const original = join(temporaryFolder(t), "data");
  const first = await startTestServer(t, { dataDir: original });
  await served(first)("create-realms", { realms: [{ label: "sales", email: "eve@example.com" }] });
  const account = { ...readZuliprc(join(original, "zuliprc.sales")), userId: 2 };
  const eveAt = (url: string) => new HostClient(new Client(url, account), "sales.example.org");
  const id = await eveAt(first.url).say("general", "plans", "a secret");
  await served(first)("deactivate-realm", { realm: "sales" });
  await first.stop();
  for (const [call, nth, isThere] of moments) {
    await t.test(`killed at ${call} ${nth}`, async (t) => {
      const dataDir = join(temporaryFolder(t), "data");
      cpSync(original, dataDir, { recursive: true });
      t.ok(eraseUntil(dataDir, call, nth), "it was killed");
      const server = await startTestServer(t, { dataDir });
      const names = readdirSync(dataDir);
      t.equal(names.includes("zuliprc.sales"), isThere);
      t.strictSame(readdirSync(join(dataDir, "realms")), ["1", isThere ? "2" : "2.erased"]);
      const { realms } = (await served(server)("list-realms")) as { realms: { label: string }[] };
      const labels = realms.map(({ label }) => label);
      t.strictSame(labels, isThere ? ["", "sales"] : [""]);
      if (!isThere) {
        t.strictSame(readdirSync(join(dataDir, "realms", "2.erased")), []);
        return;
      }
      await served(server)("reactivate-realm", { realm: "sales" });
      t.equal((await eveAt(server.url).get(`/messages/${id}`)).body.raw_content, "a secret");
    });
  }
});
