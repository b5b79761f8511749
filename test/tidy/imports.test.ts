/**
 * Import rules (architecture, Layout) over the real import graph, and other rules that no compiler checks: banned code,
 * file sizes, opening comments, and a reason for every dependency.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { findCircles, findCycles, folderGraph, importGraph, projectRoot, readSources, type Source } from "./sources.ts";

const sources = readSources();
const ours = sources.filter(({ path }) => /^(?:schemas|domain|actors|src)\//.test(path));

/** The wings of docs/architecture.md. A file imports its own wing and those of later lines. */
const wings: readonly (readonly string[])[] = [
  ["src/cli"],
  ["src/app"],
  ["src/operate"],
  ["src/edge"],
  ["src/operations", "src/outbound"],
  ["src/runtime", "src/queries"],
  ["src/durability"],
  ["src/store"],
  ["src/api-documents", "src/metrics", "src/log"],
  ["actors"],
  ["domain"],
  ["schemas"],
];

function wingOf(path: string): string {
  return /^src\/[^/]+(?=\/)|^[^/]+/.exec(path)?.[0] ?? "";
}

function levelOf(path: string): number {
  const level = wings.findIndex((names) => names.includes(wingOf(path)));
  return level < 0 ? Number.NaN : level;
}

function violationsOf({ path, imports }: Pick<Source, "path" | "imports">): string[] {
  return imports
    .filter(({ target, isPackage }) => !isPackage && !target.startsWith("packages/"))
    .filter(({ target }) => wingOf(target) !== wingOf(path) && !(levelOf(path) < levelOf(target)))
    .map(({ target }) => `${path} imports ${target}`);
}

t.test("every import is in the order of the wings, type imports included", async (t) => {
  t.ok(ours.length > 100, "the sources were found");
  const found = ours.map(({ path }) => path).filter((path) => Number.isNaN(levelOf(path)));
  t.strictSame(found, [], "every file is in a wing");
  t.strictSame(ours.flatMap(violationsOf), []);
  const made = (path: string, target: string) => ({ path, imports: [{ target, isPackage: false, isTypeOnly: true }] });
  t.equal(violationsOf(made("src/store/x.ts", "src/runtime/y.ts")).length, 1, "an import upwards would be found");
  t.equal(violationsOf(made("src/runtime/x.ts", "src/queries/y.ts")).length, 1, "one of the same line, too");
  t.equal(violationsOf(made("src/runtime/x.ts", "actors/y.ts")).length, 0);
});

t.test("the wings of the page are those that the test knows, in this order", async (t) => {
  const page = readFileSync(join(projectRoot, "docs/architecture.md"), "utf8");
  const shown = /```wings\n([^`]+)```/.exec(page)?.[1] ?? "";
  const lines = shown
    .trim()
    .split("\n")
    .map((line) => line.split(/,? +/));
  t.strictSame(lines, wings);
});

/** Parts of the command line that are clients of a server. */
const clientPrograms = ["src/cli/listen.ts"];

t.test("a published package imports only its own files and modules of Node", async (t) => {
  const published = sources.filter(({ path }) => /^packages\/(?!web\/)[\w-]+\/src\//.test(path));
  t.ok(published.length > 10, "the packages were found");
  for (const { path, imports } of published) {
    const own = path.split("/").slice(0, 3).join("/");
    for (const { target, isPackage } of imports) {
      if (isPackage || !target.startsWith(`${own}/`)) t.fail(`${path} imports ${target}`);
    }
  }
  const graph = importGraph(published);
  t.strictSame([...findCircles(graph), ...findCircles(folderGraph(graph))], [], "no cycles");
  const users = ours.filter(({ imports }) => imports.some(({ target }) => target.startsWith("packages/")));
  const paths = users.map(({ path }) => path);
  t.strictSame(paths, clientPrograms, "only the programs that are clients use them");
});

t.test("the page imports its own files, those of the client package, and Preact", async (t) => {
  const page = sources.filter(({ path }) => path.startsWith("packages/web/src/"));
  t.ok(page.length > 10, "the page was found");
  const packages = ["preact", "@preact/signals"];
  for (const { path, imports } of page) {
    for (const { target, isPackage } of imports) {
      const isOurs = target.startsWith("packages/web/src/") || target.startsWith("packages/client/src/");
      if (isPackage ? !packages.includes(target) : !isOurs) t.fail(`${path} imports ${target}`);
    }
  }
  t.strictSame(findCircles(importGraph(page)), [], "no circles of files");
});

t.test("there are no import cycles at run time", async (t) => {
  t.strictSame(findCycles(sources), []);
  const link = (path: string, target: string) => ({ path, imports: [{ target, isPackage: false, isTypeOnly: false }] });
  t.strictSame(
    findCycles([link("a", "b"), link("b", "c"), link("c", "b")]),
    [["b", "c", "b"]],
    "a cycle would be found",
  );
});

/** Import cycles that still exist. The list may only become shorter. */
const knownFileCircles: readonly (readonly string[])[] = [];
const knownFolderCircles: readonly (readonly string[])[] = [];

/** Cycles without an exception, and exceptions without a cycle. */
function faultsOf(circles: readonly string[][], known: readonly (readonly string[])[]): string[] {
  const isWithin = (circle: readonly string[], exception: readonly string[]) =>
    circle.every((one) => exception.includes(one));
  const unknown = circles.filter((circle) => !known.some((exception) => isWithin(circle, exception)));
  const mended = known.filter((exception) => !circles.some((circle) => isWithin(circle, exception)));
  return [
    ...unknown.map((circle) => `circle: ${circle.join(", ")}`),
    ...mended.map((exception) => `remove the exception, the circle is gone: ${exception.join(", ")}`),
  ];
}

t.test("there are no import cycles of files or folders, type imports included", async (t) => {
  const graph = importGraph(ours);
  t.strictSame(faultsOf(findCircles(graph), knownFileCircles), [], "files");
  t.strictSame(faultsOf(findCircles(folderGraph(graph)), knownFolderCircles), [], "folders");
  const bench = sources.filter(({ path }) => path.startsWith("bench/"));
  t.ok(bench.length > 50, "the load-testing kit was found");
  t.strictSame(findCircles(importGraph(bench)), [], "files of the load-testing kit");
  const made = new Map([
    ["a/x.ts", ["b/x.ts"]],
    ["a/y.ts", ["a/x.ts"]],
    ["b/x.ts", []],
    ["b/y.ts", ["a/y.ts"]],
  ]);
  t.strictSame(findCircles(made), [], "the files are in order");
  t.strictSame(findCircles(folderGraph(made)), [["a", "b"]], "a circle of folders is found");
  made.set("b/x.ts", ["b/y.ts"]);
  t.strictSame(faultsOf(findCircles(made), []), ["circle: a/x.ts, a/y.ts, b/x.ts, b/y.ts"], "one of files, too");
  t.strictSame(faultsOf([], [["a", "b"]]).length, 1, "an exception that is no longer needed is reported");
});

t.test("only actors/kinds.ts imports machines", async (t) => {
  for (const { path, imports } of ours) {
    const machines = imports.filter(({ target }) => /^actors\/[\w-]+\/machine\.ts$/.test(target));
    if (path !== "actors/kinds.ts" && machines.length > 0) t.fail(`${path} imports ${machines[0]?.target}`);
  }
  t.pass("checked");
});

t.test("lmdb, uWebSockets.js, ws, xstate and NATS are imported only by their own folders", async (t) => {
  const homes: Readonly<Record<string, string>> = {
    lmdb: "src/store/",
    "uWebSockets.js": "src/edge/transport/",
    ws: "src/edge/transport/",
    xstate: "actors/",
    nodemailer: "src/outbound/",
    "@nats-io/transport-node": "src/durability/cluster/",
    "@nats-io/jetstream": "src/durability/cluster/",
    "@nats-io/obj": "src/durability/cluster/",
  };
  for (const [name, home] of Object.entries(homes)) {
    const users = ours.filter(({ imports }) => imports.some(({ target, isPackage }) => isPackage && target === name));
    t.ok(users.length > 0, `${name} is used`);
    t.strictSame(
      users.map(({ path }) => path).filter((path) => !path.startsWith(home) && !clientPrograms.includes(path)),
      [],
      name,
    );
  }
});

t.test("the server imports neither tests nor benches, and every imported file exists", async (t) => {
  for (const { path, imports } of sources) {
    for (const { target, isPackage } of imports) {
      if (isPackage) continue;
      if (!existsSync(join(projectRoot, target))) t.fail(`${path} imports ${target}, which does not exist`);
      const isServer = /^(?:schemas|domain|actors|src)\//.test(path);
      if (isServer && /^(?:test|bench)\//.test(target)) t.fail(`${path} imports ${target}`);
    }
  }
  t.pass("checked");
});

interface Ban {
  readonly what: RegExp;
  readonly where: readonly Source[];
  readonly except: readonly string[];
}

/** This file contains the patterns that it looks for. */
const others = sources.filter(({ path }) => path !== "test/tidy/imports.test.ts");

const bans: Readonly<Record<string, Ban>> = {
  "[M4] clock and randomness outside their modules": {
    what: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/,
    where: ours,
    // The journal thread and the flush of copies measure their disk; no decision sees that.
    except: [
      "src/runtime/clock.ts",
      "src/app/main.ts",
      "src/durability/journal/flushes.ts",
      "src/store/gentle-flush.ts",
    ],
  },
  "[M4] randomness in pure code": {
    what: /\brandom(?:Bytes|UUID|Int|Fill)|getRandomValues|webcrypto/,
    where: ours.filter(({ path }) => /^(?:actors|schemas|domain)\//.test(path)),
    except: [],
  },
  any: { what: /\bas any\b|<any>/, where: ours, except: [] },
  "tests that disable other tests": { what: /\.only\(|\bonly: true/, where: others, except: [] },
  "open TODO notes in comments": {
    what: /\b(?:TODO|FIXME|XXX|HACK)\b/,
    where: others,
    // TODO is a directive of TAP, which these read.
    except: ["scripts/test-failures.mjs", "test/tidy/test-failures.test.ts"],
  },
  "paths of a developer's machine": {
    what: /["'`\s(](?:\/(?:home|Users)\/\w+\/|\/(?:root|work|tmp)\/\w|[A-Z]:\\)/,
    where: others,
    except: [],
  },
  "default exports": { what: /^export default\b/m, where: others, except: [] },
  "compiler silenced": { what: /@ts-(?:ignore|expect-error|nocheck)/, where: others, except: [] },
};

for (const [rule, { what, where, except }] of Object.entries(bans)) {
  t.test(`${rule}: nowhere`, async (t) => {
    t.ok(where.length > 0);
    for (const { path, text } of where) {
      if (except.includes(path)) continue;
      const line = text.split("\n").findIndex((one) => what.test(one));
      if (line >= 0 || what.test(text)) t.fail(`${path}:${line + 1}`);
    }
  });
}

t.test("every file opens with a comment; files of more than 400 lines are reported", async (t) => {
  for (const { path, text } of sources) {
    if (!/^(?:#!.*\n)?(?:\/\*|\/\/)/.test(text)) t.fail(`${path} does not begin with a comment`);
    const lines = text.split("\n").length - 1;
    if (lines > 400) t.comment(`${path} has ${lines} lines`);
    if (!/^[a-z0-9.-]+$/.test(path.split("/").at(-1) ?? "")) t.fail(`${path} is not in kebab case`);
  }
  t.pass("checked");
});

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const readDescription = (folder: string) =>
  JSON.parse(readFileSync(join(projectRoot, folder, "package.json"), "utf8")) as Package;

const description = readDescription(".");

/** Peers of the bench: programs with their own packages, which no other file may import. */
const peers = readdirSync(join(projectRoot, "bench/peers")).flatMap((name) => {
  const folder = `bench/peers/${name}`;
  return existsSync(join(projectRoot, folder, "package.json"))
    ? [{ folder, description: readDescription(folder) }]
    : [];
});

/** Packages that are run by name or named in configuration only. */
const programs: Readonly<Record<string, string>> = {
  "@biomejs/biome": "biome",
  typescript7: "tsc",
  tap: "tap",
  tsx: "tsx",
};

function isUsed(name: string): boolean {
  const program = programs[name];
  const commands = [
    ...Object.values(description.scripts),
    readFileSync(join(projectRoot, "scripts/test.mjs"), "utf8"),
  ].join("\n");
  if (program !== undefined && new RegExp(`\\b${program}\\b`).test(commands)) return true;
  if (name.startsWith("@types/")) return name === "@types/node" || isUsed(name.slice("@types/".length));
  return sources.some(({ imports }) => imports.some(({ target, isPackage }) => isPackage && target === name));
}

t.test("every dependency is used, and docs/dependencies.md says what it is for", async (t) => {
  const table = readFileSync(join(projectRoot, "docs/dependencies.md"), "utf8");
  for (const name of [...Object.keys(description.dependencies), ...Object.keys(description.devDependencies ?? {})]) {
    t.ok(isUsed(name), `${name} is used`);
    t.ok(
      table.includes(`\`${name}\``) || (name.startsWith("@types/") && table.includes("@types/")),
      `docs/dependencies.md names ${name}`,
    );
  }
});

t.test("packages that the server imports are dependencies, not devDependencies", async (t) => {
  for (const { path, imports } of sources) {
    if (peers.some(({ folder }) => path.startsWith(`${folder}/`))) continue;
    const isServer = /^(?:schemas|domain|actors|src)\/|^(?:colloquy|scripts\/build)\.mjs$/.test(path);
    for (const { target, isPackage, isTypeOnly } of imports) {
      if (!isPackage) continue;
      const isProduct = description.dependencies[target] !== undefined;
      const isTool = description.devDependencies?.[target] !== undefined;
      if (!isProduct && (isServer ? !isTypeOnly : !isTool)) t.fail(`${path} imports ${target}`);
    }
  }
  t.pass("checked");
});

t.test("a peer imports only what its own package.json lists, and no file imports a peer", async (t) => {
  t.ok(peers.length > 0);
  for (const { folder, description: own } of peers) {
    const inside = sources.filter(({ path }) => path.startsWith(`${folder}/`));
    const imported = inside.flatMap(({ imports }) =>
      imports.filter((one) => one.isPackage).map(({ target }) => target),
    );
    t.strictSame([...new Set(imported)].toSorted(), Object.keys(own.dependencies).toSorted(), folder);
    const users = sources.filter(({ imports }) => imports.some(({ target }) => target.startsWith(`${folder}/`)));
    const found = users.map(({ path }) => path).filter((path) => !path.startsWith(`${folder}/`));
    t.strictSame(found, [], folder);
    t.ok(existsSync(join(projectRoot, folder, "package-lock.json")), `${folder} has its versions locked`);
  }
});

t.test("dependency versions are exact", async (t) => {
  const all = [description, ...peers.map((peer) => peer.description)];
  for (const { dependencies, devDependencies = {} } of all) {
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      t.match(version, /^(?:npm:[a-z-]+@)?\d+\.\d+\.\d+$/, name);
    }
  }
});
