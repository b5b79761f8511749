/**
 * `npm run audit:dependencies`: known weaknesses of what runs in production, as the registry knows them. Exit code 0: none; 1: some,
 * listed; 2: the registry could not be asked, which says nothing about the dependencies. Not part of `npm test`, which needs no network.
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
  process.stderr.write(`audit: the registry could not be asked (${why}): nothing is known, neither good nor bad\n`);
  process.exitCode = 2;
} else {
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) process.stdout.write(`${severity}: ${name} ${range}\n`);
  process.stdout.write(`${found.length} known weaknesses in production dependencies\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
