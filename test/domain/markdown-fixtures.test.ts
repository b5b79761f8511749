// The forty documented pairs of source and HTML, with at least one assertion each. Two differ on purpose: code is not
// highlighted (pairs 19 and following have the documented wrapper around escaped code), and KaTeX's layout inside
// `katex-html` is its own (pair 37 is compared up to there).
import t from "tap";
import { TEX_CHARS_PER_FORMULA, TEX_CHARS_PER_MESSAGE_MAX } from "../../domain/markdown/bounds.ts";
import { html, render } from "./markdown-support.ts";

const emoji = (name: string, code: string): string =>
  `<span aria-label="${name}" class="emoji emoji-${code}" role="img" title="${name}">:${name}:</span>`;
const code = (text: string, language?: string): string =>
  `<div class="codehilite"${language === undefined ? "" : ` data-code-language="${language}"`}><pre><span></span><code>${text}\n</code></pre></div>`;

const PAIRS: readonly [number: string, source: string, expected: string][] = [
  ["1", "@**Example User**", '<p><span class="user-mention" data-user-id="31">@Example User</span></p>'],
  ["1", "@**Example User|31**", '<p><span class="user-mention" data-user-id="31">@Example User</span></p>'],
  ["1", "@**|31**", '<p><span class="user-mention" data-user-id="31">@Example User</span></p>'],
  ["2", "@_**Example User**", '<p><span class="user-mention silent" data-user-id="31">Example User</span></p>'],
  ["3", "@**all**", '<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span></p>'],
  ["3", "@**stream**", '<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@stream</span></p>'],
  ["4", "@**topic**", '<p><span class="topic-mention">@topic</span></p>'],
  ["5", "@*support*", '<p><span class="user-group-mention" data-user-group-id="17">@support</span></p>'],
  ["6", "@_*support*", '<p><span class="user-group-mention silent" data-user-group-id="17">support</span></p>'],
  [
    "7",
    "@_*role:administrators*",
    '<p><span class="user-group-mention silent" data-user-group-id="5">Administrators</span></p>',
  ],
  [
    "8",
    "#**announce**",
    '<p><a class="stream" data-stream-id="9" href="/#narrow/channel/9-announce">#announce</a></p>',
  ],
  [
    "9",
    "#**announce>Zulip updates**",
    '<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce/topic/Zulip.20updates/with/214">#announce &gt; Zulip updates</a></p>',
  ],
  [
    "9",
    "#**announce>quiet**",
    '<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce/topic/quiet">#announce &gt; quiet</a></p>',
  ],
  [
    "10",
    "#**announce>Zulip updates@214**",
    '<p><a class="message-link" href="/#narrow/channel/9-announce/topic/Zulip.20updates/near/214">#announce &gt; Zulip updates @ 💬</a></p>',
  ],
  [
    "11",
    "#**announce>**",
    '<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce/topic/with/214">#announce &gt; <em>general chat</em></a></p>',
  ],
  ["12", ":smile:", `<p>${emoji("smile", "1f642")}</p>`],
  [
    "13",
    ":zulip:",
    '<p><img alt=":zulip:" class="emoji" src="/static/generated/emoji/images/emoji/unicode/zulip.png" title="zulip"></p>',
  ],
  [
    "14",
    ":example_custom_emoji:",
    '<p><img alt=":example_custom_emoji:" class="emoji" src="/user_avatars/2/emoji/images/dbe43627.png" title="example custom emoji"></p>',
  ],
  ["15", "💩", `<p>${emoji("poop", "1f4a9")}</p>`],
  ["16", ":not_an_emoji:", "<p>:not_an_emoji:</p>"],
  ["17", ":)", "<p>:)</p>"],
  ["18", "`<&nbsp;>`", "<p><code>&lt;&amp;nbsp;&gt;</code></p>"],
  ["19", "~~~~.python\ndef speak(self):\n    x = 1\n~~~~", code("def speak(self):\n    x = 1", "Python")],
  ["20", "``` inventedlanguage\nx\n```", code("x", "inventedlanguage")],
  ["21", "```\nfenced code\n```", code("fenced code")],
  ["22", "    def foo(): pass", code("def foo(): pass")],
  [
    "23",
    "~~~ quote\nTo be or **not** to be.\n\nThat is the question\n~~~",
    "<blockquote>\n<p>To be or <strong>not</strong> to be.</p>\n<p>That is the question</p>\n</blockquote>",
  ],
  [
    "24",
    "> Hello World!\n\n> Hello Universe!",
    "<blockquote>\n<p>Hello World!</p>\n</blockquote>\n<blockquote>\n<p>Hello Universe!</p>\n</blockquote>",
  ],
  ["25", ">", "<p>&gt;</p>"],
  ["26", "test\nbar", "<p>test<br>\nbar</p>"],
  ["27", "# Hello world", "<h1>Hello world</h1>"],
  ["27", "#Hello world", "<p>#Hello world</p>"],
  [
    "28",
    "Some text with a list:\n\n* One item\n* Two items",
    "<p>Some text with a list:</p>\n<ul>\n<li>One item</li>\n<li>Two items</li>\n</ul>",
  ],
  ["29", "[hello](https://github.com)", '<p><a href="https://github.com">hello</a></p>'],
  ["30", "[](https://github.com)", '<p><a href="https://github.com">https://github.com</a></p>'],
  ["31", "with short example.com url", '<p>with short <a href="http://example.com">example.com</a> url</p>'],
  ["31", "readme.md and views.py", "<p>readme.md and views.py</p>"],
  ["32", "[foo](javascript://foo.com)", "<p>[foo](javascript://foo.com)</p>"],
  ["33", "a@b.com", '<p><a href="mailto:a@b.com">a@b.com</a></p>'],
  [
    "34",
    "[foo](http://zulip.testserver/#narrow/stream/1-Denmark)",
    '<p><a href="#narrow/stream/1-Denmark">foo</a></p>',
  ],
  [
    "35",
    "First header | Second header\n--- | ---\nContent cell | Content cell",
    "<table>\n<thead>\n<tr>\n<th>First header</th>\n<th>Second header</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>Content cell</td>\n<td>Content cell</td>\n</tr>\n</tbody>\n</table>",
  ],
  [
    "36",
    "```spoiler header\ncontent\n```",
    '<div class="spoiler-block"><div class="spoiler-header">\n<p>header</p>\n</div><div class="spoiler-content" aria-hidden="true">\n<p>content</p>\n</div></div>',
  ],
  [
    "36",
    "```spoiler\ncontent\n```",
    '<div class="spoiler-block"><div class="spoiler-header">\n</div><div class="spoiler-content" aria-hidden="true">\n<p>content</p>\n</div></div>',
  ],
  ["38", "$$\\error{**a**}$$", '<p><span class="tex-error">$$\\error{**a**}$$</span></p>'],
  ["38", "```math\n\\error{**a**}\n```", '<p><span class="tex-error">\\error{**a**}</span></p>'],
  ["38", "$foo is$$", "<p>$foo is$$</p>"],
  ["39", "<time:2020-06-05T03:30:00Z>", '<p><time datetime="2020-06-05T03:30:00Z">2020-06-05T03:30:00Z</time></p>'],
  ["39", "<time:**hello world**>", '<p><span class="timestamp-error">Invalid time format: **hello world**</span></p>'],
  [
    "40",
    "[x.png](/user_uploads/p/x.png)",
    '<p><a href="/user_uploads/p/x.png">x.png</a></p>\n<div class="message_inline_image"><a href="/user_uploads/p/x.png" title="x.png"><img data-original-dimensions="1920x1080" data-original-content-type="image/png" src="/user_uploads/thumbnail/p/x.png/840x560.webp"></a></div>',
  ],
  ["41", "", ""],
  ["41", "**x** *x* ~~x~~ ***x***", "<p><strong>x</strong> <em>x</em> <del>x</del> <strong><em>x</em></strong></p>"],
  ["41", "1. A\n\n1. B", "<ol>\n<li>\n<p>A</p>\n</li>\n<li>\n<p>B</p>\n</li>\n</ol>"],
];

for (const [number, source, expected] of PAIRS) {
  t.test(`[behaviour 5.8] pair ${number}: ${JSON.stringify(source)} renders as documented`, async (t) => {
    t.equal(html(source), expected);
  });
}

t.test("[behaviour 5.8] with translate_emoticons an emoticon renders like its emoji", async (t) => {
  t.equal(html(":)", { translateEmoticons: true }), html(":smile:"));
});

t.test("[behaviour 5.8] a formula keeps its source as an annotation, inline and as a block", async (t) => {
  const inline = html("$$\\text{**a**}$$");
  t.match(
    inline,
    '<p><span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML">',
  );
  t.match(inline, '<annotation encoding="application/x-tex">\\text{**a**}</annotation></semantics></math></span>');
  t.match(inline, '<span class="katex-html" aria-hidden="true"><span class="base"><span class="strut"');
  t.match(html("```math\na^2\n```"), /^<p><span class="katex-display"><span class="katex">.*<\/span><\/p>$/s);
});

t.test("the header of a spoiler is Markdown, blocks included", async (t) => {
  const header = (text: string) =>
    /<div class="spoiler-header">\n(.*)<\/div><div/s.exec(html(`\`\`\`spoiler ${text}\nx\n\`\`\``))?.[1];
  t.equal(header("a **b**"), "<p>a <strong>b</strong></p>\n");
  t.equal(header("1. ## b"), "<ol>\n<li>\n<h2>b</h2>\n</li>\n</ol>\n");
});

t.test("in a math block empty lines separate formulas, as mobile clients expect", async (t) => {
  const formula = (source: string) => html(`\`\`\`math\n${source}\n\`\`\``).replace(/^<p>|<\/p>$/g, "");
  const both = `<p>${formula("a")}\n\n${formula("b")}</p>`;
  t.equal(html("```math\na\n\nb\n```"), both);
  t.equal(html("```math\n\na\n \n\nb\n\n```"), both);
  t.match(html("```math\na\nb\n```"), '<annotation encoding="application/x-tex">a\nb</annotation>');
  t.equal(html("```math\n\\frac{\n\nb\n```"), `<p><span class="tex-error">\\frac{</span>\n\n${formula("b")}</p>`);
});

t.test("[S3] TEX_CHARS_PER_MESSAGE_MAX bounds the formulas of a math block together", async (t) => {
  const formulas = Math.floor(TEX_CHARS_PER_MESSAGE_MAX / (1 + TEX_CHARS_PER_FORMULA));
  const block = (count: number) => html(`\`\`\`math\n${Array.from({ length: count }, () => "a").join("\n\n")}\n\`\`\``);
  const shown = (text: string) => text.split('class="katex-display"').length - 1;
  t.strictSame([shown(block(formulas)), block(formulas).includes("tex-error")], [formulas, false]);
  t.equal(shown(block(formulas + 1)), formulas);
  t.match(block(formulas + 1), /<span class="tex-error">a<\/span><\/p>$/);
});

t.test("a table without rows has an empty one, as mobile clients expect", async (t) => {
  const row = "<tr>\n<td></td>\n<td></td>\n</tr>";
  t.equal(
    html("| a | b |\n| - | - |"),
    `<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n${row}\n</tbody>\n</table>`,
  );
});

t.test("[behaviour 5.8] a message that starts with /me is a me-message only while it is one paragraph", async (t) => {
  t.equal(html("/me waves"), "<p>/me waves</p>");
  t.equal(render("/me waves").isMeMessage, true);
  t.equal(render("/me **waves**").isMeMessage, true);
  t.equal(render("/me waves\n\n* at all").isMeMessage, false);
  t.equal(render("/meow").isMeMessage, false);
});
