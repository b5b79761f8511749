/**
 * Comments begin with their subject (CONTRIBUTING.md). Idioms that must be read twice are counted, and the counts can
 * only shrink: a change that removes one lowers its number here.
 */
import t from "tap";
import { readSources } from "./sources.ts";

interface Idiom {
  readonly name: string;
  readonly pattern: RegExp;
  /** Places left in schemas, domain, actors, src and scripts, and in packages. */
  readonly left: readonly [server: number, packages: number];
}

/** The first word of a sentence, or of the text of a @param or @returns. */
const first = (word: string) => new RegExp(`(?:^|[.:;!?] |@returns |@throws |@param [\\w.]+ )${word}\\b`, "g");

const idioms: readonly Idiom[] = [
  { name: "What ...", pattern: first("What"), left: [0, 58] },
  { name: "Who ...", pattern: first("Who"), left: [0, 4] },
  { name: "Whose ...", pattern: first("Whose"), left: [0, 0] },
  { name: "Which ...", pattern: first("Which"), left: [0, 1] },
  { name: "Of ...", pattern: first("Of"), left: [0, 2] },
  { name: "whoever", pattern: /\bwho(?:m|se)?(?:so)?ever\b/gi, left: [0, 5] },
  { name: "nobody", pattern: /(?<!:)\bnobody\b/gi, left: [0, 15] },
  { name: "for good", pattern: /\bfor good\b/g, left: [0, 1] },
  { name: "under way", pattern: /\bunder way\b/g, left: [0, 0] },
  { name: "told", pattern: /\b(?:is|are|be|been) told\b/g, left: [0, 0] },
  { name: "carried out", pattern: /\bcarried out\b/g, left: [0, 0] },
  { name: "goes, comes", pattern: /\b(?:goes|comes)\b/g, left: [12, 24] },
  { name: "stands", pattern: /\bstands\b/g, left: [0, 4] },
];

/** The comments of a file, each as one line of prose. Comments at the end of a line of code are left out. */
function commentsOf(text: string): readonly string[] {
  const comments = text.matchAll(/^[ \t]*(?:\/\*\*?(?<block>[\s\S]*?)\*\/|(?<lines>\/\/.*(?:\n[ \t]*\/\/.*)*))/gm);
  return [...comments].map(({ groups }) =>
    (groups?.["block"] ?? groups?.["lines"] ?? "").replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*|^\s*\/\/\s*/g, " ").trim(),
  );
}

const count = (comments: readonly string[], { pattern }: Idiom) =>
  comments.reduce((sum, comment) => sum + [...comment.matchAll(pattern)].length, 0);

t.test("comments have no more idioms that must be read twice, and the list shrinks with them", async (t) => {
  const server: string[] = [];
  const packages: string[] = [];
  for (const { path, text } of readSources()) {
    if (/^(?:schemas|domain|actors|src|scripts)\//.test(path)) server.push(...commentsOf(text));
    else if (path.startsWith("packages/")) packages.push(...commentsOf(text));
  }
  t.ok(server.length > 5000, "the comments were found");
  for (const idiom of idioms) t.strictSame([count(server, idiom), count(packages, idiom)], idiom.left, idiom.name);
});

t.test("an idiom is found in every kind of comment", async (t) => {
  const planted =
    "/** What a\n * user does. Nobody\n */\n  // Who ends for\n  // good: is told\ncode(); // under way\n";
  const comments = commentsOf(planted);
  t.strictSame(comments, ["What a user does. Nobody", "Who ends for good: is told"]);
  const found = idioms.filter((idiom) => count(comments, idiom) > 0).map(({ name }) => name);
  t.strictSame(found, ["What ...", "Who ...", "nobody", "for good", "told"]);
});
