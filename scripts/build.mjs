/**
 * Builds the server into `dist/<hash of the sources>/`: one bundle per program, for a fast start. The folder is named
 * after the sources and appears atomically (rename), so concurrent builds and starts do not interfere.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const buildsKept = 5;

/** The sources of the programs. `cli listen` is a program on the client. */
const sources = ["schemas", "domain", "actors", "src", "packages/client/src"];

/**
 * Packages that stay outside, because they are native, load parts of themselves by path, or evaluate their own text. The program requires them: an
 * import of CommonJS would load Node's lexer for it, which takes 8 MB.
 */
const required = [
  "lmdb",
  "ordered-binary",
  "@node-rs/argon2",
  "@node-rs/crc32",
  "msgpackr",
  "pino",
  "fs-native-extensions",
];
/** The first is a module; the others are loaded on first use. */
const imported = ["uWebSockets.js", "sharp", "nodemailer", "katex", "@nats-io/transport-node", "@nats-io/jetstream"];
/** The packages that the built programs need beside them. Tokenizers are loaded by their path. */
export const packagesOutside = [...required, ...imported, "@codemirror/legacy-modes"];

const requiredPackages = {
  name: "required",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(?:${required.join("|")})$`) }, ({ path }) => ({
      path,
      namespace: "required",
    }));
    build.onLoad({ filter: /^/, namespace: "required" }, ({ path }) => ({
      contents: `const load = require; module.exports = load(${JSON.stringify(path)});`,
    }));
  },
};

export function* filesIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else yield path;
  }
}

/**
 * @param folders what is built, relative to the checkout
 * @param program the file that builds it
 */
export function sourceHash(folders, program) {
  const hash = createHash("sha256");
  const files = folders.flatMap((folder) => [...filesIn(join(root, folder))]).sort();
  for (const file of [...files, join(root, "package-lock.json"), program]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

/** A name that no other build has at the moment. */
export function draftName() {
  return `.draft-${process.pid}-${randomBytes(4).toString("hex")}`;
}

/** @returns the folder with main.mjs and cli.mjs */
export async function ensureBuilt() {
  const target = join(dist, sourceHash(sources, fileURLToPath(import.meta.url)));
  if (existsSync(join(target, "main.mjs"))) return target;
  const draft = join(dist, draftName());
  await buildPrograms(draft, { sourcemap: "linked" });
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another build of the same sources finished first.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(join(target, "main.mjs"))) throw error;
  }
  forgetOldBuilds(target);
  return target;
}

/**
 * @param folder the folder for the programs
 * @param options further options of esbuild
 * @returns the files that the programs consist of, relative to the checkout
 */
export async function buildPrograms(folder, options) {
  mkdirSync(folder, { recursive: true });
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: {
      main: join(root, "src/app/main.ts"),
      cli: join(root, "src/cli/cli.ts"),
      // Programs of threads (src/durability/threads/start-thread.ts).
      "code-worker": join(root, "src/operations/media/code-worker.ts"),
      "journal-thread": join(root, "src/durability/journal/journal-thread.ts"),
      "checkpoint-thread": join(root, "src/durability/journal/checkpoint-thread.ts"),
      "archive-thread": join(root, "src/durability/archive/archive-thread.ts"),
      "base-thread": join(root, "src/durability/archive/base-thread.ts"),
    },
    absWorkingDir: root,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "warning",
    metafile: true,
    write: false,
    plugins: [requiredPackages],
    // The first is a module; the others are loaded on first use.
    external: imported,
    banner: { js: 'import { createRequire as __cr } from "node:module"; const require = __cr(import.meta.url);' },
    ...options,
  });
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith(".mjs") ? asciiOnly(text) : text);
  return Object.keys(metafile.inputs);
}

/**
 * A program's text stays in memory while it runs: one byte for each character if all are ASCII, otherwise two. esbuild
 * escapes strings, but not regular expressions.
 */
function asciiOnly(text) {
  return text.replace(/(\\*)([\u0080-\uffff])/g, (_all, slashes, unit) => {
    // A backslash that escaped the character would escape the escape.
    const kept = slashes.length % 2 === 1 ? slashes.slice(1) : slashes;
    return `${kept}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A copy of the server's sources alone has no page. */
export async function ensurePageBuilt() {
  const web = new URL("../packages/web/build.mjs", import.meta.url);
  if (existsSync(web)) await (await import(web.href)).ensureWebBuilt();
}

function forgetOldBuilds(current) {
  const builds = readdirSync(dist)
    .filter((name) => !name.startsWith("."))
    .map((name) => join(dist, name))
    .filter((path) => path !== current)
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of builds.slice(buildsKept)) rmSync(path, { recursive: true, force: true });
}
