/**
 * `content_html_diff` (OpenAPI, get-message-history): added and removed words within the tags of the newer rendering,
 * at bounded cost.
 */
import fc from "fast-check";
import { parseFragment, serialize } from "parse5";
import t from "tap";
import { contentDiff } from "../../domain/content-diff.ts";
import { limits } from "../../schemas/limits.ts";
import { seedOf } from "../support/seed.ts";

const came = (words: string) => `<span class="highlight_text_inserted">${words}</span>`;
const went = (words: string) => `<span class="highlight_text_deleted">${words}</span>`;

t.test("added and removed words are in spans, everything else is the newer rendering", async (t) => {
  const mention = (name: string) => `<span class="user-mention" data-user-id="9">@${name}</span>`;
  const cases: readonly (readonly [before: string, after: string, diff: string])[] = [
    ["<p>Hello!</p>", "<p>Howdy!</p>", `<p>${came("Howdy!")} ${went("Hello!")}</p>`],
    ["<p>one two</p>", "<p>one two</p>", "<p>one two</p>"],
    ["<p>one two</p>", "<p>one and two</p>", `<p>one ${came("and")} two</p>`],
    ["<p>one and two</p>", "<p>one two</p>", `<p>one ${went("and")} two</p>`],
    ["<p>a b</p>", "<p>a <strong>b</strong></p>", "<p>a <strong>b</strong></p>"],
    ["<p>a</p>", "<p>a</p>\n<ul>\n<li>b</li>\n</ul>", `<p>a</p>\n<ul>\n<li>${came("b")}</li>\n</ul>`],
    ["<p>1 &lt; 2 &amp; 3</p>", "<p>1 &lt; 4 &amp; 3</p>", `<p>1 &lt; ${came("4")} ${went("2")} &amp; 3</p>`],
    [`<p>${mention("A B")}</p>`, `<p>${mention("C D")}</p>`, `<p>${came(mention("C D"))} ${went(mention("A B"))}</p>`],
    ['<p><a href="/x">x</a></p>', '<p><a href="/y&amp;z">x</a></p>', '<p><a href="/y&amp;z">x</a></p>'],
  ];
  for (const [before, after, diff] of cases)
    t.equal(contentDiff(before, after), `<div>${diff}</div>`, `${before} ${after}`);
});

t.test("every diff is well formed and contains the newer rendering", async (t) => {
  const word = fc.constantFrom(
    "a",
    "b",
    "c",
    "&lt;",
    "&amp;",
    '<img src="/p.png">',
    '<span class="katex"><span>x</span></span>',
  );
  const words = fc.array(word, { maxLength: 6 }).map((list) => list.join(" "));
  const block = fc.oneof(
    words.map((text) => `<p>${text}</p>`),
    words.map((text) => `<ul>\n<li>${text}</li>\n<li><em>${text}</em></li>\n</ul>`),
    words.map((text) => `<blockquote>\n<p>${text}<br>\n${text}</p>\n</blockquote>`),
  );
  const rendering = fc.array(block, { maxLength: 4 }).map((blocks) => blocks.join("\n"));
  fc.assert(
    fc.property(rendering, rendering, (before, after) => {
      const diff = contentDiff(before, after) ?? "";
      t.equal(serialize(parseFragment(diff)), diff, "a parser changes nothing");
      const now = diff
        .replaceAll(
          / ?<span class="highlight_text_deleted">(?:[^<]|<img [^>]*>|<span class="katex"><span>x<\/span><\/span>)*<\/span>/g,
          "",
        )
        .replaceAll(
          /<span class="highlight_text_inserted">((?:[^<]|<img [^>]*>|<span class="katex"><span>x<\/span><\/span>)*)<\/span>/g,
          "$1",
        );
      const plain = (html: string) => html.replaceAll(/\s+/g, "");
      t.equal(plain(now), plain(`<div>${after}</div>`));
    }),
    { seed: seedOf(t) },
  );
});

t.test(
  "[S3] history_diff_characters_max: two renderings are compared up to that many characters together",
  async (t) => {
    const half = limits.history_diff_characters_max / 2;
    const rendering = (length: number) => `<p>${"x".repeat(length - "<p></p>".length)}</p>`;
    t.ok(contentDiff(rendering(half), rendering(half)), "at the bound");
    t.equal(contentDiff(rendering(half), rendering(half + 1)), null, "one over");
  },
);

t.test("[S3] history_diff_edits_max: with more edits everything counts as replaced", async (t) => {
  const numbered = (count: number, sign: string) =>
    `<p>${Array.from({ length: count }, (_, index) => `same ${sign}${index}`).join(" ")}</p>`;
  // Each changed word is one added and one removed.
  const count = limits.history_diff_edits_max / 2;
  const kept = (diff: string | null) =>
    diff?.includes(`</span> same ${came("b1")}`) || diff?.includes(`same ${came("b1")}`);
  t.equal(kept(contentDiff(numbered(count, "a"), numbered(count, "b"))), true, "at the bound");
  t.equal(kept(contentDiff(numbered(count + 1, "a"), numbered(count + 1, "b"))), false, "one over");
});

t.test("[S3] history_diff_characters_max: a text of many spaces is compared", async (t) => {
  const blanks = `<p>a${" ".repeat(limits.history_diff_characters_max - 100)}b</p>`;
  t.match(contentDiff("<p>x</p>", blanks), /inserted">a {100,}b<\/span>/);
});
