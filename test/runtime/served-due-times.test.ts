/** Organizations that come from other nodes of a cluster, and are not opened at once. */
import { mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { ServedDueTimes } from "../../src/runtime/durable-timers.ts";
import { dataFile } from "../../src/store/data-file.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("[S3] cluster_opened_at_once_bytes: a larger store is opened at once, others when they are due", async (t) => {
  const folder = join(temporaryFolder(t), "store");
  mkdirSync(folder);
  await openLmdb(folder).close();
  const times = new ServedDueTimes();
  t.equal(times.of(1, 7), 7, "what the root says counts for one that did not come from elsewhere");
  truncateSync(dataFile(folder), limits.cluster_opened_at_once_bytes);
  t.equal(times.read(1, folder), true);
  t.equal(times.of(1, 7), null, "it has nothing to do");
  times.forget(1);
  t.equal(times.of(1, 7), 7);
  truncateSync(dataFile(folder), limits.cluster_opened_at_once_bytes + 1);
  t.equal(times.read(1, folder), false);
});
