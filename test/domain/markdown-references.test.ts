// References in a message: mentioned users, links and attachments. Names are resolved only in the second step.
import t from "tap";
import { parseContent, renderDescription, resolveContent } from "../../domain/markdown/render.ts";
import { encodeHash } from "../../domain/markdown/resolve.ts";
import { forbiddenParts, html, OPTIONS, RESOLVER, render } from "./markdown-support.ts";

t.test("[behaviour 5.8] a user mentioned twice counts once, and a silent mention does not count", async (t) => {
  t.same(render("@**Example User** @**|31** @*support* @*support*").mentionedUserIds, [31]);
  t.same(render("@**Example User** @*support* @*support*").mentionedGroupIds, [17]);
  const silent = render("@_**Example User** @_*support* @_**all** @_**topic**");
  t.same([silent.mentionedUserIds, silent.mentionedGroupIds], [[], []]);
  t.same([silent.hasChannelWildcard, silent.hasTopicWildcard], [false, false]);
});

t.test("[behaviour 5.8] wildcard mentions are reported separately", async (t) => {
  for (const name of ["all", "everyone", "channel", "stream"])
    t.equal(render(`@**${name}**`).hasChannelWildcard, true, name);
  t.equal(render("@**topic**").hasTopicWildcard, true);
  t.equal(render("@**topic**").hasChannelWildcard, false);
});

t.test("[behaviour 5.8] mentions inside quotes are shown silently and notify nobody", async (t) => {
  const everyone = "@**Example User** @*support* @**all** @**topic**";
  for (const content of [
    `> ${everyone}`,
    `\`\`\`quote\n${everyone}\n\`\`\``,
    `* > ${everyone}`,
    `\`\`\`spoiler\n> ${everyone}\n\`\`\``,
  ]) {
    const rendered = render(content);
    t.same([rendered.mentionedUserIds, rendered.mentionedGroupIds], [[], []], content);
    t.same([rendered.hasChannelWildcard, rendered.hasTopicWildcard], [false, false], content);
    t.equal(rendered.html.split(' silent"').length - 1, 4, content);
  }
  t.same(render("> quoted\n\n@**Example User**").mentionedUserIds, [31], "the text after a quote is not quoted");
  t.same(render("```spoiler a\n@**Example User**\n```").mentionedUserIds, [31], "a spoiler is not a quote");
});

t.test("[behaviour 5.8] a mention in code, code blocks or formulas is text", async (t) => {
  for (const content of [
    "`@**Example User**`",
    "```\n@**Example User**\n```",
    "    @**Example User**",
    "$$@**all**$$",
    "```math\n@**all**\n```",
  ]) {
    const rendered = render(content);
    t.same([rendered.mentionedUserIds, rendered.hasChannelWildcard], [[], false], content);
    t.notMatch(rendered.html, "mention", content);
  }
});

t.test("[behaviour 5.8] topics in URLs are percent-encoded, every character with a meaning, too", async (t) => {
  t.match(html("#**announce>why :(**"), 'href="/#narrow/channel/9-announce/topic/why.20.3A.28/with/214"');
  t.match(html("#**announce>it's (a)!@7**"), 'href="/#narrow/channel/9-announce/topic/it.27s.20.28a.29.21/near/7"');
  t.equal(encodeHash("a.b%*~_-é"), "a.2Eb.25.2A~_-.C3.A9");
});

t.test("[behaviour 5.8] a name that cannot be resolved stays as typed", async (t) => {
  for (const content of [
    "@**Nobody**",
    "@**Example User|32**",
    "@*nobodies*",
    "#**nowhere**",
    "@**Example User",
    "@** **x",
    ":no_such:",
  ]) {
    t.equal(html(content), `<p>${content}</p>`);
  }
  t.equal(html("#**nowhere>x & y@3**"), "<p>#**nowhere&gt;x &amp; y@3**</p>");
  t.notMatch(html("mail@**Example User**"), "user-mention", "a mention does not start inside a word");
});

t.test("[behaviour 5.8] names of the realm are escaped where they are inserted", async (t) => {
  t.equal(html("@**Zoe <b>**"), '<p><span class="user-mention" data-user-id="32">@Zoe &lt;b&gt;</span></p>');
  t.equal(
    html('#**a & b (100%)>"v1.0"/✔**'),
    '<p><a class="stream-topic" data-stream-id="10" href="/#narrow/channel/10-a-.26-b-.28100.25.29/topic/.22v1.2E0.22.2F.E2.9C.94/with/214">#a &amp; b (100%) &gt; "v1.0"/✔</a></p>',
  );
});

t.test("[behaviour 5.8] a group that may not be mentioned is shown silently and reported", async (t) => {
  const rendered = render("@*leads* @_*leads*");
  t.same([rendered.mentionedGroupIds, rendered.unmentionableGroupIds], [[], [18]]);
  t.same(render("@_*leads*").unmentionableGroupIds, []);
});

t.test("parsing reads nothing of the realm, and resolving uses the realm of that moment", async (t) => {
  const parsed = parseContent("@**Example User** in #**announce** :tada:", OPTIONS);
  const nobody = { ...RESOLVER, user: () => null, channel: () => null };
  t.equal(resolveContent(parsed, nobody).html.startsWith("<p>@**Example User** in #**announce** <span"), true);
  const overridden = { ...RESOLVER, realmEmoji: (name: string) => ({ name, url: "/e.png" }) };
  t.match(resolveContent(parsed, overridden).html, '<img alt=":tada:" class="emoji" src="/e.png" title="tada">');
});

t.test("[S3] the latest message is looked up for a bounded number of topics, once for each", async (t) => {
  let lookups = 0;
  const counting = { ...RESOLVER, topicLatestMessageId: () => ++lookups };
  const many = Array.from({ length: 80 }, (_, number) => `#**announce>t${number}** #**announce>t${number}**`).join(" ");
  const rendered = resolveContent(parseContent(many, OPTIONS), counting);
  t.equal(lookups, 50);
  t.match(rendered.html, 'topic/t49/with/50"');
  t.match(rendered.html, 'topic/t50"');
});

t.test("[behaviour 5.8] links, images and attachments are reported", async (t) => {
  t.equal(render("plain").hasLink, false);
  t.equal(render("see example.com").hasLink, true);
  t.equal(render("`example.com`").hasLink, false);
  t.equal(render("https://a.com/x.png").hasImage, true);
  t.equal(render("https://a.com/x.pdf").hasImage, false);
  const attached = render(
    "[a](/user_uploads/2/ab/a.txt) [b](http://zulip.testserver/user_uploads/2/cd/b.png) [a](/user_uploads/2/ab/a.txt)",
  );
  t.same(
    [attached.hasAttachment, attached.attachmentPaths, attached.hasImage],
    [true, ["2/ab/a.txt", "2/cd/b.png"], true],
  );
  t.equal(render("[a](http://elsewhere.example/user_uploads/2/ab/a.txt)").hasAttachment, false);
});

const LINKED_VIDEO = '<a href="/user_uploads/p/x.mp4">x.mp4</a>';

t.test("an uploaded video is shown below its link, unless it is quoted", async (t) => {
  const video = "[x.mp4](/user_uploads/p/x.mp4)";
  const shown =
    '<div class="message_inline_image message_inline_video"><a href="/user_uploads/p/x.mp4" title="x.mp4"><video preload="metadata" src="/user_uploads/p/x.mp4"></video></a></div>';
  t.equal(html(`${video} ${video}`), `<p>${LINKED_VIDEO} ${LINKED_VIDEO}</p>\n${shown}`);
  t.equal(html(`> ${video}`), `<blockquote>\n<p>${LINKED_VIDEO}</p>\n</blockquote>`);
  t.notMatch(html("[y.mp4](/user_uploads/p/y.mp4)"), "<video", "a file that does not exist");
  t.notMatch(html("[x.mp4](https://example.com/user_uploads/p/x.mp4)"), "<video", "elsewhere");
  t.strictSame(forbiddenParts(html(video)), []);
  const { uploadedVideo: _, ...without } = RESOLVER;
  t.notMatch(resolveContent(parseContent(video, OPTIONS), without).html, "<video");
});

t.test("[behaviour 5.8] an uploaded image is shown once, not in quotes, nor without uploads", async (t) => {
  const image = "[x.png](/user_uploads/p/x.png)";
  t.equal(html(`${image} ${image}`).split("<img").length - 1, 1);
  t.notMatch(html(`> ${image}`), "<img");
  t.match(html(`* ${image}\n* b`), /<\/a><div class="message_inline_image">.*<\/div><\/li>\n<li>b/s);
  const { uploadedImage: _, ...without } = RESOLVER;
  t.equal(
    resolveContent(parseContent(image, OPTIONS), without).html,
    '<p><a href="/user_uploads/p/x.png">x.png</a></p>\n',
  );
});

t.test("a channel description is rendered with the same dialect", async (t) => {
  t.equal(renderDescription("**For** #**announce**", OPTIONS, RESOLVER), html("**For** #**announce**"));
});
