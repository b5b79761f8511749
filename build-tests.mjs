/**
 * Builds the test files into `dist/tests/`: one bundle each over shared chunks, so that a test process loads a few files instead
 * of transforming hundreds. `npm test` uses it; a single file runs from its source just as well (`npx tap test/api/users.test.ts`).
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const target = join(root, "dist", "tests");

/** A module goes on believing that it lies where its source does: paths of fixtures and programs are relative to that. */
const sourceAddresses = {
  name: "source-addresses",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/, namespace: "file" }, ({ path }) => {
      if (path.includes("node_modules")) return undefined;
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      // Not where the words are a string: code that bundles other code names them.
      const contents = text.replace(/(?<!")import\.meta\.url/g, JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: "ts" };
    });
  },
};

function testFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** @returns the built files, in order of their sources' names */
export async function buildTests() {
  const sources = testFiles(join(root, "test"));
  rmSync(target, { recursive: true, force: true });
  await build({
    entryPoints: sources,
    outbase: join(root, "test"),
    outdir: target,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.11",
    sourcemap: "linked",
    logLevel: "warning",
    plugins: [sourceAddresses],
  });
  return sources.map((source) => join(target, relative(join(root, "test"), source).replace(/\.ts$/, ".mjs")));
}
