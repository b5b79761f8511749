/**
 * Uploaded files across a restart (architecture, Files): files that a crash left between writing and claiming are
 * swept, claimed files stay.
 */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { attachmentsOf, fetchFile, linkTo, uploaded } from "../support/attachments.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

t.test("[M3] after a crash, files that no row claims are swept, claimed ones stay", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  const { owner } = first;
  await owner.createChannel("papers", [owner]);
  const [linked, unused] = [await uploaded(owner, "linked"), await uploaded(owner, "unused")];
  await owner.say("papers", "files", linkTo(linked));
  const listed = await attachmentsOf(owner);
  await first.stop();
  const folder = join(dataDir, "realms", "1", "files", "uploads");
  const orphan = "0".repeat(32);
  // One killed during its upload, one killed between its rename and its turn.
  for (const name of [`${orphan}.bin`, `${"1".repeat(32)}.bin.part`]) writeFileSync(join(folder, name), "orphan");
  const second = await startTestServer(t, { dataDir });
  const again = await second.person("anybody");
  while (existsSync(join(folder, `${orphan}.bin`))) await again.get("/users/me");
  await second.realm.files.idle();
  t.equal(readdirSync(folder).length, 2);
  t.equal(second.realm.files.bytes, "linked".length + "unused".length);
  t.equal((await fetchFile(again, linked.url)).bytes.toString(), "linked");
  t.equal((await fetchFile(again, unused.url)).status, 404);
  t.strictSame(second.realm.view.counter("attachmentBytes"), 12);
  t.equal(listed.length, 2);
});
