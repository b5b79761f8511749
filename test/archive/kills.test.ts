/** Servers that are killed while they write the archive: it always has a whole beginning of what happened. */

import { join } from "node:path";
import t from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { unlessKilled } from "../crash/kill-load.ts";
import { uploaded } from "../support/attachments.ts";
import { runCli } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { pauseAfter, restoreTo } from "./archive-support.ts";
import { type ArchivedServer, complete, contentsOf, startArchived, startRestored } from "./archived-server.ts";

const kills = Number(process.env["KILLS"] ?? 3);

t.test("[M1] after kills the archive restores a whole beginning of what was answered, completed later", async (t) => {
  const random = seededRandom(seedOf(t));
  const acknowledged: string[] = [];
  let server: ArchivedServer | null = null;
  for (let kill = 1; kill <= kills; kill++) {
    server = await startArchived(t, server ?? {});
    const { owner, program } = server;
    const killAt = Date.now() + 1200 + random() * 1500;
    const lanes = [1, 2].map(async (lane) => {
      for (let count = 0; ; count++) {
        const content = `${kill}-${lane}-${count}`;
        const work = count % 20 === 0 ? uploaded(owner, content) : owner.say("general", `lane ${lane}`, content);
        const said = work.then(() => count % 20 !== 0 && acknowledged.push(content));
        if (!(await unlessKilled(said))) return;
      }
    });
    await pauseAfter(killAt);
    await program.end("SIGKILL");
    await Promise.all(lanes);

    const target = join(temporaryFolder(t), "restored");
    const { code, stderr } = await restoreTo(t, server.archive, target, "latest");
    t.strictSame([code, stderr], [0, ""], `after kill ${kill}`);
    t.strictSame((await runCli(t, target, "check")).stdout, "no problems\n");
  }
  server = await startArchived(t, server ?? {});
  await complete(server);
  const restored = await startRestored(t, server.archive, "latest");
  const [live, back] = [await contentsOf(server.owner), await contentsOf(restored.owner)];
  t.strictSame(back, live, `${live.length} messages`);
  const stored = new Set(back);
  const found = acknowledged.filter((content) => !stored.has(content));
  t.strictSame(found, [], `all ${acknowledged.length} that were answered`);
});
