/** When an archive gets bases, what it removes, and when a generation begins. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { systemClock } from "../../src/runtime/clock.ts";
import { attachmentsOf, linkTo, uploaded } from "../support/attachments.ts";
import { runCli } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { basesOf, generationsOf, isComplete, restoreTo, until } from "./archive-support.ts";

const hourMs = 60 * 60 * 1000;

/** A server whose clock a test can put forward. */
async function startLater(t: Test, environment: Record<string, string> = {}) {
  const archive = temporaryFolder(t);
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, now: () => Date.now() + time.aheadMs };
  const server = await startTestServer(t, { clock, environment: { ARCHIVE_DIR: archive, ...environment } });
  const { dataDir } = server;
  await until(() => isComplete(archive, dataDir));
  return {
    owner: server.owner,
    dataDir,
    stop: () => server.stop(),
    archive,
    time,
    complete: () => until(() => isComplete(archive, dataDir)),
  };
}

t.test("a base is made each ARCHIVE_BASE_HOURS if there are writes, and old ones go after ARCHIVE_DAYS", async (t) => {
  const server = await startLater(t, { ARCHIVE_BASE_HOURS: "12", ARCHIVE_DAYS: "1" });
  const { owner, archive, time } = server;
  const removed = await uploaded(owner, "removed early");
  const kept = await uploaded(owner, "kept");
  await owner.say("general", "files", linkTo(kept));
  await server.complete();
  const [attachment] = (await attachmentsOf(owner)).filter(({ path_id: path }) => removed.url.endsWith(path));
  t.equal((await owner.delete(`/attachments/${attachment.id}`)).status, 200);
  const uploads = join(archive, "files/1/uploads");
  t.equal(readdirSync(uploads).length, 2, "a file that was deleted stays for the moments that have it");
  const at: number[] = [Date.now()];
  for (let base = 2; base <= 5; base++) {
    time.aheadMs += 12 * hourMs;
    await owner.say("general", "plans", `base ${base}`);
    await until(() => basesOf(archive).at(-1)?.number === base);
    at.push(Date.now() + time.aheadMs);
  }
  // Each base is 12 hours after the one before; a day before the fifth, the third was made.
  await until(() => basesOf(archive)[0]?.number === 3 && !existsSync(join(archive, "removing.json")));
  await server.complete();
  const numbers = basesOf(archive).map(({ number }) => number);
  t.strictSame(numbers, [3, 4, 5]);
  t.equal(readdirSync(uploads).length, 1, "the file that no moment has any more is gone");
  await server.stop();
  const restore = (moment: number) =>
    restoreTo(t, archive, join(temporaryFolder(t), "restored"), new Date(moment).toISOString());
  t.match((await restore(at[0] as number)).stderr, /cannot bring back/);
  t.strictSame((await restore(at[2] as number)).stderr, "");
  t.strictSame((await restore(at[3] as number)).stderr, "");
});

t.test("commands that change stores, and starts without archive, begin a generation; a check does not", async (t) => {
  const { archive, dataDir, stop } = await startLater(t);
  await stop();
  const restart = async () => {
    const server = await startTestServer(t, { dataDir, environment: { ARCHIVE_DIR: archive } });
    await server.owner.say("general", "plans", "more");
    await until(() => isComplete(archive, dataDir));
    await server.stop();
    return generationsOf(archive).at(-1);
  };
  t.equal(await restart(), 1);
  t.equal((await runCli(t, dataDir, "check")).code, 0);
  t.equal(await restart(), 1);
  t.equal((await runCli(t, dataDir, "create-user", "ann@example.org", "Ann")).code, 0);
  t.equal(await restart(), 2);
  const without = await startTestServer(t, { dataDir });
  await without.stop();
  t.equal(await restart(), 3);
  t.equal((await restoreTo(t, archive, join(temporaryFolder(t), "restored"), "latest")).code, 0);
});
