/** The files in deploy/ that start and watch a server: what can be checked without a container. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { untilReadiness } from "../support/admin.ts";
import { freePort } from "../support/ports.ts";
import { checkout, type Environment, Program } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

function health(t: Test, dataDir: string, more: Environment = {}) {
  return new Program(t, process.execPath, ["deploy/health.mjs"], { DATA_DIR: dataDir, ...more }).exited;
}

t.test("the container's health check follows /readyz", async (t) => {
  const ready = await startTestServer(t);
  t.match(await health(t, ready.dataDir), { code: 0 });
  const readOnly = await startTestServer(t, { environment: { STORE_BYTES_MAX: "1" } });
  await untilReadiness(readOnly.dataDir, 503);
  t.match(await health(t, readOnly.dataDir), { code: 1 }, "changes are rejected");
  const ADMIN_LISTEN = `0.0.0.0:${await freePort()}`;
  const moved = await startTestServer(t, { environment: { ADMIN_LISTEN } });
  t.match(await health(t, moved.dataDir, { ADMIN_LISTEN }), { code: 0 }, "where ADMIN_LISTEN says");
  await ready.stop();
  t.match(await health(t, ready.dataDir), { code: 1, stderr: /ENOENT/ }, "no server");
});

t.test("the Dockerfile runs commands that exist", async (t) => {
  const text = readFileSync(join(checkout, "deploy/Dockerfile"), "utf8");
  const commands = [...text.matchAll(/CMD (\[.*\])/g)].map(([, list = "[]"]) => JSON.parse(list) as string[]);
  t.equal(commands.length, 2, "the health check and the server");
  for (const [program, file = ""] of commands) {
    t.equal(program, "node");
    t.ok(readFileSync(join(checkout, file), "utf8").length > 0, file);
  }
});

t.test("the container's version of Node has a binary of the native transport", async (t) => {
  const text = readFileSync(join(checkout, "deploy/Dockerfile"), "utf8");
  const versions = [...text.matchAll(/^FROM node:(\d+)-/gm)].map(([, version]) => version);
  t.strictSame(versions, ["22", "22"]);
  // Node 22 has the ABI 127.
  for (const arch of ["x64", "arm64"]) {
    const binary = `node_modules/uWebSockets.js/dist/bin/uws_linux_${arch}_127.node`;
    t.ok(existsSync(join(checkout, binary)), binary);
  }
});

t.test("the container and the service set what `npm start` sets", async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const set = [...scripts.start.matchAll(/\w+=\S+/g)].map(([assignment]) => assignment);
  t.strictSame(set, ["MALLOC_MMAP_THRESHOLD_=131072"]);
  for (const assignment of set) {
    t.match(readFileSync(join(checkout, "deploy/Dockerfile"), "utf8"), `\nENV ${assignment}\n`);
    t.match(readFileSync(join(checkout, "deploy/colloquy.service"), "utf8"), `\nEnvironment=${assignment}\n`);
  }
});

const hasVerify = spawnSync("systemd-analyze", ["--version"]).status === 0;
t.test("systemd accepts the unit", { skip: hasVerify ? false : "systemd is not installed" }, async (t) => {
  const unit = readFileSync(join(checkout, "deploy/colloquy.service"), "utf8");
  t.match(unit, "ExecStart=/usr/bin/node colloquy.mjs");
  const here = join(temporaryFolder(t), "colloquy.service");
  // The folder and Node of this machine.
  const local = unit
    .replace("/usr/bin/node", process.execPath)
    .replace("WorkingDirectory=/opt/colloquy", `WorkingDirectory=${checkout}`);
  writeFileSync(here, local);
  const { stderr } = spawnSync("systemd-analyze", ["verify", here], { encoding: "utf8" });
  const found = stderr.split("\n").filter((line) => line.includes("colloquy.service"));
  t.strictSame(found, []);
});
