/**
 * `npm test`: typecheck and lint and, if both pass, the tests. `npm run test:deep` plays the random tests at length,
 * from new seeds (test-tiers.mjs). Both run some files once more on Node's transport (docs/transport.md). The last line
 * is `N passed, N failed`, counted over everything that ran; the failures are repeated before it.
 * A file of `npm test` that fails runs once more by itself. If it passes then, the run passes and prints `flaky: <file>:
 * <title>`: a fault of the test or of the server that must be mended.
 * `npm test -- users topic` runs the files with one of these words in their path. JOBS is the number of processes at a
 * time.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { ensureWebBuilt } from "../packages/web/build.mjs";
import { buildTests, testFiles } from "./build-tests.mjs";
import { runTests } from "./run-tests.mjs";
import { failedLinesMax } from "./test-failures.mjs";
import { alone, groupsOf } from "./test-groups.mjs";
import { environmentIn, runsOnNode, runsThroughEdge } from "./test-tiers.mjs";

const isDeep = process.argv[2] === "--deep";
const tier = isDeep ? "deep" : "quick";
const words = process.argv.slice(isDeep ? 3 : 2);
const jobs = Number(process.env.JOBS ?? 2 * availableParallelism());
/** So many failed files are a broken change, not chance: none of them runs again. */
const rerunFilesMax = 10;
const steps = [
  ["typecheck", "npm", ["run", "--silent", "typecheck"]],
  ["lint", "biome", ["check", "--error-on-warnings", "."]],
];

/** @returns what the command printed, and whether it succeeded */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", ({ message }) => resolve({ output: message, isOk: false }));
    child.on("close", (code) => resolve({ output, isOk: code === 0 }));
  });
}

let passed = 0;
let failed = 0;
/** Lines for the end of the output. */
const failures = [];
const flaky = [];
if (isDeep) process.env.SEED ??= "new";

/** The files that run once more on Node's transport; none if the caller chose a transport for all. */
function onNode(files) {
  return process.env.TRANSPORT === undefined ? files.filter((file) => runsOnNode(tier, file)) : [];
}

/** The files that run once more with their clients at an edge. */
function throughEdge(files) {
  return files.filter((file) => runsThroughEdge(tier, file));
}

/** A file that is chosen by a word runs in either tier. */
function isChosen(file) {
  return words.length === 0 ? environmentIn(tier, file) !== null : words.some((word) => file.includes(word));
}

const checks = await Promise.all(isDeep ? [] : steps.map(([, command, args]) => run(command, args)));
for (const [index, { output, isOk }] of checks.entries()) {
  process.stdout.write(`# ${steps[index][0]}\n${output}`);
  if (isOk) passed++;
  else failed++;
  if (!isOk) failures.push(`not ok - ${steps[index][0]}: see its output above`);
}

if (failed === 0) {
  process.stdout.write("# tests\n");
  // Servers read the page at their start, which must not be in the middle of a build.
  await ensureWebBuilt();
  const chosen = testFiles().filter(isChosen);
  const candidates = isDeep && words.length === 0 ? testFiles() : chosen;
  const groups = await buildTests([
    ...groupsOf(chosen, { tier, jobs }),
    ...groupsOf(onNode(candidates), { tier, jobs, variant: "on-node" }),
    ...groupsOf(throughEdge(candidates), { tier, jobs, variant: "through-edge" }),
  ]);
  const write = (output) => process.stdout.write(output);
  const results = await runTests(groups, jobs, write);
  const isFailed = ({ failed }) => failed > 0;
  const again = isDeep ? [] : alone(results.filter(isFailed), { tier, jobs });
  const canRerun = again.length > 0 && again.length <= rerunFilesMax;
  const reruns = canRerun ? await runTests(await buildTests(again), 1, write) : [];
  for (const result of results) {
    passed += result.passed;
    const repeats = reruns.filter(({ group }) => group.rerunOf === result.group.name);
    if (isFailed(result) && repeats.length > 0 && !repeats.some(isFailed)) {
      flaky.push(...result.failures.titles.map((title) => `flaky: ${title}`));
    } else {
      failed += result.failed;
      failures.push(...result.failures.lines);
    }
  }
  if (chosen.length === 0) {
    failures.push(`not ok - no test file has ${words.join(" or ")} in its path`);
    failed++;
  }
}

if (failures.length > 0) process.stdout.write(`\n# what failed\n${failures.slice(0, failedLinesMax).join("\n")}\n`);
if (flaky.length > 0) process.stdout.write(`\n${flaky.join("\n")}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
