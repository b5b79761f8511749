/**
 * Builds the pages into `dist/`: the one that the server serves at `/`, and in `admin/` the operator's. Each is an
 * `index.html` and `assets/<name>-<hash>.<ext>`, with a `.br` and a `.gz` beside each. The names of the assets follow
 * their content, so that browsers may keep them for ever.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { draftName, filesIn, sourceHash } from "../../scripts/build.mjs";

const folder = dirname(fileURLToPath(import.meta.url));
const target = join(folder, "dist");
const katexStyles = createRequire(import.meta.url).resolve("katex/dist/katex.min.css");

/** Formats that are compressed already. */
const compressed = new Set([".woff2", ".png"]);

/** Each has files of its own, because the public port must not serve those of the operator's. */
const pages = [
  {
    at: "",
    base: "/assets/",
    title: "Colloquy",
    script: "src/main.tsx",
    style: "src/styles/page.css",
    hasFormulas: true,
  },
  {
    at: "admin",
    base: "/admin/assets/",
    title: "Colloquy live",
    script: "src/admin/main.tsx",
    style: "src/styles/admin.css",
    hasFormulas: false,
  },
];

/** @returns the folder with `index.html` and `assets/` */
export async function ensureWebBuilt() {
  const hash = sourceHash(["packages/web/src", "packages/client/src"], fileURLToPath(import.meta.url));
  const stamp = join(target, "built-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return target;
  const draft = join(folder, draftName());
  try {
    for (const page of pages) await build(page, join(draft, page.at));
    for (const file of filesIn(draft)) if (!compressed.has(extname(file))) compress(file);
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

async function build({ base, title, script, style, hasFormulas }, draft) {
  const { build: bundle } = await import("esbuild");
  const assets = join(draft, "assets");
  mkdirSync(assets, { recursive: true });
  const common = { bundle: true, minify: true, outdir: assets, logLevel: "warning", legalComments: "none" };
  const names = { entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", assetNames: "[name]-[hash]" };
  const [styleEntry, scriptEntry] = [join(folder, style), join(folder, script)];
  const styles = await bundle({
    ...common,
    ...names,
    entryPoints: { page: styleEntry, ...(hasFormulas ? { katex: katexStyles } : {}) },
    // Browsers of the last years read woff2; the others formats of each font are left out.
    loader: { ".woff2": "file", ".woff": "empty", ".ttf": "empty", ".svg": "file" },
    metafile: true,
    target: "es2022",
  });
  const scripts = await bundle({
    ...common,
    ...names,
    entryPoints: { page: scriptEntry },
    format: "esm",
    splitting: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    target: "es2022",
    plugins: [sharedCodeInOneFile(scriptEntry)],
    define: hasFormulas ? { KATEX_STYLES: JSON.stringify(`${base}${nameOf(styles.metafile, katexStyles)}`) } : {},
    metafile: true,
  });
  const icon = readFileSync(join(folder, "src/styles/icon.svg"));
  const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase()}.svg`;
  writeFileSync(join(assets, iconName), icon);
  const main = nameOf(scripts.metafile, scriptEntry);
  const preloads = importsOf(scripts.metafile, main);
  const document = documentOf({ base, title, main, preloads, style: nameOf(styles.metafile, styleEntry), iconName });
  writeFileSync(join(draft, "index.html"), document);
}

/**
 * The bundler makes a file of what each combination of parts shares. Each part that is loaded later therefore imports
 * the start, which runs already: then all of it is one file, which needs one request and is smaller.
 */
function sharedCodeInOneFile(start) {
  return {
    name: "shared-code-in-one-file",
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
        kind === "dynamic-import" ? { path: join(resolveDir, path), pluginData: { isLater: true } } : undefined,
      );
      builder.onLoad({ filter: /\.tsx?$/ }, ({ path, pluginData }) =>
        pluginData?.isLater === true
          ? { contents: `${readFileSync(path, "utf8")}\nimport ${JSON.stringify(start)};\n`, loader: "tsx" }
          : undefined,
      );
    },
  };
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

function documentOf({ base, title, main, preloads, style, iconName }) {
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${title}</title>`,
    `<link rel="icon" type="image/svg+xml" href="${base}${iconName}">`,
    `<link rel="stylesheet" href="${base}${style}">`,
    ...preloads.map((name) => `<link rel="modulepreload" href="${base}${name}">`),
    `<script type="module" src="${base}${main}"></script>`,
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
