/**
 * Images in the real process: the image library is loaded with the first image (idle memory), the built server includes
 * it, a kill leaves no partial upload, and backups contain the files.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { fetchPage, picture, upload } from "../support/pictures.ts";
import { runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const avatar = "/users/me/avatar";
const png = await picture("png", 40, 30);

/** Whether the process has loaded the library; null where that cannot be seen. */
function hasLibrary(pid: number): boolean | null {
  const maps = `/proc/${pid}/maps`;
  return existsSync(maps) ? /libvips|sharp/.test(readFileSync(maps, "utf8")) : null;
}

t.test("[D188] the image library is loaded with the first upload; a backup has the files", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startProgram(t, dataDir);
  await first.owner.get("/users");
  t.not(hasLibrary(first.program.pid), true, "not loaded before it is needed");
  const { status, body } = await upload(first.owner, avatar, png);
  t.equal(status, 200);
  t.not(hasLibrary(first.program.pid), false);
  t.equal((await upload(first.owner, "/realm/emoji/kept", png)).status, 200);
  const { emoji } = (await first.owner.get("/realm/emoji")).body;
  const addresses = [body.avatar_url, body.avatar_url.replace(".png", "-medium.png"), emoji["1"].source_url];

  // While the server runs.
  const copy = join(temporaryFolder(t), "copy");
  t.match(await runCli(t, dataDir, "backup", copy), { code: 0 });
  await first.program.end("SIGKILL");
  const restored = join(temporaryFolder(t), "restored");
  t.match(await runCli(t, restored, "restore", copy), { code: 0 });

  const again = await startProgram(t, restored);
  for (const address of addresses) t.equal((await fetchPage(again.url, address)).status, 200, address);
  t.not(hasLibrary(again.program.pid), true, "serving does not load the library");
  await again.program.end("SIGTERM");
});

t.test("after a kill during uploads, the next start has exactly the files that its rows claim", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startProgram(t, dataDir);
  t.equal((await upload(first.owner, avatar, png)).status, 200);
  const inFlight = Array.from({ length: 3 }, () => upload(first.owner, avatar, png).catch(() => null));
  await first.owner.get("/users/me");
  await first.program.end("SIGKILL");
  await Promise.all(inFlight);
  const second = await startProgram(t, dataDir);
  const { avatar_url: address } = (await second.owner.get("/users/me")).body;
  t.equal((await fetchPage(second.url, address)).status, 200);
  t.equal((await second.program.end("SIGTERM")).code, 0, "a stop waits until files without a row are removed");
  const [, name = ""] = /\/([0-9a-f]{32})\.png/.exec(address) ?? [];
  const files = readdirSync(join(dataDir, "realms", "1", "files", "avatars")).sort();
  t.strictSame(files, [`${name}-medium.png`, `${name}.png`]);
});
