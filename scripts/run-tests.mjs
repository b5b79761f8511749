/**
 * Runs built groups of test files, a few at a time, each in its own process. The output of a process is passed on when
 * the process has ended, so that logs do not mix. A process that hangs is killed; one that ends without its totals
 * counts as a failure.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A process that prints nothing for so long hangs: each assertion is a line. No test depends on the speed of the
 * machine, so it is far above what any needs.
 */
const silentMsMax = 1_200_000;
/** Characters of the last output of a process that failed apart from its tests. */
const lastWordsMax = 2000;
const memoryFolder = "/dev/shm";
const memoryBytesMin = 2 * 1024 ** 3;

/** The folder for the data of tests that need no disk: in memory, if there is enough. */
function temporaryParent() {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= memoryBytesMin ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Follows the TAP of one process, line by line. */
class Reading {
  file = "";
  passed = null;
  failed = 0;

  note(line) {
    const [, file] = /^# Subtest: (.+)$/.exec(line) ?? [];
    if (file !== undefined) this.file = file;
    const isTotal = /^# \{ total: .*\}$/.test(line);
    if (!isTotal) return;
    const count = (key) => Number(new RegExp(`\\b${key}: (\\d+)`).exec(line)?.[1] ?? 0);
    this.passed = count("pass");
    this.failed = count("fail");
  }
}

/** @returns the output, the totals, and why the process failed apart from its tests, or null, and its last errors */
function runProcess({ program, isOnDisk, environment: sizes }, memory) {
  const environment = { ...sizes, ...process.env, TAP_TIMEOUT: "0", ...(isOnDisk ? {} : { TMPDIR: memory }) };
  const child = spawn(process.execPath, ["--enable-source-maps", program], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const reading = new Reading();
  let output = "";
  let rest = "";
  let errors = "";
  let problem = null;
  let timer = null;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      problem = `printed nothing for ${silentMsMax / 1000} s`;
      child.kill("SIGKILL");
    }, silentMsMax);
  };
  watch();
  child.stdout.setEncoding("utf8").on("data", (text) => {
    watch();
    output += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) reading.note(line);
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output += text;
    errors = (errors + text).slice(-lastWordsMax);
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      problem = error.message;
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (problem === null && signal !== null) problem = `was killed by ${signal}`;
      if (problem === null && reading.passed === null) problem = `exited with ${code} before its tests ended`;
      if (problem === null && code !== 0 && reading.failed === 0) problem = `ended with ${code}`;
      const { file, passed, failed } = reading;
      resolve({ output, passed: passed ?? 0, failed: failed + (problem === null ? 0 : 1), file, problem, errors });
    });
  });
}

/**
 * @param onOutput gets the text of one process after the other
 * @returns how many assertions passed and failed
 */
export async function runTests(groups, jobs, onOutput) {
  const memory = mkdtempSync(join(temporaryParent(), "colloquy-tests-"));
  const waiting = groups.filter(({ needsMachine }) => !needsMachine);
  const totals = { passed: 0, failed: 0 };
  const work = async (list) => {
    for (let group = list.shift(); group !== undefined; group = list.shift()) {
      const { output, passed, failed, file, problem, errors } = await runProcess(group, memory);
      const missing = group.files.filter((path) => path > file).join(", ");
      onOutput(`# ${group.name}\n${output}`);
      if (problem !== null) {
        const what = `its process ${problem}${missing === "" ? "" : `, before ${missing}`}`;
        const lastWords = errors.trimEnd().replaceAll(/^/gm, "    ");
        onOutput(`not ok - ${file || group.files[0]}: ${what}\n  ---\n  stderr: |\n${lastWords}\n  ...\n`);
      }
      totals.passed += passed;
      totals.failed += failed;
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, () => work(waiting)));
    await work(groups.filter(({ needsMachine }) => needsMachine));
  } finally {
    rmSync(memory, { recursive: true, force: true });
  }
  return totals;
}
