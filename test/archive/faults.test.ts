/** An archive that cannot be written: the server answers, says so once, and the archive is completed afterwards. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { linkTo, uploaded } from "../support/attachments.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { generationsOf } from "./archive-support.ts";
import { complete, contentsOf, moment, post, startArchived, startRestored } from "./archived-server.ts";

t.test("a server without its archive serves, keeps what it lacks over a kill, and completes it later", async (t) => {
  const [dataDir, archive] = [join(temporaryFolder(t), "data"), join(temporaryFolder(t), "archive")];
  const first = await startProgram(t, dataDir, { ARCHIVE_DIR: archive });
  await first.program.complained(/cannot be written: there is no folder/);
  await post(first.owner, "one");
  await first.program.end("SIGKILL");
  const second = await startProgram(t, dataDir, { ARCHIVE_DIR: archive });
  await second.program.complained(/cannot be written: there is no folder/);
  await post(second.owner, "two");
  mkdirSync(archive);
  await second.program.complained(/is written again/);
  await complete({ archive, dataDir });
  await post(second.owner, "three");
  await complete({ archive, dataDir });
  t.strictSame(second.program.stderr.match(/cannot be written/g)?.length, 1, "it is said once");
  const restored = await startRestored(t, archive, "latest");
  t.strictSame(await contentsOf(restored.owner), ["one", "two", "three"]);
});

t.test("a full disk of the archive delays no answer, and loses no moment once it has room", async (t) => {
  const disk = SmallDisk.mount(t, 8);
  if (!(disk instanceof SmallDisk)) {
    t.pass(`no small disk: ${disk}`, { skip: disk });
    return;
  }
  const archive = join(disk.mountPoint, "archive");
  mkdirSync(archive);
  const server = await startArchived(t, { archive });
  await post(server.owner, "before");
  await complete(server);
  disk.fill();
  const file = await uploaded(server.owner, "x".repeat(100_000));
  await post(server.owner, linkTo(file));
  await server.program.complained(/cannot be written: ENOSPC/);
  const time = await moment();
  await post(server.owner, "while it is full");
  disk.giveRoom();
  await server.program.complained(/is written again/);
  await complete(server);
  t.strictSame(generationsOf(archive), [1], "there is no gap");
  const found = readdirSync(archive, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".draft"));
  t.strictSame(found, []);
  const restored = await startRestored(t, archive, time);
  t.strictSame(await contentsOf(restored.owner), ["before", linkTo(file)]);
});
