/**
 * `npm run audit:dependencies`: lists known vulnerabilities of production dependencies, as reported by the registry.
 * Exit code 0: none; 1: some; 2: the registry could not be reached, which says nothing about the dependencies. Not part
 * of `npm test`, which needs no network.
 */
import { spawnSync } from "node:child_process";

const { stdout, error } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" });

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const report = error === undefined ? parsed(stdout) : null;
if (report?.vulnerabilities === undefined) {
  const why = report?.message ?? report?.error?.summary ?? error?.message ?? "no answer";
  process.stderr.write(`audit: the registry could not be reached (${why}); the result is unknown\n`);
  process.exitCode = 2;
} else {
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) process.stdout.write(`${severity}: ${name} ${range}\n`);
  process.stdout.write(`${found.length} known vulnerabilities in production dependencies\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
