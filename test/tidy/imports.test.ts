/**
 * Who may import whom (architecture, Layout), over the real import graph, and the other rules that no compiler checks: bans,
 * sizes, opening comments, and a reason for every dependency.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { findCycles, projectRoot, readSources, type Source } from "./sources.ts";

const sources = readSources();
const ours = sources.filter(({ path }) => /^(?:schemas|actors|src)\//.test(path));

/** A folder of the architecture; what lies in `src/` itself is the composition root. */
function roomOf(path: string): string {
  const [top, second, third] = path.split("/");
  if (top !== "src") return top ?? "";
  return third === undefined ? "root" : (second ?? "");
}

/** architecture.md, "Who may import whom". The composition root may import everything. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  domain: ["schemas"],
  actors: ["schemas", "domain"],
  store: ["schemas"],
  runtime: ["actors", "store", "schemas"],
  queries: ["store", "domain", "schemas"],
  http: ["runtime", "queries", "domain", "schemas"],
  realtime: ["runtime", "queries", "domain", "schemas"],
  outbound: ["runtime", "schemas"],
};

/** Files that more rooms may know than the table says, each with its reason. */
const shared: readonly { readonly target: string; readonly rooms: readonly string[]; readonly why: string }[] = [
  {
    target: "actors/commands.ts",
    rooms: ["http", "realtime", "outbound"],
    why: "the endpoint builds the command (step 4 of a write); a courier tells how a delivery went",
  },
  {
    target: "src/store/folders.ts",
    rooms: ["outbound"],
    why: "letters that are files survive a power cut by the same flushes as the store's own",
  },
  { target: "src/domain/view.ts", rooms: ["runtime"], why: "the runtime carries out the view that decisions read" },
];

function violationsOf({ path, imports }: Pick<Source, "path" | "imports">): string[] {
  const room = roomOf(path);
  if (room === "root") return [];
  return imports.flatMap(({ target, isPackage }) => {
    if (isPackage || roomOf(target) === room) return [];
    const mayImport = allowed[room]?.includes(roomOf(target)) === true;
    const isShared = shared.some((entry) => entry.target === target && entry.rooms.includes(room));
    return mayImport || isShared ? [] : [`${path} imports ${target}`];
  });
}

t.test("[architecture, Who may import whom] every import is allowed, types too", (t) => {
  t.ok(ours.length > 100, "the sources were found");
  const rooms = new Set(ours.map(({ path }) => roomOf(path)));
  t.strictSame(
    [...rooms].filter((room) => room !== "root" && allowed[room] === undefined),
    [],
    "every room has its rule",
  );
  t.strictSame(ours.flatMap(violationsOf), []);
  const made = (path: string, target: string) => ({ path, imports: [{ target, isPackage: false, isTypeOnly: true }] });
  t.equal(violationsOf(made("src/store/x.ts", "src/runtime/y.ts")).length, 1, "a wrong one would be found");
  t.equal(violationsOf(made("actors/topic/x.ts", "src/server.ts")).length, 1, "nobody imports the composition root");
  t.end();
});

t.test("[architecture, Who may import whom] every exception is in use", (t) => {
  for (const { target, rooms } of shared) {
    for (const room of rooms) {
      const users = ours.filter(
        (source) => roomOf(source.path) === room && source.imports.some((one) => one.target === target),
      );
      t.ok(users.length > 0, `${room} uses ${target}`);
    }
  }
  t.end();
});

t.test("[architecture, Who may import whom] no cycles at run time", (t) => {
  t.strictSame(findCycles(sources), []);
  const link = (path: string, target: string) => ({ path, imports: [{ target, isPackage: false, isTypeOnly: false }] });
  t.strictSame(findCycles([link("a", "b"), link("b", "c"), link("c", "b")]), [["b", "c", "b"]], "one would be found");
  t.end();
});

t.test("[architecture, Who may import whom] lmdb, uWebSockets.js and xstate stay where they belong", (t) => {
  const homes: Readonly<Record<string, readonly string[]>> = {
    lmdb: ["store"],
    "uWebSockets.js": ["http", "realtime"],
    xstate: ["actors", "runtime"],
    nodemailer: ["outbound"],
  };
  for (const [name, rooms] of Object.entries(homes)) {
    const users = ours.filter(({ imports }) => imports.some(({ target, isPackage }) => isPackage && target === name));
    t.ok(users.length > 0, `${name} is used`);
    t.strictSame(
      users.map(({ path }) => path).filter((path) => !rooms.includes(roomOf(path))),
      [],
      name,
    );
  }
  t.end();
});

t.test(
  "[architecture, Who may import whom] no test and no bench is part of the server, and every import exists",
  (t) => {
    for (const { path, imports } of sources) {
      for (const { target, isPackage } of imports) {
        if (isPackage) continue;
        if (!existsSync(join(projectRoot, target))) t.fail(`${path} imports ${target}, which is not there`);
        const isServer = /^(?:schemas|actors|src)\//.test(path);
        if (isServer && /^(?:test|bench)\//.test(target)) t.fail(`${path} imports ${target}`);
      }
    }
    t.pass("checked");
    t.end();
  },
);

interface Ban {
  readonly what: RegExp;
  readonly where: readonly Source[];
  readonly except: readonly string[];
}

/** This file names what it looks for. */
const others = sources.filter(({ path }) => path !== "test/tidy/imports.test.ts");

const bans: Readonly<Record<string, Ban>> = {
  "[M4] time and chance": {
    what: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/,
    where: ours,
    except: ["src/runtime/clock.ts", "src/main.ts"],
  },
  "[M4] randomness in what must be pure": {
    what: /\brandom(?:Bytes|UUID|Int|Fill)|getRandomValues|webcrypto/,
    where: ours.filter(({ path }) => /^(?:actors|schemas|src\/domain)\//.test(path)),
    except: [],
  },
  "[house] any": { what: /\bas any\b|<any>/, where: ours, except: [] },
  "[house] tests that silence others": { what: /\.only\(|\bonly: true/, where: others, except: [] },
  "[house] promises instead of work": { what: /\b(?:TODO|FIXME|XXX|HACK)\b/, where: others, except: [] },
  "[house] paths of somebody's machine": {
    what: /["'`\s(](?:\/(?:home|Users)\/\w+\/|\/(?:root|work|tmp)\/\w|[A-Z]:\\)/,
    where: others,
    except: [],
  },
  "[house] default exports": { what: /^export default\b/m, where: others, except: [] },
  "[house] compiler silenced": { what: /@ts-(?:ignore|expect-error|nocheck)/, where: others, except: [] },
};

for (const [rule, { what, where, except }] of Object.entries(bans)) {
  t.test(`${rule}: nowhere`, (t) => {
    t.ok(where.length > 0);
    for (const { path, text } of where) {
      if (except.includes(path)) continue;
      const line = text.split("\n").findIndex((one) => what.test(one));
      if (line >= 0 || what.test(text)) t.fail(`${path}:${line + 1}`);
    }
    t.end();
  });
}

t.test("[house] every file opens with a comment and has at most 400 lines", (t) => {
  for (const { path, text } of sources) {
    if (!/^(?:#!.*\n)?(?:\/\*|\/\/)/.test(text)) t.fail(`${path} begins without a word`);
    const lines = text.split("\n").length - 1;
    if (lines > 400) t.fail(`${path} has ${lines} lines`);
    if (!/^[a-z0-9.-]+$/.test(path.split("/").at(-1) ?? "")) t.fail(`${path} is not in kebab case`);
  }
  t.pass("checked");
  t.end();
});

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const readDescription = (folder: string) =>
  JSON.parse(readFileSync(join(projectRoot, folder, "package.json"), "utf8")) as Package;

const description = readDescription(".");

/** Programs with packages of their own, which nothing else may lean on: the peers of the bench. */
const peers = readdirSync(join(projectRoot, "bench/peers")).flatMap((name) => {
  const folder = `bench/peers/${name}`;
  return existsSync(join(projectRoot, folder, "package.json"))
    ? [{ folder, description: readDescription(folder) }]
    : [];
});

/** Programs that are run by name, and packages that configuration names. */
const programs: Readonly<Record<string, string>> = {
  "@biomejs/biome": "biome",
  typescript: "tsc",
  tap: "tap",
  tsx: "tsx",
};

function isUsed(name: string): boolean {
  const program = programs[name];
  const commands = [...Object.values(description.scripts), readFileSync(join(projectRoot, "test.mjs"), "utf8")].join(
    "\n",
  );
  if (program !== undefined && new RegExp(`\\b${program}\\b`).test(commands)) return true;
  if (name.startsWith("@types/")) return name === "@types/node" || isUsed(name.slice("@types/".length));
  return sources.some(({ imports }) => imports.some(({ target, isPackage }) => isPackage && target === name));
}

t.test("[issue, Repository and tools] every dependency is used, and README.md says what for", (t) => {
  const readme = readFileSync(join(projectRoot, "README.md"), "utf8");
  for (const name of [...Object.keys(description.dependencies), ...Object.keys(description.devDependencies ?? {})]) {
    t.ok(isUsed(name), `${name} is used`);
    t.ok(
      readme.includes(`\`${name}\``) || (name.startsWith("@types/") && readme.includes("@types/")),
      `README names ${name}`,
    );
  }
  t.end();
});

t.test("[issue, Repository and tools] what the server imports is a dependency, not only of its tests", (t) => {
  for (const { path, imports } of sources) {
    if (peers.some(({ folder }) => path.startsWith(`${folder}/`))) continue;
    const isServer = /^(?:schemas|actors|src)\/|^(?:start|cli|build)\.mjs$/.test(path);
    for (const { target, isPackage, isTypeOnly } of imports) {
      if (!isPackage) continue;
      const isProduct = description.dependencies[target] !== undefined;
      const isTool = description.devDependencies?.[target] !== undefined;
      if (!isProduct && (isServer ? !isTypeOnly : !isTool)) t.fail(`${path} imports ${target}`);
    }
  }
  t.pass("checked");
  t.end();
});

t.test("[8 Bench, peers] what a peer imports is what its own package.json says, and nothing imports a peer", (t) => {
  t.ok(peers.length > 0);
  for (const { folder, description: own } of peers) {
    const inside = sources.filter(({ path }) => path.startsWith(`${folder}/`));
    const imported = inside.flatMap(({ imports }) =>
      imports.filter((one) => one.isPackage).map(({ target }) => target),
    );
    t.strictSame([...new Set(imported)].toSorted(), Object.keys(own.dependencies).toSorted(), folder);
    const users = sources.filter(({ imports }) => imports.some(({ target }) => target.startsWith(`${folder}/`)));
    t.strictSame(
      users.map(({ path }) => path).filter((path) => !path.startsWith(`${folder}/`)),
      [],
      folder,
    );
    t.ok(existsSync(join(projectRoot, folder, "package-lock.json")), `${folder} has its versions locked`);
  }
  t.end();
});

t.test("[issue, Repository and tools] versions are pinned exactly", (t) => {
  const all = [description, ...peers.map((peer) => peer.description)];
  for (const { dependencies, devDependencies = {} } of all) {
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      t.match(version, /^(?:npm:uws-pack@)?\d+\.\d+\.\d+$/, name);
    }
  }
  t.end();
});
