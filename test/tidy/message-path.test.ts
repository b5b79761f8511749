/** How many files one message passes (docs/architecture.md, The path of a write). */
import { spawnSync } from "node:child_process";
import t from "tap";
import { projectRoot } from "./sources.ts";

/** May only become smaller. */
const filesMax = 84;

t.test("a message passes no more files than before", (t) => {
  const program = ["--import=tsx", "test/tidy/message-path.ts"];
  const { stdout, stderr, status } = spawnSync(process.execPath, program, {
    cwd: projectRoot,
    encoding: "utf8",
    env: { PATH: "" },
  });
  t.equal(status, 0, stderr);
  const files = JSON.parse(stdout) as string[];
  t.comment(files.join("\n"));
  t.ok(files.length > 30 && files.length <= filesMax, `${files.length} files`);
  t.end();
});
