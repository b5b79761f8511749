/** Data of a newer version is rejected with one line, and left unchanged. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t from "tap";
import { openEnvironment } from "../../src/store/environment.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { seal } from "../../src/store/seal.ts";
import { Program, runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

async function setRootVersion(dataDir: string, version: number): Promise<void> {
  const root = open<Buffer, string[]>({ path: join(dataDir, "root"), encoding: "binary" });
  root.putSync(["version"], seal("root", ["version"], Buffer.from(String(version))));
  await root.close();
}

async function setRealmVersion(dataDir: string, version: number): Promise<void> {
  const environment = openEnvironment(join(dataDir, "realms", "1"));
  environment.transaction(() => {
    environment.put("meta", "version", { value: version });
  });
  await environment.close();
}

function digest(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

t.test(
  "[start-up] a store of a newer version is rejected with one line and exit code 78, whichever part of it is newer",
  async (t) => {
    const dataDir = temporaryFolder(t);
    const { program } = await startProgram(t, dataDir);
    t.equal((await program.end("SIGTERM")).code, 0);
    const newer = storeVersion + 1;
    const isUntouched = async (part: string, what: string) => {
      const before = digest(join(dataDir, part, "data.mdb"));
      const environment = { DATA_DIR: dataDir, PORT: "0" };
      const { code, stdout, stderr } = await new Program(t, process.execPath, ["start.mjs"], environment).exited;
      t.strictSame([code, stdout], [78, ""]);
      t.equal(
        stderr,
        `colloquy: ${what} has version ${newer}, this program knows ${storeVersion}: use the newer program\n`,
      );
      const listed = await runCli(t, dataDir, "list-users");
      t.match(listed, { code: 78, stdout: "", stderr: /^colloquy: [^\n]+: use the newer program\n$/ });
      t.equal(digest(join(dataDir, part, "data.mdb")), before, `${part} is as it was`);
    };

    await setRealmVersion(dataDir, newer);
    await isUntouched("realms/1", "an organization's data");
    await setRootVersion(dataDir, newer);
    await isUntouched("root", "the data");

    await setRealmVersion(dataDir, storeVersion);
    await setRootVersion(dataDir, storeVersion);
    const again = await startProgram(t, dataDir);
    t.equal((await again.owner.get("/users/me")).status, 200);
  },
);
