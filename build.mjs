/**
 * Builds the server into `dist/<hash of the sources>/`: one bundle per program, for a fast start. The folder is named
 * after the sources and appears atomically (rename), so concurrent builds and starts do not interfere.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
const buildsKept = 5;

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

function sourceHash() {
  const hash = createHash("sha256");
  const sources = ["schemas", "actors", "src"].flatMap((folder) => [...files(join(root, folder))]).sort();
  for (const file of [...sources, join(root, "package-lock.json"), fileURLToPath(import.meta.url)]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

/** @returns the folder with main.mjs and cli.mjs */
export async function ensureBuilt() {
  const target = join(dist, sourceHash());
  if (existsSync(join(target, "main.mjs"))) return target;
  const draft = join(dist, `.draft-${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(draft, { recursive: true });
  await build({
    entryPoints: {
      main: join(root, "src/main.ts"),
      cli: join(root, "src/cli.ts"),
      // Programs of threads (src/threads/start-thread.ts).
      "code-worker": join(root, "src/http/code-worker.ts"),
      "journal-thread": join(root, "src/journal/journal-thread.ts"),
      "checkpoint-thread": join(root, "src/journal/checkpoint-thread.ts"),
    },
    outdir: draft,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minifySyntax: true,
    sourcemap: "linked",
    logLevel: "warning",
    // Native add-ons stay packages; pino loads parts of itself by path; nodemailer is loaded only with the first email.
    external: [
      "lmdb",
      "ordered-binary",
      "uWebSockets.js",
      "@node-rs/argon2",
      "@node-rs/crc32",
      "sharp",
      "msgpackr",
      "pino",
      "nodemailer",
      "fs-native-extensions",
    ],
    banner: { js: 'import { createRequire as __cr } from "node:module"; const require = __cr(import.meta.url);' },
  });
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

function forgetOldBuilds(current) {
  const builds = readdirSync(dist)
    .filter((name) => !name.startsWith("."))
    .map((name) => join(dist, name))
    .filter((path) => path !== current)
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of builds.slice(buildsKept)) rmSync(path, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${relative(root, await ensureBuilt())}\n`);
}
