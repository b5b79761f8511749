// The Markdown dialect beyond the documented pairs: differences from CommonMark, links and linkifiers, times, code.
import t from "tap";
import { BARE_LINK_PARENTHESES_MAX } from "../../domain/markdown/bounds.ts";
import { renderTopicLinks } from "../../domain/markdown/render.ts";
import { parseTimestamp } from "../../domain/markdown/timestamps.ts";
import { expandTemplate, isTemplate } from "../../domain/markdown/uri-template.ts";
import { html } from "./markdown-support.ts";

const each = (t: Tap, cases: readonly (readonly [source: string, expected: string])[]): void => {
  for (const [source, expected] of cases) t.equal(html(source), expected, JSON.stringify(source));
};
const PARTY = '<span aria-label="tada" class="emoji emoji-1f389" role="img" title="tada">:tada:</span>';
type Tap = Pick<typeof t, "equal">;

t.test("[behaviour 5.8] raw HTML, reference links, images, escapes and underscores are not markup", async (t) => {
  each(t, [
    ['<h1>a</h1> & "b"', '<p>&lt;h1&gt;a&lt;/h1&gt; &amp; "b"</p>'],
    ["[a]: /b\n\n[a] [c][a]", "<p>[a]: /b</p>\n<p>[a] [c][a]</p>"],
    ["![a](http://b.com)", '<p>!<a href="http://b.com">a</a></p>'],
    ["\\*a\\* _b_ __c__", "<p>\\<em>a\\</em> _b_ __c__</p>"],
    ["a\n===\nb\n---", "<p>a<br>\n===<br>\nb</p>\n<hr>"],
    ["& &amp; &amp;amp;", "<p>&amp; &amp; &amp;amp;</p>"],
  ]);
});

t.test("[behaviour 5.8] bold and strike-through do not span lines, and emphasis nests", async (t) => {
  each(t, [
    ["**a\nb** *c\nd* ~~e\nf~~", "<p>**a<br>\nb** *c<br>\nd* ~~e<br>\nf~~</p>"],
    ["**a** b\n**c**", "<p><strong>a</strong> b<br>\n<strong>c</strong></p>"],
    ["[**a\nb** *c*](http://d.com)", '<p><a href="http://d.com">**a<br>\nb** <em>c</em></a></p>'],
    ["~~ a ~~ ~~~b~~~", "<p><del> a </del> ~~~b~~~</p>"],
    ["***a** b* **c *d***", "<p><em><strong>a</strong> b</em> <strong>c <em>d</em></strong></p>"],
    ["x = (char *)y *z", "<p>x = (char *)y *z</p>"],
  ]);
});

t.test("[behaviour 5.8] stars mark text beside punctuation and in scripts without blanks", async (t) => {
  each(t, [
    ["**Note:**see below", "<p><strong>Note:</strong>see below</p>"],
    ["**「重点」**内容", "<p><strong>「重点」</strong>内容</p>"],
    ["内容**「重点」**内容", "<p>内容<strong>「重点」</strong>内容</p>"],
    ["*（注）*本文", "<p><em>（注）</em>本文</p>"],
    ["これは**重要。**です", "<p>これは<strong>重要。</strong>です</p>"],
    ["see**(this)**now", "<p>see<strong>(this)</strong>now</p>"],
    ['a**"b"**c', '<p>a<strong>"b"</strong>c</p>'],
    ["***a!***b", "<p><strong><em>a!</em></strong>b</p>"],
    [
      "~~**a:**b~~ [**c:**d](http://e.com)",
      '<p><del><strong>a:</strong>b</del> <a href="http://e.com"><strong>c:</strong>d</a></p>',
    ],
    ["soup*, bread*", "<p>soup*, bread*</p>"],
    ["f(*a) and g(*b)", "<p>f(*a) and g(*b)</p>"],
    ["2 * 3 * 4, ** a **", "<p>2 * 3 * 4, ** a **</p>"],
    ["a**🎉b**🎉", "<p>a<strong>🎉b</strong>🎉</p>".replaceAll("🎉", PARTY)],
  ]);
});

t.test("[behaviour 5.8] lists nest by two spaces, mix bullets, follow text at once and contain code", async (t) => {
  each(t, [
    ["1. A\n1. B\n  1. C\n1. D", "<ol>\n<li>A</li>\n<li>B<ol>\n<li>C</li>\n</ol>\n</li>\n<li>D</li>\n</ol>"],
    ["a:\n* b\n- c\n+ d\n\ne", "<p>a:</p>\n<ul>\n<li>b</li>\n<li>c</li>\n<li>d</li>\n</ul>\n<p>e</p>"],
    ["3. a\n3. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'],
    ["* a\n\n* b", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>"],
    ["* a\n  * b\n\n    c", "<ul>\n<li>a<ul>\n<li>\n<p>b</p>\n<p>c</p>\n</li>\n</ul>\n</li>\n</ul>"],
    [
      "* a\n  ```py\n  x\n\n    y\n  ```\n* b",
      '<ul>\n<li>a<div class="codehilite" data-code-language="Python"><pre><span></span><code>x\n\n  y\n</code></pre></div>\n</li>\n<li>b</li>\n</ul>',
    ],
    ["born in\n1986. Yes", "<p>born in<br>\n1986. Yes</p>"],
    ["1. a\n* b", "<ol>\n<li>a</li>\n</ol>\n<ul>\n<li>b</li>\n</ul>"],
  ]);
});

t.test("[behaviour 5.8] quotes take the lines that follow, fences nest in them, empty ones are text", async (t) => {
  each(t, [
    ["> a\nb\n\nc", "<blockquote>\n<p>a<br>\nb</p>\n</blockquote>\n<p>c</p>"],
    [">\n>\ntext", "<blockquote>\n<p>text</p>\n</blockquote>"],
    [">>>>>", `${"<blockquote>\n".repeat(4)}<p>&gt;</p>${"\n</blockquote>".repeat(4)}`],
    [
      "```quote\n```\nx\n```\ny\n```\nz",
      '<blockquote></blockquote>\n<p>x</p>\n<div class="codehilite"><pre><span></span><code>y\n</code></pre></div>\n<p>z</p>',
    ],
    [
      "~~~quote\n```js\nx\n```\ny\n~~~\nz",
      '<blockquote>\n<div class="codehilite" data-code-language="JavaScript"><pre><span></span><code>x\n</code></pre></div>\n<p>y</p>\n</blockquote>\n<p>z</p>',
    ],
    ["````\n```\na\n```\n````", '<div class="codehilite"><pre><span></span><code>```\na\n```\n</code></pre></div>'],
    ["~~~ a ~~~", "<p>~~~ a ~~~</p>"],
  ]);
});

t.test("[behaviour 5.8] code keeps its spaces, is escaped, not highlighted, its language canonical", async (t) => {
  each(t, [
    ["` a ` ```` b`c ````", "<p><code> a </code> <code> b`c </code></p>"],
    ["`a", "<p>`a</p>"],
    [
      "```\"><b>\n<'x'>\n```",
      '<div class="codehilite" data-code-language="&quot;&gt;&lt;b&gt;"><pre><span></span><code>&lt;&#39;x&#39;&gt;\n</code></pre></div>',
    ],
    [
      "```C++\n\n\tx  \n\n```",
      '<div class="codehilite" data-code-language="C++"><pre><span></span><code>\tx\n</code></pre></div>',
    ],
  ]);
});

t.test("[behaviour 5.8] an address begins where a word begins, and ends before punctuation", async (t) => {
  const a = (href: string, text = href): string => `<a href="${href}">${text}</a>`;
  each(t, [
    ["(http://a.com/b_(c)), http://a.com.", `<p>(${a("http://a.com/b_(c)")}), ${a("http://a.com")}.</p>`],
    [
      "**http://a.com** *b.com* ~~c.com~~",
      `<p><strong>${a("http://a.com")}</strong> <em>${a("http://b.com", "b.com")}</em> <del>${a("http://c.com", "c.com")}</del></p>`,
    ],
    ["http://a.com/*b*_c_", `<p>${a("http://a.com/*b*_c_")}</p>`],
    ["xhttp://a.com a.b.c e.g. main.py http:// 1.5", "<p>xhttp://a.com a.b.c e.g. main.py http:// 1.5</p>"],
    ["<http://a.com?b&c>", `<p>&lt;${a("http://a.com?b&amp;c")}&gt;</p>`],
    ["foo.com:8080/x?y", `<p>${a("http://foo.com:8080/x?y", "foo.com:8080/x?y")}</p>`],
    ["[http://a.com](http://b.com)", `<p>${a("http://b.com", "http://a.com")}</p>`],
    ["a@b.com/foo a@b.com/ a@b.com.", `<p>a@b.com/foo a@b.com/ ${a("mailto:a@b.com", "a@b.com")}.</p>`],
    ["http://zulip.testserver/#narrow/x", `<p>${a("#narrow/x", "http://zulip.testserver/#narrow/x")}</p>`],
  ]);
});

t.test("[behaviour 5.8] an address with a quotation mark and text, or nested too deep, is text", async (t) => {
  const a = (href: string, text = href): string => `<a href="${href}">${text}</a>`;
  const nested = (depth: number): string => `http://a.com/${"(".repeat(depth)}x${")".repeat(depth)}`;
  each(t, [
    ['<b src="http://xx.com/xss.js"<b>', '<p>&lt;b src="http://xx.com/xss.js"&lt;b&gt;</p>'],
    ['src="b.com"x "b.com"<', '<p>src="b.com"x "b.com"&lt;</p>'],
    ['"http://a.com/x", "b.com".', `<p>"${a("http://a.com/x")}", "${a("http://b.com", "b.com")}".</p>`],
    [nested(BARE_LINK_PARENTHESES_MAX), `<p>${a(nested(BARE_LINK_PARENTHESES_MAX))}</p>`],
    [nested(BARE_LINK_PARENTHESES_MAX + 1), `<p>${nested(BARE_LINK_PARENTHESES_MAX + 1)}</p>`],
  ]);
});

t.test("[behaviour 5.8] a line keeps its leading spaces", async (t) => {
  each(t, [["a\n  *b*\n   c", "<p>a<br>\n  <em>b</em><br>\n   c</p>"]]);
});

t.test("[behaviour 5.8] links have only permitted targets", async (t) => {
  for (const bad of [
    "javascript:1",
    "JAVASCRIPT:1",
    "vbscript:1",
    "data:text/html,1",

    "\u0001javascript:1",
    "blob:1",
    "?x",
    "http://",
    "https:///a",
    "http:a",
    "a b",
  ]) {
    t.notMatch(html(`[x](${bad})`), "<a", bad);
  }
  t.match(html("[x](javascript&colon;1)"), 'href="http://javascript&amp;colon;1"');
  t.match(html("[x](//evil.example)"), 'href="http://evil.example"');
  t.match(html("[x](mailto:a@b.com)"), 'href="mailto:a@b.com"');
  t.match(html('[x](http://a.com "a \'<b>")'), 'title="a &#39;&lt;b&gt;"');
});

t.test("[S3] links do not nest, and an address ends where too many parentheses are open", async (t) => {
  t.equal(html("[a [b](/c) d](/e)"), '<p><a href="/e">a [b](/c) d</a></p>');
  t.match(html(`[a](/${"(".repeat(16)}${")".repeat(16)})`), "<a");
  t.notMatch(html(`[a](/${"(".repeat(17)}${")".repeat(17)})`), "<a");
});

t.test("[behaviour 5.8] linkifiers turn matches into links, after addresses, never inside words or code", async (t) => {
  const linkifiers = [
    { pattern: "#(?P<id>[0-9]+)", urlTemplate: "https://t.example/{id}" },
    {
      pattern: "(?P<org>[a-z]+)/(?P<repo>[a-z]+)#(?P<id>[0-9]+)",
      urlTemplate: "https://g.example/{org}/{repo}?q={id}{&none}",
    },
  ];
  const render = (content: string): string => html(content, { linkifiers });
  t.equal(
    render("#1, (#2) x#3 #4x `#5`"),
    '<p><a href="https://t.example/1">#1</a>, (<a href="https://t.example/2">#2</a>) x#3 #4x <code>#5</code></p>',
  );
  t.equal(render("ab/cd#5"), '<p><a href="https://g.example/ab/cd?q=5">ab/cd#5</a></p>');
  t.equal(render("http://a.com/#7"), '<p><a href="http://a.com/#7">http://a.com/#7</a></p>');
  t.same(renderTopicLinks("fix #12, see https://a.com/#3 and b.com", linkifiers), [
    { text: "#12", url: "https://t.example/12" },
    { text: "https://a.com/#3", url: "https://a.com/#3" },
    { text: "b.com", url: "http://b.com" },
  ]);
});

t.test("RFC 6570: templates expand by operator and omit variables without a value", async (t) => {
  const values = { a: "x y/é", b: "", n: "1" };
  for (const [template, expected] of [
    ["{a}", "x%20y%2F%C3%A9"],
    ["{+a}", "x%20y/%C3%A9"],
    ["{#n}", "#1"],
    ["/p{/n,none,a}", "/p/1/x%20y%2F%C3%A9"],
    ["{?n,b,none}", "?n=1&b="],
    ["{;n,b}", ";n=1;b"],
    ["{.n}{&n}", ".1&n=1"],
    ["{a:1}", "x"],
    ["{toString}", ""],
  ] as const) {
    t.equal(expandTemplate(template, values), expected, template);
  }
  t.same(["{a}", "a", "{", "}", "{}", "{a b}", "{{a}}"].map(isTemplate), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

t.test("[behaviour 5.8] a time in any accepted format gives the same instant", async (t) => {
  for (const [text, instant] of [
    ["2020-06-05T03:30:00Z", "2020-06-05T03:30:00Z"],
    ["2020-06-05T03:30:00+05:30", "2020-06-04T22:00:00Z"],
    ["2020-06-05 03:30", "2020-06-05T03:30:00Z"],
    ["2020-06-05", "2020-06-05T00:00:00Z"],
    ["1496701800", "2017-06-05T22:30:00Z"],
    ["Jun 5th 2017, 10:30PM", "2017-06-05T22:30:00Z"],
    ["31 December 2017 12:05 am", "2017-12-31T00:05:00Z"],
    ["2020-06-05 3:30 pm", "2020-06-05T15:30:00Z"],
    ["2020-06-05, 12:05 AM +05:30", "2020-06-04T18:35:00Z"],
    ["Mon, 28 May 2020 1:30 PM +0530", "2020-05-28T08:00:00Z"],
    ["Wednesday Jun 5 2017 10:30", "2017-06-05T10:30:00Z"],
    ["2020-02-30", null],
    ["2020-02-30 3:30 pm", null],
    ["2020-06-05 3:30 xm", null],
    ["Monday", null],
    ["2020-06-05T25:00:00Z", null],
    ["hello 2017", null],
    ["5 Foo 2017", null],
    ["999999999999", null],
    ["31 Dec 2017 5:30 am IST", "2017-12-31T00:00:00Z"],
    ["2020-01-01 10:00 PST", "2020-01-01T18:00:00Z"],
    ["2020-01-01 10:00:00 NST", "2020-01-01T13:30:00Z"],
    ["Jan 2, 2020 10am EDT", "2020-01-02T14:00:00Z"],
    ["2020-01-01 10:00 XYZ", null],
    ["31 Dec 2017 5pm", "2017-12-31T17:00:00Z"],
    ["31 Dec 2017 5", null],
    ["31 Dec 2017 13 pm", null],
    ["2020/01/02", "2020-01-02T00:00:00Z"],
    ["01/02/2020 10:00", "2020-01-02T10:00:00Z"],
    ["2020-01/02", null],
    ["0050-01-01", "0050-01-01T00:00:00Z"],
    ["0004-02-29", "0004-02-29T00:00:00Z"],
    ["0001-02-29", null],
    ["0001-01-01", "0001-01-01T00:00:00Z"],
    ["0001-01-01 00:00 +05:00", null],
    ["0000-12-31", null],
    ["9999-12-31 23:00 -05:00", null],
    ["2020-01-01 10:00 +5", "2020-01-01T05:00:00Z"],
    ["2020-01-01 10:00 +05", "2020-01-01T05:00:00Z"],
    ["2020-01-01T10:00:00+23:59", "2019-12-31T10:01:00Z"],
    ["2020-01-01 10:00 +24:00", null],
    ["2020-01-01 10:00 -2400", null],
    ["2020-01-01T10:00:00+99:99", null],
  ] as const) {
    t.equal(parseTimestamp(text), instant, text);
  }
});

t.test("[behaviour 5.8] tables align and escape their cells", async (t) => {
  const table = html("a | b | c\n:- | :-: | -:\n**x** | `y` | <z>");
  t.match(
    table,
    '<th style="text-align: left;">a</th>\n<th style="text-align: center;">b</th>\n<th style="text-align: right;">c</th>',
  );
  t.match(table, "<strong>x</strong>");
  t.match(table, "&lt;z&gt;");
});

t.test("[behaviour 5.8] a bar in inline code within a table row is code, and the cell loses nothing", async (t) => {
  const body = (rows: string) =>
    html(rows)
      .replace(/^.*<tbody>\n|<\/tbody>.*$/gs, "")
      .replaceAll(/<\/?tr>\n?|\n/g, "");
  const head = "a | b\n--- | ---\n";
  t.equal(body(`${head}1 | \`x|y\` z`), "<td>1</td><td><code>x|y</code> z</td>");
  t.equal(body(`${head}\`\` \`| \`\` | \`||\`|`), "<td><code> `| </code></td><td><code>||</code></td>");
  t.equal(body(`${head}x \\| y | \`x\\|y\``), "<td>x | y</td><td><code>x|y</code></td>", "so is an escaped bar");
  t.equal(body(`${head}\`x | y\n\`z | w`), "<td>`x</td><td>y</td><td>`z</td><td>w</td>", "code ends with its row");
  t.match(html("`a|b` | c\n-|-\n1 | 2"), "<th><code>a|b</code></th>\n<th>c</th>");
  t.equal(
    html("`a|b`\n-|-"),
    "<p><code>a|b</code><br>\n-|-</p>",
    "a header of one cell above a delimiter row of two is no table",
  );
  t.match(html("> * `a|b` | c\n>   -|-\n>   1 | `2|3`"), "<td><code>2|3</code></td>", "wherever it stands");
});
