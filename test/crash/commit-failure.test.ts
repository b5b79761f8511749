/**
 * A commit that fails (M5): the kernel rejects a flush or a page write in the middle of 16 concurrent posts. No client
 * gets a false 200, the process exits at once, and the next start has every acknowledged message and no partial one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { auditRealm } from "../support/audit.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { startTraced, tracingObstacle } from "../support/strace.ts";

const lanes = 16;
/** More calls than a start on an initialized folder needs. Later calls fail. */
const refusedAfter = 60;

const faults: Readonly<Record<string, string>> = {
  "a flush that fails": `fdatasync:error=EIO:when=${refusedAfter}+`,
  "a disk without room": `pwrite64:error=ENOSPC:when=${refusedAfter}+`,
};

for (const [what, inject] of Object.entries(faults)) {
  t.test(`[M5] ${what}: no client gets a false 200, the process exits, and the next start recovers`, async (t) => {
    const reason = tracingObstacle();
    if (reason !== null) {
      t.pass(`not spoiled: ${reason}`, { skip: reason });
      return;
    }
    const dataDir = temporaryFolder(t);
    const first = await startProgram(t, dataDir);
    await first.program.end("SIGTERM");
    const call = inject.split(":")[0] ?? "";
    const file = join(temporaryFolder(t), "trace");
    const flags = ["-e", `trace=${call}`, "-e", `inject=${inject}`];
    const { program, owner } = await startTraced(t, { dataDir, file, flags });

    const acknowledged = new Map<string, number>();
    const answers: number[] = [];
    const posting = Array.from({ length: lanes }, async (_, lane) => {
      for (let count = 0; ; count++) {
        const content = `l${lane}-${count}`;
        try {
          const answer = await owner.post("/messages", { type: "channel", to: "general", topic: `t${lane}`, content });
          answers.push(answer.status);
          if (answer.status !== 200) return;
          acknowledged.set(content, answer.body.id as number);
        } catch {
          return;
        }
      }
    });
    await Promise.all(posting);
    t.equal((await program.exited).signal, "SIGKILL", "it ended itself");
    t.match(program.stderr, /a flush or a checkpoint failed/, "and said why");
    t.ok(
      answers.every((status) => status === 200),
      "every response was true",
    );
    t.ok(acknowledged.size > 0, `${acknowledged.size} were acknowledged before`);
    t.match(readFileSync(file, "latin1"), /\(INJECTED\)/);

    const again = await startProgram(t, dataDir);
    const { body } = await again.owner.get("/messages", {
      anchor: "newest",
      num_before: 5000,
      num_after: 0,
      apply_markdown: false,
    });
    const stored = new Map(
      (body.messages as { id: number; content: string }[]).map(({ id, content }) => [content, id]),
    );
    for (const [content, id] of acknowledged) {
      if (stored.get(content) !== id) t.fail(`${content} was acknowledged as ${id} and is ${stored.get(content)}`);
    }
    t.ok(stored.size - acknowledged.size <= lanes, "besides them there are no more than the posts in flight");
    t.equal((await again.owner.post("/messages", { type: "channel", to: 1, topic: "t", content: "on" })).status, 200);
    await again.program.end("SIGTERM");
    const lmdb = openLmdb(join(dataDir, "realms", "1"));
    t.teardown(() => lmdb.close());
    t.strictSame(auditRealm(lmdb), []);
  });
}
