/**
 * Decides which test files share a process. Starting one and loading the server takes about a second of CPU time, as
 * much as most files need for their tests. A file has its own process if it measures or changes the process, or runs
 * for long.
 */
import { environmentIn, tiers } from "./test-tiers.mjs";

/** Limits a process's memory: it keeps some of every server that it has run. */
const filesMax = 10;

/**
 * Files in these folders start programs or play random rounds. They run first, so that no long process is left at the
 * end.
 */
const longFolders = ["crash", "bench", "permissions", "sim", "model", "fuzz", "soak"];

/** Files that measure their process (heap, CPU time), set its flags or replace its methods; test/tidy/processes.test.ts finds them. */
export const measuringFiles = [
  "test/runtime/idle-realms.test.ts",
  "test/api/shut-gate.test.ts",
  "test/api/timing.test.ts",
  "test/journal/overlay-memory.test.ts",
  "test/domain/markdown-steps.test.ts",
  "test/readme/account-bounds.test.ts",
  "test/runtime/cache-memory.test.ts",
  "test/runtime/search-cost.test.ts",
];

/** Nodes of a cluster end if they cannot renew their lease within a second, so nothing else may run beside their tests. */
const leaseFiles = /\/cluster[./]/;

/** Folders whose tests need a disk, because they prove what survives a crash. */
const diskFolders = ["archive", "bench", "crash", "soak", "startup", "store"];

const variantEnvironments = {
  "": {},
  "on-node": { TRANSPORT: "node" },
  "through-edge": { THROUGH_EDGE: "true" },
};

const folderOf = (file) => file.split("/")[1] ?? "";

/** @returns whether no other file may share the process */
export function runsAlone(file) {
  return (
    longFolders.includes(folderOf(file)) || measuringFiles.includes(file) || tiers.some((entry) => entry.file === file)
  );
}

/**
 * @param files paths below the project's root
 * @param jobs processes at a time
 * @param variant "on-node": their servers use Node's transport; "through-edge": their clients are at an edge
 * @returns one group for each process, in the order in which they run; those with `needsMachine` run by themselves
 */
export function groupsOf(files, { tier, jobs, variant = "" }) {
  const groups = [];
  const add = (members) => {
    const folder = folderOf(members[0]);
    groups.push({
      name: `${folder}-${groups.length}${variant === "" ? "" : `-${variant}`}`,
      files: members,
      isOnDisk: diskFolders.includes(folder),
      variant,
      needsMachine: leaseFiles.test(members[0]) && runsAlone(members[0]),
      environment: { ...environmentIn(tier, members[0]), ...variantEnvironments[variant] },
    });
  };
  const sorted = [...files].sort();
  const alone = sorted.filter(runsAlone);
  for (const folder of new Set([...longFolders, ...alone.map(folderOf)])) {
    for (const file of alone.filter((member) => folderOf(member) === folder)) add([file]);
  }
  const shared = sorted.filter((file) => !runsAlone(file));
  for (const folder of new Set(shared.map(folderOf))) {
    const members = shared.filter((file) => folderOf(file) === folder);
    const size = Math.min(filesMax, Math.ceil(members.length / jobs));
    for (let at = 0; at < members.length; at += size) add(members.slice(at, at + size));
  }
  return groups;
}

/**
 * @param results of groups, with the files that failed
 * @returns for each of these files a group of its own, with `rerunOf`: the name of the group in which it failed
 */
export function alone(results, { tier, jobs }) {
  return results.flatMap(({ group, failedFiles }) =>
    failedFiles.flatMap((file, index) =>
      groupsOf([file], { tier, jobs, variant: group.variant }).map((single) => ({
        ...single,
        name: `again-${group.name}-${index}`,
        rerunOf: group.name,
      })),
    ),
  );
}
