/** A stop on a disk that is too slow for it: strace delays each flush. */
import t from "tap";
import { Program, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { tracingObstacle } from "../support/strace.ts";

t.test("a stop cut short by a slow disk loses nothing and says so", { skip: tracingObstacle() ?? false }, async (t) => {
  const dataDir = temporaryFolder(t);
  const { program, owner } = await startProgram(t, dataDir);
  const post = { type: "direct", to: [owner.account?.userId], content: "before the stop" };
  t.equal((await owner.post("/messages", post)).status, 200);
  const slow = ["-f", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=2400000"];
  const tracer = new Program(t, "strace", [...slow, "-p", `${program.pid}`], {});
  await tracer.complained(/attached/);
  const { code, stderr } = await program.end("SIGTERM");
  t.equal(code, 0);
  t.match(stderr, /stopped before the stores were closed/);
  const again = await startProgram(t, dataDir);
  const { body } = await again.owner.get("/messages", { anchor: "newest", num_before: 1, num_after: 0 });
  t.match(body, { messages: [{ content: "<p>before the stop</p>" }] });
  t.equal((await again.program.end("SIGTERM")).code, 0);
});
