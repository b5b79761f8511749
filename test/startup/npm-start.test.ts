/** `npm start` itself: npm does not pass every signal on to the server, and may be killed. Skipped without npm. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("SIGTERM to `npm start` stops the server, and so does the end of npm", async (t) => {
  if (spawnSync("npm", ["--version"]).status !== 0) {
    t.pass("npm is not there", { skip: "npm is not installed" });
    return;
  }
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const dataDir = join(temporaryFolder(t), "data");
    const npm = new Program(t, "npm", ["start"], { PORT: "0", DATA_DIR: dataDir, LOG_LEVEL: "info" });
    await npm.printed(/is at (\S+)\n/);
    // Resolves when the server has closed its end of the pipes, too.
    const { stderr } = await npm.end(signal);
    t.match(
      stderr,
      signal === "SIGTERM" ? /"signal":"SIGTERM","version":.*"stopped/ : /"signal":"npm has ended".*"stopped/,
    );
    t.notOk(existsSync(join(dataDir, "server.pid")), "in order");
  }
});
