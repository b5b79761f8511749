/**
 * The worked example of CONTRIBUTING.md is real: docs/examples/add-an-operation.patch applies to a copy of the tree,
 * compiles there, and its tests pass. The example and the lists of the server also measure what a list costs in files.
 */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { personalLists } from "../../schemas/areas.ts";
import { temporaryFolder } from "../support/server.ts";
import { projectRoot, readSources } from "./sources.ts";

const run = promisify(execFile);

/** The files that a person's list may take. */
const serverFilesMax = 4;
const testFilesMax = 1;

const patch = join(projectRoot, "docs/examples/add-an-operation.patch");

function isOfServer(path: string): boolean {
  return /^(?:actors|domain|schemas|src)\//.test(path);
}

t.test("a list takes at most 4 files of the server and 1 of the tests", async (t) => {
  const sources = readSources();
  for (const { commands, table } of personalLists) {
    const named = sources.filter(({ path, text }) => path.includes(commands) || text.includes(table));
    const ofServer = named.map(({ path }) => path).filter(isOfServer);
    t.ok(ofServer.length > 0 && ofServer.length <= serverFilesMax, ofServer.join(" "));
    const ofTests = sources.map(({ path }) => path).filter((path) => /^test\//.test(path) && path.includes(commands));
    t.equal(ofTests.length, testFilesMax, ofTests.join(" "));
  }
  t.ok(personalLists.length > 1);
});

t.test("the worked example takes no more files, applies, compiles and passes its tests", async (t) => {
  const changed = [...readFileSync(patch, "utf8").matchAll(/^\+\+\+ b\/(\S+)$/gm)].map((match) => match[1] ?? "");
  const ofServer = changed.filter(isOfServer);
  const ofTests = changed.filter((path) => path.startsWith("test/"));
  t.ok(ofServer.length > 0 && ofServer.length <= serverFilesMax, ofServer.join(" "));
  t.ok(ofTests.length > 0 && ofTests.length <= testFilesMax, ofTests.join(" "));
  t.equal(ofServer.length + ofTests.length, changed.length, "and no other file");

  const copy = temporaryFolder(t);
  // Other tests write into most of these meanwhile, and the rest is large.
  const names = [".git", ".nats", ".node-versions", ".screenshots", ".tap", ".venv", "dist", "node_modules"];
  const without = new Set(names.map((name) => join(projectRoot, name)));
  const isCopied = (path: string) => !without.has(path) && basename(path) !== "__pycache__";
  cpSync(projectRoot, copy, { recursive: true, filter: isCopied });
  symlinkSync(join(projectRoot, "node_modules"), join(copy, "node_modules"));
  const environment = { ...process.env, GIT_CEILING_DIRECTORIES: join(copy, ".."), TAP_TIMEOUT: "600" };
  const inCopy = (program: string, ...parameters: string[]) =>
    run(program, parameters, { cwd: copy, env: environment });
  await inCopy("git", "apply", patch);
  await inCopy(process.execPath, "--import=tsx", "packages/client/scripts/generate-api.ts");

  const files = [...changed, "src/app/main.ts", "test/sim/catalogue.ts"];
  writeFileSync(
    join(copy, "tsconfig.example.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: ["src/**/*.d.ts"], files }),
  );
  // Without the hooks that tap gives to the programs it starts: the compiler cannot be loaded with them.
  const compiler = [process.execPath, "node_modules/typescript7/bin/tsc"];
  await inCopy("env", "-u", "NODE_OPTIONS", ...compiler, "-p", "tsconfig.example.json");
  t.pass("it compiles");
  const tests = [
    ...ofTests.filter((path) => path.endsWith(".test.ts")),
    "test/permissions/other-ids.test.ts",
    "test/realtime/every-type.test.ts",
    "test/realtime/register.test.ts",
  ];
  for (const file of tests) {
    await inCopy(process.execPath, "--import=tsx", file);
    t.pass(`${file} passes`);
  }
});
