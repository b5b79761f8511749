/**
 * Builds the test files into `dist/tests/`: an entry for each group of test-groups.mjs over shared chunks, so that a process loads
 * a few files instead of transforming hundreds. `npm test` uses it; one file runs from its source (`npx tap run test/api/users.test.ts`).
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "dist", "tests");
const fileGroup = JSON.stringify(join(root, "test/support/file-group.ts"));

/** @returns the test files, as paths below the project's root */
export function testFiles() {
  return readdirSync(join(root, "test"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** In a group, each file's root test is a subtest (test/support/file-group.ts). */
function inGroup(text, path) {
  if (!path.endsWith(".test.ts")) {
    const isRootImported = /^import (?!type\b).* from "tap";$/m.test(text) && JSON.stringify(path) !== fileGroup;
    if (isRootImported) throw new Error(`${relative(root, path)} must be given t by its test file`);
    return text;
  }
  const rootImport = /^import t(?:, (\{ type [^}]+\}))? from "tap";$/m;
  if (!rootImport.test(text)) throw new Error(`${relative(root, path)} does not import t from "tap"`);
  return text.replace(rootImport, (_, types) => {
    const typeImport = types === undefined ? "" : `import ${types} from "tap"; `;
    return `${typeImport}import { currentFile } from ${fileGroup}; const t = currentFile();`;
  });
}

/** Fixtures and programs have paths relative to the source, so a module must keep the address of its source. */
const sourceAddress = (text, path) =>
  // `import.meta.url` within a string belongs to code that is bundled later.
  text.replace(/(?<!")import\.meta\.url/g, JSON.stringify(pathToFileURL(path).href));

const entryOf = ({ files }) => {
  const members = files.map((file) => `[${JSON.stringify(file)}, () => import(${JSON.stringify(join(root, file))})]`);
  return `import { runFiles } from ${fileGroup}; runFiles([${members.join(", ")}]);`;
};

const groupedFiles = (groups) => ({
  name: "grouped-files",
  setup(builder) {
    builder.onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: "group" }));
    builder.onLoad({ filter: /./, namespace: "group" }, ({ path }) => {
      const group = groups.find(({ name }) => path === `group:${name}`);
      return { contents: entryOf(group), loader: "js", resolveDir: root };
    });
    builder.onLoad({ filter: /\.ts$/, namespace: "file" }, ({ path }) => {
      if (path.includes("node_modules")) return undefined;
      const text = sourceAddress(readFileSync(path, "utf8"), path);
      return { contents: inGroup(text, path), loader: "ts" };
    });
  },
});

/** @returns the groups, each with its `program` */
export async function buildTests(groups) {
  rmSync(target, { recursive: true, force: true });
  await build({
    entryPoints: Object.fromEntries(groups.map(({ name }) => [name, `group:${name}`])),
    outdir: target,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.11",
    // A guard of a machine is known by the name of its function.
    keepNames: true,
    sourcemap: "linked",
    logLevel: "warning",
    plugins: [groupedFiles(groups)],
  });
  return groups.map((group) => ({ ...group, program: join(target, `${group.name}.mjs`) }));
}
