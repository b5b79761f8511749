/**
 * Words, phrases and their highlighting in HTML (architecture, Search; behaviour 2.9): a search finds text in any case
 * and without diacritics, and highlighting changes no tag, no entity and no text.
 */
import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from "parse5";
import t from "tap";
import { escapeAttribute } from "../../domain/markdown/escape.ts";
import { highlight, highlightTraced } from "../../domain/search/highlight.ts";
import { forgivingSearch, readSearch, type SearchQuery } from "../../domain/search/query.ts";
import { matchesSearch } from "../../domain/search/text-search.ts";
import { foldText, indexed, textOf, wordsOf } from "../../domain/search/words.ts";
import { limits } from "../../schemas/limits.ts";
import { type SearchLanguage, searchLanguages } from "../../schemas/search.ts";
import { seedOf } from "../support/seed.ts";
import { html as rendered } from "./markdown-support.ts";

const seed = seedOf(t);

function isFound(operand: string, html: string, topic = ""): boolean {
  return matchesSearch(readSearch(operand, "english"), html, topic);
}

const mark = (text: string) => `<span class="highlight">${text}</span>`;

t.test("words are found in any case and without diacritics", async (t) => {
  const found: [operand: string, html: string][] = [
    ["apple", "<p>An Apple a day</p>"],
    ["APPLE", "<p>an apple</p>"],
    ["arger", "<p>Ärger</p>"],
    ["Ärger", "<p>arger</p>"],
    ["creme brulee", "<p>Crème <em>brûlée</em></p>"],
    ["ΟΔΟΣ", "<p>οδος</p>"],
    ["fish", "<p>ﬁsh</p>"],
    ["2026", "<p>in 2026, soon</p>"],
    ["snake_case", "<p>a snake_case name</p>"],
    ["parse_user", "<p>call parse_user_name</p>"],
    ["name", "<p>call <code>parse_user_name</code></p>"],
    ["größe_der", "<p>größe_der_datei</p>"],
    ["日本", "<p>私は日本語を話す</p>"],
    ["한국어", "<p>한국어 문장</p>"],
    ["don't", "<p>I don't know</p>"],
    ["amp", "<p>the amp is on</p>"],
    ["a b", "<p>b a</p>"],
    ["example.com", '<p><a href="http://example.com">example.com</a></p>'],
  ];
  for (const [operand, html] of found) t.ok(isFound(operand, html), `${operand} in ${html}`);
  const missed: [operand: string, html: string][] = [
    ["app", "<p>an ape</p>"],
    ["ap", "<p>apple</p>"],
    ["apple pie", "<p>apple</p>"],
    ["href", '<p><a href="x">here</a></p>'],
    ["strong", "<p><strong>bold</strong></p>"],
    ["amp", "<p>this &amp; that</p>"],
    ["本日", "<p>日本</p>"],
    ["!!!", "<p>!!!</p>"],
    ["foobar", "<p>foo<em>bar</em></p>"],
  ];
  for (const [operand, html] of missed) t.notOk(isFound(operand, html), `${operand} not in ${html}`);
});

t.test(
  "[behaviour 5.3] a quoted phrase must be a substring of content or topic, in addition to its words",
  async (t) => {
    t.ok(isFound('"good morning"', "<p>Good\nMorning all</p>"));
    t.ok(isFound('"good morning"', "<p>good <strong>morning</strong></p>"));
    t.notOk(isFound('"good morning"', "<p>morning, good people</p>"));
    t.notOk(isFound('"od morning"', "<p>good morning</p>"), "its words count as words");
    t.ok(isFound('"good morning" all', "<p>all: good morning</p>"));
    t.notOk(isFound('"good morning" none', "<p>all: good morning</p>"));
    t.ok(isFound('"daily report"', "<p>x</p>", "The daily report"));
    t.ok(isFound("report x", "<p>x</p>", "The daily report"), "a word in the topic, another in the content");
    t.ok(isFound('"unclosed phrase', "<p>phrase unclosed</p>"), "a lone quotation mark is not a phrase");
  },
);

t.test("[behaviour 2.9] matches are wrapped, except inside tags", async (t) => {
  const marked: [operand: string, html: string, expected: string][] = [
    ["foo ", "<p>foo, Foo food</p>", `<p>${mark("foo")}, ${mark("Foo")} food</p>`],
    ["foo", "<p>foo, Foo food</p>", `<p>${mark("foo")}, ${mark("Foo")} ${mark("food")}</p>`],
    ["foo", '<a href="foo" title="foo">foo</a>', `<a href="foo" title="foo">${mark("foo")}</a>`],
    ["amp", "<p>amp &amp; amp</p>", `<p>${mark("amp")} &amp; ${mark("amp")}</p>`],
    ["lt", "<p>&lt; lt</p>", `<p>&lt; ${mark("lt")}</p>`],
    ["arger", "<p>Ärger</p>", `<p>${mark("Ärger")}</p>`],
    ["arger", "<p>A\u0308rger</p>", `<p>${mark("A\u0308rger")}</p>`],
    ['"a b"', "<p>a <b>b</b></p>", `<p>${mark("a ")}<b>${mark("b")}</b></p>`],
    ['"r&d lab"', "<p>the R&amp;D lab</p>", `<p>the ${mark("R&amp;D lab")}</p>`],
    ["none", "<p>foo</p>", "<p>foo</p>"],
    [
      "x",
      "<p><math><mi>x</mi><annotation>x</annotation></math> x</p>",
      `<p><math><mi>x</mi><annotation>x</annotation></math> ${mark("x")}</p>`,
    ],
    ["日本", "<p>日本語</p>", `<p>${mark("日本")}語</p>`],
  ];
  for (const [operand, html, expected] of marked)
    t.equal(highlight(readSearch(operand, "english"), html), expected, operand);
  t.equal(
    highlight(readSearch("b", "english"), escapeAttribute('<b> & "b"')),
    `&lt;${mark("b")}&gt; &amp; &quot;${mark("b")}&quot;`,
  );
});

type Node = DefaultTreeAdapterTypes.Node;

/** Removes the highlights from a tree. @returns the texts that were highlighted */
function unmark(node: Node): string[] {
  if (!("childNodes" in node)) return [];
  const texts: string[] = [];
  const children: DefaultTreeAdapterTypes.ChildNode[] = [];
  for (const child of node.childNodes) {
    const isMark =
      child.nodeName === "span" && "attrs" in child && child.attrs.some(({ value }) => value === "highlight");
    if (!isMark) {
      texts.push(...unmark(child));
      children.push(child);
      continue;
    }
    for (const inner of (child as DefaultTreeAdapterTypes.Element).childNodes) {
      if (inner.nodeName !== "#text") throw new Error("a highlight contains more than text");
      texts.push((inner as DefaultTreeAdapterTypes.TextNode).value);
      children.push(inner);
    }
  }
  node.childNodes = children;
  return texts;
}

/** Text that is likely to break such code. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<b>",
        "</span>",
        "&amp;",
        "&",
        "<",
        ">",
        '"',
        "'",
        "&#60;",
        "&lt",
        "highlight",
        "span",
        "class",
        "amp",
      ),
      fc.constantFrom(
        "*",
        "`",
        "[x](http://a.b)",
        ":smile:",
        "\n",
        "~~",
        "> ",
        "- ",
        "$$x$$",
        "foo",
        "Foo",
        "fo",
        "ﬁ",
        "é",
        "ß",
      ),
      fc.constantFrom("日本", "İ", "Σς", "\u0301", "\u200d", "👩‍👩‍👧", " ", "  ", "\u00a0", "x".repeat(50)),
      fc.string({ maxLength: 6, unit: "grapheme" }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(""));

t.test(
  "[behaviour 2.9] highlighting adds nothing but its own tags, for any text and any search (property)",
  async () => {
    const property = fc.property(hostile, hostile, (content, operand) => {
      for (const html of [rendered(content), escapeAttribute(content)]) {
        const query = readSearch(operand, "english");
        const marked = parseFragment(highlight(query, html));
        const texts = unmark(marked);
        // Serialized and parsed again, so that adjacent texts are merged.
        if (serialize(parseFragment(serialize(marked))) !== serialize(parseFragment(html))) return false;
        if (texts.some((text) => text === "")) return false;
        const isInFormula = html.includes("<math");
        if (matchesSearch(query, html, "") && texts.length === 0 && !isInFormula) return false;
      }
      return true;
    });
    fc.assert(property, { seed, numRuns: 500 });
  },
);

t.test("every word of a text finds it (property)", async () => {
  const property = fc.property(hostile, (content) => {
    const html = escapeAttribute(content);
    return wordsOf(foldText(textOf(html))).every((word) => isFound(word, html) && isFound(`"${word}"`, html));
  });
  fc.assert(property, { seed, numRuns: 300 });
});

t.test("[S3] a word is indexed by its first characters, and compared whole", async (t) => {
  const max = limits.search_word_characters_max;
  t.equal(indexed("x".repeat(max)), "x".repeat(max));
  t.equal(indexed(`${"x".repeat(max)}y`), "x".repeat(max));
  t.notOk(isFound(`${"x".repeat(max)} `, `<p>${"x".repeat(max)}y</p>`));
});

t.test("[behaviour 2.9] plain ASCII text is highlighted and compared like any other text", async (t) => {
  const piece = fc.constantFrom(
    "a",
    "ab",
    "a_b",
    "A1",
    "b",
    " ",
    "-",
    "<",
    ">",
    "</",
    "<p>",
    "</em>",
    "<a b>",
    "&amp;",
    "é",
  );
  const words = fc.array(fc.constantFrom("a", "ab", "a_b", "a1", "b"), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), words, (pieces, wanted) => {
      const [html, query] = [pieces.join(""), readSearch(wanted.join(" "), "none")];
      t.equal(highlight(query, html), highlightTraced(query, html), html);
      const all = new Set(wordsOf(foldText(textOf(html))));
      t.equal(
        matchesSearch(query, html, ""),
        wanted.flatMap(wordsOf).every((word) => all.has(word)),
        html,
      );
    }),
    { seed, numRuns: 500 },
  );
});

t.test("[behaviour 5.3] a word finds its forms in the language of the organization", async (t) => {
  const isForm = (operand: string, text: string, language: SearchLanguage) =>
    matchesSearch(readSearch(`${operand} `, language), `<p>${text}</p>`, "");
  const forms: [operand: string, text: string, language: SearchLanguage][] = [
    ["deployments", "we deploy", "english"],
    ["deploy", "the deployment", "english"],
    ["deployed", "Deploying", "english"],
    ["running", "it runs", "english"],
    ["Häuser", "ein Haus", "german"],
    ["hauser", "ein Haus", "german"],
    ["красная", "красный", "russian"],
    ["maisons", "la maison", "french"],
  ];
  for (const [operand, text, language] of forms) {
    t.ok(isForm(operand, text, language), `${operand} in ${text}`);
    t.notOk(isForm(operand, text, "none"), `${operand} not in ${text} without a language`);
  }
  t.notOk(isFound('"deploy"', "<p>deployment</p>"), "a word in quotes is meant as it is");
  t.notOk(isForm("organize ", "an orange", "english"));
  for (const language of searchLanguages) t.ok(isForm("łódź", "łódź", language), language);
});

t.test("[behaviour 5.3] the last word of a search finds words that begin with it", async (t) => {
  const deployment = "<p>the deployment failed</p>";
  for (const operand of ["depl", "failed depl", "deployme"]) t.ok(isFound(operand, deployment), operand);
  for (const operand of ["depl ", "depl failed", '"depl"', "depl!"]) t.notOk(isFound(operand, deployment), operand);
  const least = limits.search_beginning_characters_min;
  t.strictSame(
    [least, least - 1].map((length) => isFound("deployment".slice(0, length), deployment)),
    [true, false],
    "[S3] search_beginning_characters_min",
  );
});

t.test("[behaviour 5.3] forgiven typos: one, and two after the third letter of a long word", async (t) => {
  const isForgiven = (operand: string, text: string) => {
    const query = forgivingSearch(readSearch(`${operand} `, "english"));
    return query !== null && matchesSearch(query, `<p>${text}</p>`, "");
  };
  for (const typed of ["depoly", "deply", "deplooy", "seploy", "deploi"]) t.ok(isForgiven(typed, "deploy"), typed);
  for (const typed of ["kuberntees", "kubrnetse", "kubbernetess"]) t.ok(isForgiven(typed, "kubernetes"), typed);
  for (const typed of ["dpeoly", "deoply x"]) t.notOk(isForgiven(typed, "deploy"), typed);
  t.notOk(isForgiven("ukberntees", "kubernetes"), "two typos, one of them at the beginning");
  for (const typed of ["cta", "2027", "v2ray", '"depoly"']) {
    t.equal(forgivingSearch(readSearch(`${typed} `, "english")), null, typed);
  }
  t.equal(
    highlight(forgivingSearch(readSearch("depoly", "english")) as SearchQuery, "a deploy"),
    `a ${mark("deploy")}`,
  );
});

t.test("[behaviour 2.9] highlights show the forms, beginnings and runs that matched", async (t) => {
  const marked: [operand: string, html: string, expected: string][] = [
    ["deployed", "<p>Deployment &amp; deploy</p>", `<p>${mark("Deployment")} &amp; ${mark("deploy")}</p>`],
    ["depl", "<p>Deployment</p>", `<p>${mark("Deployment")}</p>`],
    ["cafes", "<p>le Café</p>", `<p>le ${mark("Café")}</p>`],
    ["京都", "<p>東京都の京</p>", `<p>東${mark("京都")}の京</p>`],
  ];
  for (const [operand, html, expected] of marked) t.equal(highlight(readSearch(operand, "english"), html), expected);
});

t.test("[S3] a hostile search is read and compared within the bounds of its words", async (t) => {
  const texts = [
    "\ud800",
    `abc\udc00`,
    "שלום עולם",
    "👩‍👩‍👧 👍🏽",
    "e\u0301\u0302\u0303".repeat(200),
    "a".repeat(1000),
    "abc日本ключ",
    "\u202eabc",
  ];
  for (const text of texts) {
    for (const language of searchLanguages) {
      const query = readSearch(text, language);
      const html = `<p>${escapeAttribute(text)}</p>`;
      const isSomething = query.words.length + query.phrases.length > 0;
      t.equal(matchesSearch(query, html, ""), isSomething, `${JSON.stringify(text.slice(0, 20))} in ${language}`);
      highlight(forgivingSearch(query) ?? query, html);
    }
  }
});
