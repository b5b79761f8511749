// Rendered messages as a browser sees them: for any input, the output has only allowed elements, attributes and URLs,
// at bounded size, and the fast path for plain text equals the parser's result.
import assert from "node:assert/strict";
import fc from "fast-check";
import { Packr } from "msgpackr";
import t from "tap";
import { BLOCKS_PER_MESSAGE_MAX, INLINE_TOKENS_PER_MESSAGE_MAX } from "../../domain/markdown/bounds.ts";
import { LinkifierFinder } from "../../domain/markdown/linkifiers.ts";
import { renderPlainText } from "../../domain/markdown/plain-text.ts";
import { parseContent, parseWithParser, resolveContent } from "../../domain/markdown/render.ts";
import { hostileText } from "../support/hostile-content.ts";
import { seedOf } from "../support/seed.ts";
import { forbiddenParts, html, OPTIONS, RESOLVER } from "./markdown-support.ts";

const CONTEXT = {
  linkifiers: new LinkifierFinder([]),
  translateEmoticons: false,
  realmUrl: null,
  usesShortcuts: true,
  blockDepth: 0,
  blocksLeft: 0,
  inlineTokensLeft: 0,
};
const LINKIFIERS = [
  { pattern: "#(?P<id>[0-9]+)", urlTemplate: "https://tracker.example/{id}" },
  { pattern: "js:(?P<rest>.+)", urlTemplate: "javascript:{+rest}" },
];

t.test("[behaviour 5.8] no message has an element, attribute or URL outside the allowed set", async (t) => {
  const check = fc.property(hostileText, fc.boolean(), (content, translateEmoticons) => {
    assert.deepEqual(forbiddenParts(html(content, { translateEmoticons, linkifiers: LINKIFIERS })), []);
  });
  t.doesNotThrow(() => fc.assert(check, { seed: seedOf(t), numRuns: 1_500 }));
});

t.test("[behaviour 5.8] the checker of the test above detects what is forbidden", async (t) => {
  for (const bad of [
    "<script></script>",
    '<p onclick="1">a</p>',
    '<a href="javascript:1">a</a>',
    '<p style="x:url(1)">a</p>',
    "<!-- a -->",
    "<p>a</b></p>",
    "<p><em>a</p></em>",
    "<p>a",
    '<a href="/a"><a href="/b">a</a></a>',
    "<p><ul></ul></p>",
    '<mspace linebreak="goodbreak"></mspace>',
    '<p linebreak="newline">a</p>',
  ]) {
    t.not(forbiddenParts(bad).length, 0, bad);
  }
});

t.test("[behaviour 5.8] a line break in a formula is an allowed attribute", async (t) => {
  for (const content of ["$$a \\\\ b$$", "```math\na \\\\ b\n```"]) {
    const rendered = html(content);
    t.match(rendered, '<mspace linebreak="newline">');
    t.same(forbiddenParts(rendered), []);
  }
});

t.test("[behaviour 5.8] a linkifier cannot link to a target that a link may not have", async (t) => {
  t.equal(html("js:alert(1)", { linkifiers: LINKIFIERS }), "<p>js:alert(1)</p>");
});

t.test("[M4] parsed content survives encoding and renders to the same HTML", async (t) => {
  const packr = new Packr();
  const check = fc.property(hostileText, (content) => {
    const parsed = parseContent(content, OPTIONS);
    assert.deepEqual(resolveContent(packr.unpack(packr.pack(parsed)), RESOLVER), resolveContent(parsed, RESOLVER));
  });
  t.doesNotThrow(() => fc.assert(check, { seed: seedOf(t), numRuns: 200 }));
});

const plainWord = fc.oneof(
  fc.constantFrom(
    "a",
    "Hello",
    "it's",
    "e.g.",
    "end.",
    "a.b",
    "3.",
    "1.",
    "12",
    "-",
    "--",
    "=",
    "_x_",
    "a:",
    "::",
    "(see",
    "that)",
    "wörld",
    "привет",
    "日本",
    "100%",
    "and/or",
    "x-y",
    '"hi"',
    "…",
    "?!",
    "a,b",
    "readme.md",
    "x.com",
    ":)",
    ";)",
  ),
  fc.string({ unit: fc.constantFrom(..."abz09 .,;:'\"()!?%/=_-\n"), maxLength: 6 }),
);
const plainText = fc
  .array(plainWord, { maxLength: 12 })
  .chain((words) => fc.constantFrom(" ", " ", "\n", "").map((gap) => words.join(gap)));

t.test("[behaviour 5.8] plain text skips the parser with the same result", async (t) => {
  let plainCount = 0;
  const options = { ...OPTIONS, linkifiers: [{ pattern: "x-(?P<id>[a-z]+)", urlTemplate: "https://x.example/{id}" }] };
  const check = fc.property(plainText, fc.boolean(), (content, translateEmoticons) => {
    const full = parseWithParser(content, { ...options, translateEmoticons });
    if (renderPlainText(content, { ...CONTEXT, translateEmoticons }) !== null) plainCount++;
    assert.deepEqual(parseContent(content, { ...options, translateEmoticons }), full);
  });
  t.doesNotThrow(() => fc.assert(check, { seed: seedOf(t), numRuns: 3_000 }));
  t.ok(plainCount > 200, `only ${plainCount} of the texts were plain, too few for the test`);
});

t.test("[behaviour 5.8] the fast paths inside the parser do not change the result for hostile text", async (t) => {
  const check = fc.property(hostileText, (content) => {
    assert.deepEqual(parseContent(content, OPTIONS), parseWithParser(content, OPTIONS));
  });
  t.doesNotThrow(() => fc.assert(check, { seed: seedOf(t), numRuns: 1_000 }));
});

t.test("[S3] nesting, tables, formulas and previews end at their bounds and are text beyond them", async (t) => {
  const depthOf = (source: string, tag: string): number => source.split(`<${tag}>`).length - 1;
  t.equal(depthOf(html(`${">".repeat(50)} a`), "blockquote"), 8);
  t.equal(depthOf(html(`${"* ".repeat(50)}a`), "ul"), 8);
  t.ok(depthOf(html(`${"*a **b ".repeat(30)}${"** *".repeat(30)}`), "em") <= 12);
  t.notMatch(html(`|${"a|".repeat(100)}\n|${"-|".repeat(100)}\n${"|\n".repeat(100)}`), "<table>");
  t.match(html(`$$${"a".repeat(2_000)}$$`), "tex-error");
  t.match(html(`$$${"{".repeat(30)}${"}".repeat(30)}$$`), "tex-error");
  t.match(html(`$$${"{".repeat(15)}${"}".repeat(15)}$$`), "katex");
});

t.test("[S3] the blocks of a message are bounded; the rest is one paragraph with its lines", async (t) => {
  const countOf = (source: string, tag: string): number => source.split(`<${tag}`).length - 1;
  const paragraphs = (count: number): string => html(Array.from({ length: count }, (_, n) => `${n}`).join("\n\n"));
  t.equal(countOf(paragraphs(BLOCKS_PER_MESSAGE_MAX), "p"), BLOCKS_PER_MESSAGE_MAX, "at the bound");
  t.equal(
    countOf(paragraphs(BLOCKS_PER_MESSAGE_MAX + 1), "p"),
    BLOCKS_PER_MESSAGE_MAX + 1,
    "the remaining text is one more block",
  );
  const [last, beyond] = [BLOCKS_PER_MESSAGE_MAX, BLOCKS_PER_MESSAGE_MAX + 1];
  t.match(paragraphs(BLOCKS_PER_MESSAGE_MAX + 2), new RegExp(`<p>${last}<br>\n<br>\n${beyond}</p>$`));
  // The list is a block, and each item is a block that contains a block.
  const listed = Math.floor((BLOCKS_PER_MESSAGE_MAX - 1) / 2);
  const items = (count: number): string => html(Array.from({ length: count }, (_, n) => `* ${n}`).join("\n"));
  t.equal(countOf(items(listed), "li"), listed);
  t.match(items(listed + 3), new RegExp(`<p>\\* ${listed + 1}<br>\n\\* ${listed + 2}</p>$`));
  const table = `|a|b|\n|-|-|\n${"|c|d|\n".repeat(200)}`;
  t.equal(countOf(html(`${table}\n${table}`), "table"), 1, "two tables are too much for one message");
  const deep = html(`> ${"* a\n> ".repeat(BLOCKS_PER_MESSAGE_MAX)}`);
  t.same(forbiddenParts(deep), [], "the bound may be reached inside a quote");
});

t.test("[S3] the inline elements of a message are bounded; others are text, line by line", async (t) => {
  const strong = (count: number): string => html("**a** ".repeat(count).trim());
  const shown = (source: string): number => source.split("<strong>").length - 1;
  // `<strong>`, its text, `</strong>`, and the space.
  t.equal(shown(strong(100)), 100);
  const beyond = strong(INLINE_TOKENS_PER_MESSAGE_MAX);
  t.ok(shown(beyond) > 200 && shown(beyond) < INLINE_TOKENS_PER_MESSAGE_MAX / 2);
  t.match(beyond, / \*\*a\*\* \*\*a\*\*<\/p>$/);
  t.match(
    html(`${"**a** ".repeat(INLINE_TOKENS_PER_MESSAGE_MAX)}\n<b>\n**c**`),
    /<br>\n&lt;b&gt;<br>\n\*\*c\*\*<\/p>$/,
  );
});

t.test("[S3] a formula that defines macros, or repeats too much of what it is given, is shown as source", async (t) => {
  const isFormula = (source: string) => html(`$$${source}$$`).includes('class="katex"');
  const definitions = [
    "\\def\\a{x}\\a",
    "\\global\\def\\a{x}",
    "\\edef\\a{x}",
    "\\let\\a=x",
    "\\newcommand{\\a}{x}\\a",
  ];
  // Without the bound these 900 characters take minutes.
  definitions.push(`\\def\\a{${"x".repeat(500)}}${"\\a".repeat(190)}`);
  definitions.push(`\\def\\a#1{${"#1".repeat(200)}}\\a{${"x".repeat(400)}}`);
  for (const source of definitions) t.notOk(isFormula(source), source);
  for (const source of ["\\leftarrow x", "\\pmb{x}", "\\deg x", "\\lambda"]) t.ok(isFormula(source), source);
  const bold = (depth: number) => "\\pmb{".repeat(depth) + "x".repeat(100) + "}".repeat(depth);
  t.ok(isFormula(bold(1)));
  t.notOk(isFormula(bold(4)), "nested, each repeats the one within it four times");
});

t.test("[S3] expensive formulas count for more than their characters", async (t) => {
  const isShown = (source: string): boolean => html(`$$${source}$$`).includes('class="katex"');
  t.ok(isShown(`x${"+x".repeat(300)}`), "operators");
  t.notOk(isShown(`x${"+x".repeat(500)}`));
  t.ok(isShown(`\\begin{matrix}${`${"a&".repeat(9)}a\\\\`.repeat(9)}\\end{matrix}`), "a matrix of 9 by 10");
  t.notOk(isShown(`\\begin{matrix}${"a&".repeat(200)}\\end{matrix}`));
  t.ok(isShown("\u00e9".repeat(90)), "accents");
  t.notOk(isShown("\u00e9".repeat(100)));
});

t.test("[behaviour 5.8] a character that represents a line break does not break the line", async (t) => {
  t.equal(html("a&#10;b\nc"), "<p>a\nb<br>\nc</p>");
});
