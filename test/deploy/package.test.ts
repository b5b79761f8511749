/**
 * The package that operators install: packed, installed in an empty folder, and started there. npm takes the packages
 * that it needs from its cache or its registry; where it can reach neither, the test is skipped.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { sendFile } from "../support/attachments.ts";
import { Client } from "../support/client.ts";
import { picture } from "../support/pictures.ts";
import { checkout, Program } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";

const rich = "$$x^2$$ and\n```python\nprint('hello')\n```";

t.test("the package serves in an empty folder, without a checkout or a compiler", async (t) => {
  const folder = temporaryFolder(t);
  const packed = await new Program(t, process.execPath, ["scripts/pack.mjs", folder], {}).exited;
  t.equal(packed.code, 0, packed.stderr);
  const tarball = packed.stdout.trim();
  const here = join(folder, "empty");
  mkdirSync(here);
  writeFileSync(join(here, ".npmrc"), "ignore-scripts=true\n");
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball];
  const installed = spawnSync("npm", flags, { cwd: here, encoding: "utf8" });
  if (/ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(installed.stderr)) {
    t.pass("not installed", { skip: "npm has neither a cache nor a registry" });
    return;
  }
  t.equal(installed.status, 0, installed.stderr);
  t.notOk(existsSync(join(here, "node_modules/esbuild")), "nothing is built there");
  const found = readdirSync(here, { recursive: true, encoding: "utf8" });
  const binaries = found.filter((path) => /uws_\w+\.node$/.test(path)).map((path) => path.split("/").at(-1));
  t.strictSame(
    binaries.toSorted(),
    ["uws_linux_arm64_115.node", "uws_linux_arm64_127.node", "uws_linux_x64_115.node", "uws_linux_x64_127.node"],
    "no binary of a system or a version of Node that is not supported",
  );
  const command = join(here, "node_modules/.bin/colloquy");
  const dataDir = join(here, "data");
  writeFileSync(join(here, "settings"), `PORT=0\nRATE_LIMITS=off\nDATA_DIR=${dataDir}\n`);
  const program = new Program(t, command, ["serve", "--config", "settings"], {}, here);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const hasNative = ["115", "127"].includes(process.versions.modules);
  t.match(program.stdout, `Transport: ${hasNative ? "native" : "node"}\n`);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  const owner = new Client(url, { email, key, userId: 2 });
  const id = await owner.say("general", "greetings", rich);
  const { body } = await owner.get(`/messages/${id}`);
  t.match(body.message.content, /katex/, "formulas");
  t.match(body.message.content, /<span class="\w+">print/, "code");
  const sent = await sendFile(owner, await picture("png", 20, 20), "me.png");
  t.equal(sent.status, 200, "pictures");
  t.equal((await program.end("SIGTERM")).code, 0);
  const checked = await new Program(t, command, ["--config", "settings", "check"], {}, here).exited;
  t.match(checked, { code: 0, stdout: "no problems\n" });
});

t.test("the checkout itself cannot be published by accident", async (t) => {
  const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  t.equal(manifest.private, true);
});
