/**
 * Checks documents: rules that code and tests quote exist in docs/, links and paths lead to existing files, commands
 * exist, and the README fits on a page.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import t from "tap";
import { projectRoot, readSources } from "./sources.ts";

interface Page {
  /** Relative to the project's root. */
  readonly path: string;
  readonly text: string;
}

const foldersLeftOut: ReadonlySet<string> = new Set(["node_modules", "dist", "data"]);

function* documentsIn(folder: string): Generator<Page> {
  for (const entry of readdirSync(join(projectRoot, folder), { withFileTypes: true })) {
    if (entry.name.startsWith(".") || foldersLeftOut.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* documentsIn(path);
    else if (path.endsWith(".md")) yield { path, text: readFileSync(join(projectRoot, path), "utf8") };
  }
}

const documents = [...documentsIn("")];
const textOf = (path: string) => documents.find((page) => page.path === path)?.text ?? "";

/** This file names what it looks for. */
const sources: readonly Page[] = readSources().filter(({ path }) => path !== "test/tidy/documents.test.ts");

/** Fenced code is not prose: text in it that looks like a heading or a link is neither. */
const proseOf = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "");

const headingsOf = (text: string) => [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? "");

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** The numbers that a document defines: `4.3` of "### 4.3 ...", and `12.19` of item 19 in the list of section 12. */
function sectionNumbers(path: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  let section = "";
  for (const line of proseOf(textOf(path)).split("\n")) {
    const heading = /^#+ (?:(\d+(?:\.\d+)?)[. ])?/.exec(line);
    if (heading !== null) {
      section = heading[1] ?? "";
      numbers.add(section);
    }
    const item = /^(\d+)\. /.exec(line)?.[1];
    if (item !== undefined && /^\d+$/.test(section)) numbers.add(`${section}.${item}`);
  }
  return numbers;
}

const decisions = documents.filter(({ path }) => path.startsWith("docs/decisions/"));
const decisionIds = decisions.flatMap(({ text }) =>
  headingsOf(text).flatMap((heading) => /^D\d+(?= )/.exec(heading)?.[0] ?? []),
);
const promiseIds = [...textOf("docs/architecture.md").matchAll(/^\| \*\*([MES]\d+)\*\* \|/gm)].map(
  (match) => match[1] ?? "",
);
const ids: ReadonlySet<string> = new Set([...decisionIds, ...promiseIds]);

const numbered: Readonly<Record<string, ReadonlySet<string>>> = {
  spec: sectionNumbers("docs/api-rules.md"),
  behaviour: sectionNumbers("docs/behaviour.md"),
  pitfalls: sectionNumbers("docs/pitfalls.md"),
};

/** Sections that are quoted by name. A bold word that opens a paragraph or a list item counts as a heading, too. */
const named: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ["README", "docs/architecture", "docs/realtime", "docs/operations"].map((path) => {
    const text = textOf(`${path}.md`);
    const bold = [...text.matchAll(/^(?:[-*] |\d+\. )?\*\*([^*]+)\*\*/gm)].map((match) => match[1] ?? "");
    return [path.split("/").at(-1) ?? "", [...headingsOf(text), ...bold].map((one) => one.toLowerCase())];
  }),
);

const quotedNumbers =
  /\b(spec|behaviour|pitfalls) (?:section )?(\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?(?![\d,]))*)/g;
const quotedNames = /\b(README|architecture|realtime|operations)(?:\.md)?, ((?:[A-Z]|the [a-z]|idea)[A-Za-z -]+)/g;
/** Not `S3` of a name such as `x.S3` or `S3-y`. */
const quotedIds = /(?<![\w.\-/#&$])(?:[MES]\d|D\d{1,3})(?![\w-]|\.\d)/g;

/** Quotations in a text for which no rule exists, as "path:line quotation". */
function unresolved({ path, text }: Page): string[] {
  const found: string[] = [];
  const note = (index: number, quotation: string) => found.push(`${path}:${lineOf(text, index)} ${quotation}`);
  for (const match of text.matchAll(quotedIds)) if (!ids.has(match[0])) note(match.index, match[0]);
  for (const match of text.matchAll(quotedNumbers)) {
    const [, document = "", list = ""] = match;
    for (const number of list.split(/, | and | to /)) {
      if (numbered[document]?.has(number) !== true) note(match.index, `${document} ${number}`);
    }
  }
  for (const match of text.matchAll(quotedNames)) {
    const [, document = "", given = ""] = match;
    const name = given.trim().toLowerCase();
    // A promise or a decision, as in "architecture, M4".
    if (/^[mesd]$/.test(name)) continue;
    if (named[document]?.some((section) => section.includes(name)) !== true) note(match.index, match[0]);
  }
  return found;
}

t.test("every rule that code and tests quote exists in the documents", async (t) => {
  t.ok(sources.length > 500, "the sources were found");
  t.equal(promiseIds.length, 16, "the promises were found");
  t.strictSame(sources.flatMap(unresolved), []);
  const planted = "[M9] [M0, D999] (spec 4.3, 99) [architecture, Moves; realtime, No such section]";
  const found = unresolved({ path: "x", text: planted }).map((line) => line.slice(4));
  t.strictSame(found, ["M0", "D999", "spec 99", "realtime, No such section"], "wrong ones would be found");
});

/** Test titles begin with ids of rules or with no tag. */
function otherTags({ path, text }: Page): string[] {
  if (!path.startsWith("test/")) return [];
  const id = /^(?:[MES]\d|D\d{1,3}|(?:spec|behaviour|pitfalls) \d+(?:\.\d+)?|\d+(?:\.\d+)?)(?: to [\w.]+)?$/;
  return [...text.matchAll(/\btest\(\s*["'`]\[([^\]]+)\](?= )( \[)?/g)]
    .filter(([, ids = "", second]) => second !== undefined || !ids.split(", ").every((one) => id.test(one)))
    .map((match) => `${path}:${lineOf(text, match.index)} [${match[1]}]${match[2] ?? ""}`);
}

t.test("the title of a test begins with ids of rules in one pair of brackets, or with no tag", async (t) => {
  t.strictSame(sources.flatMap(otherTags), []);
  const titles = ["[M1, D25] a", "[spec 2.1, 2.2] a", "a [b] c", "[operations, Logs] a", "[M1] [S3] a", "[house] a"];
  const planted = titles.map((title) => `t.test("${title}", (t) => {`).join("\n");
  t.equal(otherTags({ path: "test/x.test.ts", text: planted }).length, 3, "other tags would be found");
});

t.test("every rule that a document quotes exists", async (t) => {
  const prose = documents.map(({ path, text }) => ({ path, text: proseOf(text) }));
  t.strictSame(prose.flatMap(unresolved), []);
});

t.test("decisions have numbers of their own, without holes", async (t) => {
  const numbers = decisionIds.map((id) => Number(id.slice(1))).toSorted((a, b) => a - b);
  t.strictSame(
    numbers,
    numbers.map((_, index) => index + 1),
  );
});

t.test("the heading of a decision is a title, not its text", async (t) => {
  const long = /^### D\d+ .{90,}$/gm;
  const found = documents.flatMap(({ path, text }) => [...text.matchAll(long)].map(([line]) => `${path}: ${line}`));
  t.strictSame(found, []);
});

t.test("no test or comment quotes an issue, because readers cannot see issues", async (t) => {
  const quoted = /[[(](?:[^\])\n"'`]*[;,] )?issue(?:[,:]| \d| "|\] )[^\])\n]*|\bissue \d+\b|\[\d+ [A-Z][a-z]+\b/g;
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(quoted)].map((match) => `${path}:${lineOf(text, match.index)} ${match[0].slice(0, 60)}`),
  );
  t.strictSame(found, []);
});

t.test("every document that a comment names exists", async (t) => {
  const names = new Set(documents.map(({ path }) => path.split("/").at(-1)));
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^.*(?:\/\*|^ *\*|\/\/).*$/gm)].flatMap((comment) =>
      [...comment[0].matchAll(/(?<![\w."'])[\w-]+\.md\b(?!\.\w)/g)]
        .filter(([name]) => !names.has(name))
        .map(([name]) => `${path}:${lineOf(text, comment.index)} ${name}`),
    ),
  );
  t.strictSame(found, []);
});

/** The anchor that GitHub makes of a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
}

function brokenLinks({ path, text }: Page): string[] {
  const prose = proseOf(text).replaceAll(/`[^`\n]*`/g, "code");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^https?:/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : normalize(join(dirname(path), file));
    if (!existsSync(join(projectRoot, target))) return [`${path}: ${link}`];
    const isThere = anchor === undefined || headingsOf(textOf(target)).some((heading) => anchorOf(heading) === anchor);
    return isThere ? [] : [`${path}: ${link}`];
  });
}

t.test("every link between documents leads to a file and a heading", async (t) => {
  t.strictSame(documents.flatMap(brokenLinks), []);
  const planted = { path: "docs/x.md", text: "[a](adr/README.md) [b](nowhere.md) [c](../README.md#no-such-heading)" };
  t.equal(brokenLinks(planted).length, 2, "wrong ones would be found");
});

/** Paths in a document are relative to the project, to the document or, in documents about tests, to test/. */
function missingPaths({ path, text }: Page): string[] {
  const places = ["", dirname(path), "test"];
  return [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:ts|mjs|md)))`/g)].flatMap(([, name = ""]) => {
    if (!/^[\w.-]+\//.test(name) || /^(?:data|DATA_DIR|realms|root|outbox|files)\//.test(name)) return [];
    // A build makes it.
    if (/\bdist\//.test(name)) return [];
    return places.some((place) => existsSync(join(projectRoot, place, name))) ? [] : [`${path}: ${name}`];
  });
}

/** Documents about the public server's sources and about programs that measured a library. */
const othersFiles: ReadonlySet<string> = new Set(["docs/behaviour.md", "docs/pitfalls.md"]);

t.test("every file and folder that a document names exists", async (t) => {
  t.strictSame(documents.filter(({ path }) => !othersFiles.has(path)).flatMap(missingPaths), []);
  const planted = { path: "docs/x.md", text: "`src/app/main.ts` `src/nowhere.ts` `actors/` `nowhere/here/`" };
  t.strictSame(missingPaths(planted), ["docs/x.md: src/nowhere.ts", "docs/x.md: nowhere/here/"], "wrong ones too");
});

t.test("every npm script and every test file in a command exists", async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const { path, text } of documents) {
    for (const [, name = ""] of text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)) {
      if (scripts[name] === undefined) t.fail(`${path}: npm run ${name}`);
    }
    for (const [, file = ""] of text.matchAll(/\btap run (?:--\S+ )*(test\/[\w/.-]+\.ts)/g)) {
      if (!existsSync(join(projectRoot, file))) t.fail(`${path}: ${file}`);
    }
  }
  t.pass("checked");
});

t.test("the index of measurements and the table of decisions name every page", async (t) => {
  for (const folder of ["docs/measurements", "docs/decisions", "docs/adr"]) {
    const index = textOf(`${folder}/README.md`);
    for (const { path } of documents) {
      const name = path.slice(folder.length + 1);
      if (dirname(path) === folder && name !== "README.md" && !index.includes(`](${name})`)) t.fail(path);
    }
  }
  t.pass("checked");
});

t.test("README.md has at most 150 lines", async (t) => {
  t.ok(textOf("README.md").split("\n").length - 1 <= 150);
});
