/** Files that a node gets when they are read. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { FileFetches } from "../../src/store/file-fetches.ts";
import { until } from "../support/realtime.ts";

t.test("[S3] files_fetched_at_once_max: one more waits until another one is there", async (t) => {
  const underWay = new Map<string, () => void>();
  const fetches = new FileFetches(
    (name) => new Promise((resolve) => underWay.set(name, () => underWay.delete(name) && resolve(true))),
  );
  const names = Array.from({ length: limits.files_fetched_at_once_max + 1 }, (_, index) => `file ${index}`);
  const all = names.map((name) => fetches.get(name));
  t.equal(fetches.get("file 0"), all[0], "one copy for all who wait for a file");
  await until(() => underWay.size === limits.files_fetched_at_once_max);
  t.notOk(underWay.has(names.at(-1) ?? ""));
  underWay.get("file 3")?.();
  t.equal(await all[3], true);
  await until(() => underWay.has(names.at(-1) ?? ""));
  t.equal(underWay.size, limits.files_fetched_at_once_max);
  for (const finish of [...underWay.values()]) finish();
  t.strictSame(new Set(await Promise.all(all)), new Set([true]));
});
