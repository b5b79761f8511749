/** A first day at the page by keyboard alone, and messages that try to do what messages must not. */
import fc from "fast-check";
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { hostileText } from "../support/hostile-content.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

async function readAll(server: TestServer) {
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await ben.say("general", "lunch", "Who is in for soup?");
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Do you have ten minutes?" });
  return { ann, ben };
}

t.test("the first day works by keyboard alone", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { ann, ben } = await readAll(server);
  const { page, complaints } = await openPage(t);
  await page.goto(server.url);
  // The address has the focus when the page opens.
  await page.getByLabel("Email address").waitFor();
  await page.keyboard.type(ann.account?.email ?? "");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse battery");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();

  await page.keyboard.press("n");
  await page.getByText("Who is in for soup?").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  await page.keyboard.type("I am, @Ben");
  await page.getByRole("option", { name: /Ben Bright/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.type("in ten minutes");
  await page.keyboard.press("Control+Enter");
  await page.locator(".message[data-id] .user-mention", { hasText: "@Ben Bright" }).waitFor();

  await page.keyboard.press("Escape");
  await page.locator(".feed .message").last().waitFor();
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await page.keyboard.press("+");
  await page.locator(".reaction.mine").waitFor();
  await page.keyboard.press("e");
  await page.getByLabel("Text of the message").waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(", promised");
  await page.keyboard.press("Control+Enter");
  await page.getByText("in ten minutes, promised").waitFor();

  await page.keyboard.press("p");
  await page.getByText("Do you have ten minutes?").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("soup");
  await page.keyboard.press("Enter");
  await page.locator(".feed .highlight", { hasText: "soup" }).first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
  const { body } = await ben.get("/messages", { anchor: "newest", num_before: 5, num_after: 0, apply_markdown: false });
  const contents = body.messages.map(({ content }: { content: string }) => content);
  t.ok(contents.some((content: string) => content.includes("in ten minutes, promised")));
  t.strictSame(complaints, []);
});

const hostile = [
  "<script>document.title = 'taken'</script>",
  "<img src=x onerror=\"document.title='taken'\">",
  "[link](javascript:document.title='taken')",
  "![](data:text/html,<script>document.title='taken'</script>)",
  "$$\\href{javascript:alert(1)}{x}$$ $$\\style{position:fixed}{x}$$",
  "[x](https://example.com/\"onmouseover=\"document.title='taken')",
  "<style>body { display: none }</style> <base href=//example.com>",
  "```spoiler </div><script>document.title='taken'</script>\n<iframe src=/></iframe>\n```",
  "| a |\n|:-:|\n| <form action=/x><button>b</button> |",
  "https://example.com/<svg/onload=document.title='taken'>",
  "$$e^{i\\pi} + \\frac{1}{2}$$ <time:2026-11-25T16:00:00Z> :tada:",
];

t.test("hostile messages run no script, load nothing, and cause no error", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { ann, ben } = await readAll(server);
  for (const content of hostile) await ben.say("general", "hostile", content);
  for (const content of fc.sample(hostileText, { numRuns: 40, seed: seedOf(t) })) {
    // Some are no messages: empty ones, halves of characters.
    await ben.post("/messages", { type: "channel", to: "general", topic: "hostile", content: `x ${content}` });
  }
  const { page, complaints, requests } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/hostile");
  await page
    .locator(".feed .message[data-id]")
    .nth(hostile.length - 1)
    .waitFor();
  t.not(await page.title(), "taken");
  const found = await page.evaluate(`({
    elements: document.querySelectorAll(".feed script, .feed iframe, .feed form, .feed base, .feed style").length,
    handlers: [...document.querySelectorAll(".feed *")].filter((one) =>
      one.getAttributeNames().some((name) => name.startsWith("on"))).length,
    links: [...document.querySelectorAll(".feed .rendered a")].filter((link) =>
      !/^(?:https?:|#|\\/|mailto:)/.test(link.getAttribute("href") ?? "#")).length,
  })`);
  t.strictSame(found, { elements: 0, handlers: 0, links: 0 });
  t.ok((await page.locator(".katex").count()) > 0, "formulas are shown");
  t.strictSame(complaints, [], "no script, nothing blocked");
  t.ok(
    requests.every(
      (path) =>
        path.startsWith("/api/v1/") || path.startsWith("/assets/") || ["/", "/setup/", "/favicon.ico"].includes(path),
    ),
    requests.join(" "),
  );
  const parse = 'new DOMParser().parseFromString("<b>x</b>", "text/html")';
  const refused = await page.evaluate(
    `(() => { try { ${parse}; return "parsed"; } catch (error) { return error.name; } })()`,
  );
  t.equal(refused, "TypeError", "[D277] HTML is parsed by one function only");
});
