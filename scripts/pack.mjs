/**
 * Packs what `npm install -g` installs: the built programs, the exact versions of what they need beside them, and the
 * examples for operators. Usage: node scripts/pack.mjs [folder for the tarball]. Only the package that is made here can
 * be published: the checkout's own package.json is private.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPrograms, packagesOutside } from "./build.mjs";
import { isKept, packedBinaries } from "./native-binaries.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const copied = ["colloquy.mjs", "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "docs/operations.md", "deploy"];
const webPage = "packages/web";
/** Is inside the package, without the binaries that are not loaded. */
const bundled = "uWebSockets.js";
/** Packages whose code the built page contains. */
const packagesInPage = ["preact", "@preact/signals", "@preact/signals-core", "katex"];

function npm(folder, ...args) {
  return execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(...path), "utf8"));
}

function writeJson(value, ...path) {
  writeFileSync(join(...path), `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * The checkout's package.json without what concerns checkouts. Overrides do not reach those who install a package, so
 * what they pin becomes a dependency of its own.
 */
function manifest() {
  const {
    private: _private,
    workspaces,
    scripts,
    devDependencies,
    dependencies,
    overrides,
    ...rest
  } = readJson(root, "package.json");
  const needed = Object.entries(dependencies).filter(([name]) => packagesOutside.includes(name));
  return {
    ...rest,
    bin: { colloquy: "colloquy.mjs" },
    dependencies: Object.fromEntries(needed),
    bundleDependencies: [bundled],
    optionalDependencies: overrides,
  };
}

/**
 * The checkout's lock file without what the package does not need: npm drops it. npm follows a shrinkwrap in packages
 * from a registry; from a tarball it takes the exact versions in package.json, and the newest that fit below them.
 */
function writeShrinkwrap(folder) {
  const lock = readJson(root, "package-lock.json");
  const inherited = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.startsWith("node_modules/") && !link,
  );
  const packages = { "": readJson(folder, "package.json"), ...Object.fromEntries(inherited) };
  writeJson({ ...lock, packages }, folder, "package-lock.json");
  npm(folder, "install", "--package-lock-only", "--ignore-scripts", "--offline", "--no-audit", "--no-fund");
  for (const [path, { version }] of Object.entries(readJson(folder, "package-lock.json").packages)) {
    if (path !== "" && version !== lock.packages[path]?.version)
      throw new Error(`${path} is not as in package-lock.json`);
  }
  renameSync(join(folder, "package-lock.json"), join(folder, "npm-shrinkwrap.json"));
}

/** The licences of the packages that are inside the programs: each asks to be kept with copies. */
function noticesOf(files) {
  const inPrograms = files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.slice(1) ?? []);
  return [...new Set([...inPrograms, ...packagesInPage])].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = readJson(folder, "package.json");
    const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? `Licence: ${license}\n` : readFileSync(join(folder, file), "utf8");
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
}

/** @returns the tarball */
async function pack(target) {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-package-"));
  try {
    const files = await buildPrograms(join(folder, "dist/programs"), { sourcemap: false });
    writeFileSync(join(folder, "NOTICES"), noticesOf(files).join(`\n${"-".repeat(80)}\n\n`));
    for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
    npm(root, "run", "--silent", "build", "--workspace", webPage);
    cpSync(join(root, webPage, "dist"), join(folder, webPage, "dist"), { recursive: true });
    writeJson(manifest(), folder, "package.json");
    writeShrinkwrap(folder);
    const inside = join("node_modules", bundled);
    const filter = (path) => isKept(path, packedBinaries);
    cpSync(join(root, inside), join(folder, inside), { recursive: true, filter });
    const [{ filename }] = JSON.parse(npm(folder, "pack", "--json", "--ignore-scripts", "--pack-destination", target));
    return join(target, filename);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.stdout.write(`${await pack(resolve(process.argv[2] ?? "."))}\n`);
