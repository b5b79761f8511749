/**
 * Runs built groups of test files, a few at a time, each in its own process. The output of a process is passed on when
 * the process has ended, so that logs do not mix. A process that hangs is killed; one that ends without its totals
 * counts as a failure.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failures } from "./test-failures.mjs";

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
  failedFiles = new Set();
  failures = new Failures();

  note(line) {
    this.failures.note(line);
    const [, failedFile] = /^not ok \d+ - (test\/\S+)/.exec(line) ?? [];
    if (failedFile !== undefined) this.failedFiles.add(failedFile);
    const [, file] = /^# Subtest: (.+)$/.exec(line) ?? [];
    if (file !== undefined) this.file = file;
    const isTotal = /^# \{ total: .*\}$/.test(line);
    if (!isTotal) return;
    const count = (key) => Number(new RegExp(`\\b${key}: (\\d+)`).exec(line)?.[1] ?? 0);
    this.passed = count("pass");
    this.failed = count("fail");
  }
}

/**
 * @returns {Promise<{ output: string, passed: number, failed: number, failedFiles: string[], failures: Failures }>} the
 *   files that failed or did not run
 */
function runProcess({ program, files, isOnDisk, environment: sizes }, memory) {
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
      const { file, passed, failed, failedFiles, failures } = reading;
      if (problem !== null) {
        const missing = files.filter((path) => path > file);
        const what = `its process ${problem}${missing.length === 0 ? "" : `, before ${missing.join(", ")}`}`;
        const lastWords = errors.trimEnd().replaceAll(/^/gm, "    ");
        const end = `not ok - ${file || files[0]}: ${what}\n  ---\n  stderr: |\n${lastWords}\n  ...\n`;
        output += end;
        for (const line of end.split("\n")) failures.note(line);
        for (const path of [file || files[0], ...missing]) failedFiles.add(path);
      }
      resolve({
        output,
        passed: passed ?? 0,
        failed: failed + (problem === null ? 0 : 1),
        failedFiles: [...failedFiles],
        failures,
      });
    });
  });
}

/**
 * @param onOutput gets the text of one process after the other
 * @returns for each group how many assertions passed and failed, the files that failed, and what failed in them
 */
export async function runTests(groups, jobs, onOutput) {
  const memory = mkdtempSync(join(temporaryParent(), "colloquy-tests-"));
  const waiting = groups.filter(({ needsMachine }) => !needsMachine);
  const results = [];
  const work = async (list) => {
    for (let group = list.shift(); group !== undefined; group = list.shift()) {
      const start = performance.now();
      const { output, ...result } = await runProcess(group, memory);
      const seconds = Math.round((performance.now() - start) / 1000);
      onOutput(`# ${group.name} (${seconds} s)\n${output}`);
      results.push({ group, ...result });
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, () => work(waiting)));
    await work(groups.filter(({ needsMachine }) => needsMachine));
  } finally {
    rmSync(memory, { recursive: true, force: true });
  }
  return results;
}
