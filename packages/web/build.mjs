/**
 * Builds the page into `dist/`: `index.html` and `assets/<name>-<hash>.<ext>`, each with a `.br` and a `.gz` beside it.
 * The names of the assets follow their content, so that browsers may keep them for ever.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = dirname(fileURLToPath(import.meta.url));
const root = join(folder, "../..");
const target = join(folder, "dist");
const katexStyles = createRequire(import.meta.url).resolve("katex/dist/katex.min.css");

/** Formats that are compressed already. */
const compressed = new Set([".woff2", ".png"]);

function* filesIn(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) yield* filesIn(child);
    else yield child;
  }
}

function sourceHash() {
  const hash = createHash("sha256");
  const sources = [join(folder, "src"), join(root, "packages/client/src")].flatMap((path) => [...filesIn(path)]).sort();
  for (const file of [...sources, join(root, "package-lock.json"), fileURLToPath(import.meta.url)]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

/** @returns the folder with `index.html` and `assets/` */
export async function ensureWebBuilt() {
  const hash = sourceHash();
  const stamp = join(target, "built-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return target;
  const draft = join(folder, `.draft-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    await build(draft);
    writeFileSync(join(draft, "built-from"), hash);
    const old = `${draft}-old`;
    if (existsSync(target)) renameSync(target, old);
    try {
      renameSync(draft, target);
    } catch (error) {
      // Another build of the same sources finished in between.
      if (!existsSync(stamp)) throw error;
    }
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}

async function build(draft) {
  const { build: bundle } = await import("esbuild");
  const assets = join(draft, "assets");
  mkdirSync(assets, { recursive: true });
  const common = { bundle: true, minify: true, outdir: assets, logLevel: "warning", legalComments: "none" };
  const names = { entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", assetNames: "[name]-[hash]" };
  const styles = await bundle({
    ...common,
    ...names,
    entryPoints: { page: join(folder, "src/styles/page.css"), katex: katexStyles },
    // Browsers of the last years read woff2; the others formats of each font are left out.
    loader: { ".woff2": "file", ".woff": "empty", ".ttf": "empty", ".svg": "file" },
    metafile: true,
    target: "es2022",
  });
  const style = (entry) => nameOf(styles.metafile, entry);
  const scripts = await bundle({
    ...common,
    ...names,
    entryPoints: { page: join(folder, "src/main.tsx") },
    format: "esm",
    splitting: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    target: "es2022",
    define: { KATEX_STYLES: JSON.stringify(`/assets/${style(katexStyles)}`) },
    metafile: true,
  });
  const icon = join(folder, "src/styles/icon.svg");
  const iconName = `icon-${createHash("sha256").update(readFileSync(icon)).digest("hex").slice(0, 8).toUpperCase()}.svg`;
  writeFileSync(join(assets, iconName), readFileSync(icon));
  const main = nameOf(scripts.metafile, join(folder, "src/main.tsx"));
  const preloads = importsOf(scripts.metafile, main);
  writeFileSync(
    join(draft, "index.html"),
    page({ main, preloads, style: style(join(folder, "src/styles/page.css")), iconName }),
  );
  for (const file of filesIn(draft)) if (!compressed.has(extname(file))) compress(file);
}

/** The name of the file that an entry became. */
function nameOf(metafile, entry) {
  const wanted = relative(process.cwd(), entry);
  const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === wanted);
  if (found === undefined) throw new Error(`${wanted} was not built`);
  return basename(found[0]);
}

/** Chunks that the first script needs at once. */
function importsOf(metafile, main) {
  const [, output] = Object.entries(metafile.outputs).find(([path]) => basename(path) === main);
  return output.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
}

function page({ main, preloads, style, iconName }) {
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">',
    '<meta name="color-scheme" content="light dark">',
    "<title>Colloquy</title>",
    `<link rel="icon" type="image/svg+xml" href="/assets/${iconName}">`,
    `<link rel="stylesheet" href="/assets/${style}">`,
    ...preloads.map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
    `<script type="module" src="/assets/${main}"></script>`,
    '<div id="page"><noscript><p class="notice">This page needs JavaScript.</p></noscript></div>',
    "",
  ].join("\n");
}

function compress(file) {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${relative(process.cwd(), await ensureWebBuilt())}\n`);
}
