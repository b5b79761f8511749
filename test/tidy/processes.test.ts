/** Test files share processes (scripts/test-groups.mjs), unless they measure their process or change more of it than their own servers. */
import t from "tap";
import { measuringFiles, runsAlone } from "../../scripts/test-groups.mjs";
import { tiers } from "../../scripts/test-tiers.mjs";
import { readSources } from "./sources.ts";

const sources = new Map(readSources().map((source) => [source.path, source]));

/** Things that belong to the process: flags, heap, processor time, environment, folder, handlers and prototypes. */
const processWide =
  /\bsetFlagsFromString\(|\bprocess\.(?:cpuUsage|memoryUsage|chdir|on|once|exit)\(|\bprocess\.env(?:\.\w+|\[[^\]]+\]) = |\.prototype\.\w+ = |\bglobalThis\.\w+ = /;

function isProcessWide(path: string, seen = new Set<string>()): boolean {
  const source = sources.get(path);
  if (source === undefined || seen.has(path) || !path.startsWith("test/")) return false;
  seen.add(path);
  return processWide.test(source.text) || source.imports.some(({ target }) => isProcessWide(target, seen));
}

t.test("a test file that measures or changes its process runs alone in it", async (t) => {
  const files = [...sources.keys()].filter((path) => path.endsWith(".test.ts"));
  t.ok(files.length > 300);
  const found = files.filter((path) => isProcessWide(path));
  t.ok(found.includes("test/domain/markdown-steps.test.ts"), "flags are found");
  for (const path of found) t.ok(runsAlone(path), path);
  for (const path of measuringFiles) t.ok(found.includes(path), `${path} still measures or changes its process`);
});

t.test("each size of a tier is a variable that its file reads, and the deep tier has the larger value", async (t) => {
  for (const { file, quick, deep } of tiers) {
    const text = textsOf(file);
    t.ok(text !== "", `${file} is there`);
    for (const name of Object.keys({ ...quick, ...deep }))
      t.match(text, `process.env["${name}"]`, `${file} reads ${name}`);
    for (const [name, size] of Object.entries(deep)) {
      if (quick !== null) t.ok(size > (quick[name] ?? Number.POSITIVE_INFINITY), `${file}: ${name}`);
    }
  }
});

/** The file's text, and that of the test modules that it imports. */
function textsOf(path: string, seen = new Set<string>()): string {
  const source = sources.get(path);
  if (source === undefined || seen.has(path) || !path.startsWith("test/")) return "";
  seen.add(path);
  return [source.text, ...source.imports.map(({ target }) => textsOf(target, seen))].join("\n");
}
