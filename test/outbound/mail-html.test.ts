/**
 * Rendered messages in emails (D31): safe for any mail program, absolute links, images as links, hidden spoilers. The
 * messages are output of the Markdown renderer.
 */
import { parse } from "parse5";
import t from "tap";
import { parseContent, resolveContent } from "../../domain/markdown/render.ts";
import { readConfig } from "../../src/app/config.ts";
import { siteOf } from "../../src/app/mail-config.ts";
import { mailContent } from "../../src/outbound/mail/mail-html.ts";

const site = "https://chat.example.org";
const resolver = {
  user: () => ({ isActive: true, id: 9, fullName: "Ann <3" }),
  group: () => null,
  channel: (name: string) => ({ id: 4, name }),
  topicLatestMessageId: () => 7,
  realmEmoji: (name: string) => (name === "green_tick" ? { url: "/user_avatars/1/emoji/green.png", name } : null),
  uploadedImage: () => ({
    shownUrl: "/thumb.png",
    widthPx: 1,
    heightPx: 1,
    contentType: "image/png",
    isAnimated: false,
  }),
  uploadedVideo: () => "/video.mp4",
  emptyTopicDisplayName: "general chat",
};

const reader = { site, time: (instant: string) => `[${instant}]` };

function written(markdown: string) {
  const parsed = parseContent(markdown, { linkifiers: [], translateEmoticons: false });
  return mailContent(resolveContent(parsed, resolver).html, reader);
}

const samples: readonly (readonly [title: string, markdown: string, text: string, html: RegExp])[] = [
  [
    "lines and paragraphs",
    "one\ntwo\n\nthree & <b>",
    "one\ntwo\n\nthree & <b>",
    /^<p>one<br>\ntwo<\/p>\n<p>three &amp; &lt;b&gt;<\/p>$/,
  ],
  [
    "a link",
    "[soup](https://soup.example.org/a?b=1&c)",
    "soup <https://soup.example.org/a?b=1&c>",
    /<a href="https:\/\/soup.example.org\/a\?b=1&amp;c">soup<\/a>/,
  ],
  [
    "an address that is its own text",
    "https://soup.example.org/a",
    "https://soup.example.org/a",
    /<a href="https:\/\/soup/,
  ],
  [
    "a channel",
    "#**kitchen**",
    `#kitchen <${site}/#narrow/channel/4-kitchen>`,
    /<a href="https:\/\/chat\.example\.org\/#narrow\/channel\/4-kitchen">/,
  ],
  ["a mention", "@**Ann** hi", "@Ann <3 hi", /<strong>@Ann &lt;3<\/strong> hi/],
  [
    "an uploaded picture",
    "[cake.png](/user_uploads/1/cake.png)",
    `cake.png <${site}/user_uploads/1/cake.png>`,
    /<a href="https:\/\/chat\.example\.org\/user_uploads\/1\/cake\.png">cake\.png<\/a>/,
  ],
  [
    "an uploaded video",
    "[oven.mp4](/user_uploads/1/oven.mp4)",
    `oven.mp4 <${site}/user_uploads/1/oven.mp4>`,
    /<a href="https:\/\/chat\.example\.org\/user_uploads\/1\/oven\.mp4">oven\.mp4<\/a>/,
  ],
  ["emoji", ":smile: :green_tick:", "🙂 :green_tick:", /🙂 :green_tick:/],
  [
    "a spoiler",
    "```spoiler The *end*\nEverybody leaves\n```",
    "The end\n\n(hidden: open the conversation to read it)",
    /<em>end<\/em>/,
  ],
  ["code", "```python\nif a < b:\n    pass\n```", "if a < b:\n    pass", /<pre><code>if a &lt; b:/],
  ["a quote", "```quote\none\n\ntwo\n```\nthree", "> one\n>\n> two\n\nthree", /<blockquote>/],
  ["lists", "* one\n* two\n\n3. three\n4. four", "* one\n* two\n\n3. three\n4. four", /<ol start="3">/],
  ["a table", "| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2", /<td>1<\/td>/],
  [
    "a table with empty cells",
    "| a | b | c |\n|---|---|---|\n|  | 2 |  |\n| 1 |  | 3 |",
    "a | b | c\n| 2 |\n1 |  | 3",
    /<td><\/td>/,
  ],
  ["a time", "at <time:2026-11-28T13:05:00Z>", "at [2026-11-28T13:05:00Z]", /<p>at \[2026-11-28T13:05:00Z\]<\/p>/],
  ["a formula", "$$x^2$$", "x^2", /<code>x\^2<\/code>/],
];

t.test("[D31] message markup is shown in an email as text and as HTML", async (t) => {
  for (const [title, markdown, text, html] of samples) {
    const content = written(markdown);
    t.equal(content.text, text, title);
    t.match(content.html.trim(), html, title);
  }
  t.notMatch(JSON.stringify(written("```spoiler x\nEverybody leaves\n```")), "Everybody");
});

/** Names of elements and of their attributes. */
function namesIn(html: string): Set<string> {
  const names = new Set<string>();
  const walk = (node: { nodeName: string; attrs?: readonly { name: string }[]; childNodes?: readonly unknown[] }) => {
    names.add(node.nodeName);
    for (const { name } of node.attrs ?? []) names.add(`@${name}`);
    for (const child of node.childNodes ?? []) walk(child as typeof node);
  };
  walk(parse(html) as never);
  return names;
}

t.test(
  "[S1] whatever a row contains, an email loads no resource, runs no script and links to safe addresses",
  async (t) => {
    const hostile = [
      '<script>alert(1)</script><style>p{background:url(https://e.example)}</style><p onclick="x()" style="x">ok</p>',
      '<img src="https://e.example/pixel.png"><iframe src="https://e.example"></iframe><svg onload="x()"><p>ok</p></svg>',
      '<a href="javascript:alert(1)">ok</a><a href="data:text/html,x">a</a><a href="//[">b</a>',
      "<form action=/x><input name=a><button>ok</button></form><template><p>x</p></template>",
    ];
    for (const html of hostile) {
      const content = mailContent(html, reader);
      const allowed = ["#document", "#text", "html", "head", "body", "p", "a", "@href"];
      const found = [...namesIn(content.html)].filter((name) => !allowed.includes(name));
      t.strictSame(found, [], html);
      t.notMatch(content.html, /javascript|data:|alert|e\.example/, html);
      t.match(content.text, "ok");
    }
  },
);

t.test(
  "[D31] SITE_URL is scheme and host; other organizations have their own host, or their label before it",
  async (t) => {
    t.equal(readConfig({}).siteUrl, null);
    t.equal(readConfig({ SITE_URL: "https://chat.example.org/" }).siteUrl, "https://chat.example.org");
    t.equal(readConfig({ SITE_URL: "http://chat.example.org:8080" }).siteUrl, "http://chat.example.org:8080");
    for (const SITE_URL of [
      "chat.example.org",
      "ftp://a.example",
      "https://a.example/chat",
      "https://u:p@a.example",
      "https://",
    ]) {
      t.throws(() => readConfig({ SITE_URL }), { name: "BadConfig", message: /^SITE_URL/ }, SITE_URL);
    }
    const of = (site: string, label: string, hosts: readonly string[] = []) => siteOf(site, { label, hosts });
    t.equal(of("https://chat.example.org:8443", ""), "https://chat.example.org:8443");
    t.equal(of("https://chat.example.org:8443", "sales"), "https://sales.chat.example.org:8443");
    t.equal(of("https://chat.example.org", "sales", ["sales.example.com"]), "https://sales.example.com");
    t.equal(of("http://127.0.0.1:9991", "sales"), "http://127.0.0.1:9991", "IP addresses take no label");
    t.equal(of("http://[::1]:9991", "sales"), "http://[::1]:9991");
  },
);
