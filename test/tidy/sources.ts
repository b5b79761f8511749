/**
 * The project's own files and their imports, read with TypeScript's parser, so that comments and strings cannot
 * mislead.
 */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const projectRoot = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const folders = ["schemas", "domain", "actors", "src", "packages", "bench", "test", "scripts"] as const;

export interface Import {
  /** A file of the project, relative to its root, or the name of a package. */
  readonly target: string;
  readonly isPackage: boolean;
  /** The import is erased at run time. */
  readonly isTypeOnly: boolean;
}

export interface Source {
  /** Relative to the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name === "dist" || entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (/\.(?:tsx?|mjs)$/.test(entry.name)) yield path;
  }
}

/** Every .ts, .tsx and .mjs file of the project. */
export function readSources(): readonly Source[] {
  const paths = folders.flatMap((folder) => [...walk(join(projectRoot, folder))]);
  const scripts = readdirSync(projectRoot).filter((name) => name.endsWith(".mjs"));
  return [...paths, ...scripts.map((name) => join(projectRoot, name))].map(readSource);
}

function readSource(absolute: string): Source {
  const text = readFileSync(absolute, "utf8");
  const path = relative(projectRoot, absolute).replaceAll("\\", "/");
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const imports: Import[] = [];
  const note = (specifier: string, isTypeOnly: boolean) => {
    const found = resolveImport(absolute, specifier);
    if (found !== null) imports.push({ ...found, isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      note(node.moduleSpecifier.text, isTypeOnlyClause(node.importClause));
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier !== undefined &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      note(node.moduleSpecifier.text, node.isTypeOnly || areTypes(node.exportClause));
    } else if (ts.isCallExpression(node) && isLoading(node)) {
      const [given] = node.arguments;
      if (given !== undefined && ts.isStringLiteral(given)) note(given.text, false);
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      note(node.argument.literal.text, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { path, text, imports };
}

function isLoading({ expression }: ts.CallExpression): boolean {
  return (
    expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(expression) && expression.text === "require")
  );
}

function isTypeOnlyClause(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  return clause.name === undefined && areTypes(clause.namedBindings);
}

function areTypes(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return false;
  return bindings.elements.length > 0 && bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

/** null: a module of Node. */
function resolveImport(from: string, specifier: string): Omit<Import, "isTypeOnly"> | null {
  if (specifier.startsWith(".")) {
    const target = relative(projectRoot, resolve(dirname(from), specifier)).replaceAll("\\", "/");
    return { target, isPackage: false };
  }
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return null;
  const [scope, name] = specifier.split("/");
  return { target: specifier.startsWith("@") ? `${scope}/${name}` : (scope ?? specifier), isPackage: true };
}

/** Groups of files that import each other in a cycle at run time; empty if there are none. */
export function findCycles(sources: readonly Pick<Source, "path" | "imports">[]): readonly string[][] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const state = new Map<string, "open" | "done">();
  const trail: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || state.get(path) === "done") return;
    if (state.get(path) === "open") {
      cycles.push([...trail.slice(trail.indexOf(path)), path]);
      return;
    }
    state.set(path, "open");
    trail.push(path);
    for (const { target, isPackage, isTypeOnly } of source.imports) if (!isPackage && !isTypeOnly) visit(target);
    trail.pop();
    state.set(path, "done");
  };
  for (const { path } of sources) visit(path);
  return cycles;
}

/** The imports of each file, type imports included; packages are left out. */
export function importGraph(
  sources: readonly Pick<Source, "path" | "imports">[],
): ReadonlyMap<string, readonly string[]> {
  const known = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ target, isPackage }) => !isPackage && known.has(target)).map(({ target }) => target),
    ]),
  );
}

/** The same between folders. Files that are directly in a folder count as that folder, without its subfolders. */
export function folderGraph(graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const [path, targets] of graph) {
    const others = targets.map(dirname).filter((target) => target !== dirname(path));
    folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), ...others]);
  }
  return folders;
}

/**
 * Groups of nodes that reach one another (Tarjan's strongly connected components with at least two nodes), each sorted.
 */
export function findCircles(graph: ReadonlyMap<string, readonly string[]>): readonly string[][] {
  const index = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    index.set(node, index.size);
    let low = index.get(node) ?? 0;
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, index.get(next) ?? low);
    }
    if (low === index.get(node)) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1) circles.push(circle.toSorted());
    }
    return low;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
}
