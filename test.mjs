/**
 * `npm test`: typecheck, lint, then the tests, in order of cheapness; stops at the first that fails. The last line is
 * `N passed, N failed`, counted over everything that ran; before it what failed is told once more, so that the end of a log
 * says why. `npm test -- users topic` runs the files with one of these words in their path.
 */
import { spawn } from "node:child_process";
import { buildTests } from "./build-tests.mjs";

const words = process.argv.slice(2);
const steps = [
  ["typecheck", "tsc", ["--noEmit"]],
  ["lint", "biome", ["check", "--error-on-warnings", "."]],
];

function run(command, args, onLine, environment = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], env: environment });
    let rest = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      process.stdout.write(text);
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine?.(line);
    });
    child.on("error", () => resolve(127));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Notes of a TAP log each line that says `not ok`, with the block of diagnostics that follows it. */
function failuresOf(linesMax) {
  const lines = [];
  let isOpen = false;
  const note = (line) => {
    isOpen = /^ *not ok /.test(line) || (isOpen && !/^ *(?:ok |1\.\.|# |$)/.test(line));
    if (isOpen && lines.length < linesMax) lines.push(line);
  };
  return { lines, note };
}

let passed = 0;
let failed = 0;
const failures = failuresOf(200);

for (const [name, command, args] of steps) {
  process.stdout.write(`# ${name}\n`);
  const code = await run(command, args);
  if (code === 0) passed++;
  else failed++;
}

if (failed === 0) {
  process.stdout.write("# tests\n");
  let totals = null;
  const built = await buildTests();
  const chosen = words.length === 0 ? built : built.filter((file) => words.some((word) => file.includes(word)));
  const noteLine = (line) => {
    failures.note(line);
    const match = /^# (\{ total: .*\})$/.exec(line);
    if (match !== null) totals = match[1];
  };
  const environment = { ...process.env, TAP_RCFILE: "test/built.taprc" };
  // Without a file tap would look for some by itself.
  const code = chosen.length === 0 ? 1 : await run("tap", ["run", "--reporter=tap", ...chosen], noteLine, environment);
  const count = (key) => Number(new RegExp(`${key}: (\\d+)`).exec(totals ?? "")?.[1] ?? 0);
  passed += count("pass");
  failed += count("fail");
  // A run that ended badly without saying so is a failure, too.
  if (totals === null || (code !== 0 && count("fail") === 0)) failed++;
}

if (failures.lines.length > 0) process.stdout.write(`\n# what failed\n${failures.lines.join("\n")}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
