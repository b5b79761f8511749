/**
 * Input methods, such as those for Chinese and Japanese: what is typed is not final until it is chosen. Its keys are no
 * commands of the page, and a late answer does not end what was begun.
 */
import type { CDPSession, Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, until, untilLater } from "../support/chromium-page.ts";
import { holdRequests, holdSocket } from "../support/held-network.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

const box = "#compose-text";
const row = (id: number) => `.feed .message[data-id="${id}"]`;
const topicOf = (name: string) => `#narrow/channel/1-general/topic/${name}`;

async function furnish() {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await ann.patch("/settings", { enter_sends: true });
  return { server, ann, ben };
}

let furnishing: ReturnType<typeof furnish> | null = null;
/** One server for all tests of the file; each has topics of its own. */
function house() {
  furnishing ??= furnish();
  return furnishing;
}

/** What an input method does, as Chromium passes it on. */
class InputMethod {
  readonly #session: CDPSession;

  constructor(session: CDPSession) {
    this.#session = session;
  }

  /** Shows characters that are not final, in the place of the ones before. */
  async show(text: string): Promise<void> {
    await this.#session.send("Input.imeSetComposition", {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  }

  /** A key that the input method uses itself. In Safari the one that chooses comes after the text is final. */
  async press(key: "Enter" | "Escape" | "ArrowDown" | "Tab"): Promise<void> {
    const code = { key, code: key, windowsVirtualKeyCode: 229 };
    await this.#session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...code });
    await this.#session.send("Input.dispatchKeyEvent", { type: "keyUp", ...code });
  }

  /** The characters are final. */
  async choose(text: string): Promise<void> {
    await this.#session.send("Input.insertText", { text });
  }
}

/** The page of Ann at a place, her network, and her input method. */
async function openAt(t: Test, fragment: string) {
  const home = await house();
  const opened = await openPage(t);
  const network = await holdSocket(opened.page);
  const queues: string[] = [];
  opened.page.on("response", async (response) => {
    if (response.url().endsWith("/api/v1/register")) queues.push((await response.json()).queue_id);
  });
  await logIn(opened.page, home.server.url, home.ann, fragment);
  await network.isUsed;
  // Which compositions ended before somebody chose.
  await opened.page.evaluate(`
    window.ends = [];
    document.addEventListener("compositionend", ({ data }) => window.ends.push(data), true);
  `);
  const method = new InputMethod(await opened.page.context().newCDPSession(opened.page));
  return { ...home, ...opened, network, queues, method };
}

const endsOf = (page: Page) => page.evaluate("window.ends");
const value = (page: Page) => page.evaluate("document.activeElement.value");

async function contentsOf(client: Awaited<ReturnType<typeof house>>["ann"], topic: string): Promise<string[]> {
  const narrow = [
    { operator: "channel", operand: 1 },
    { operator: "topic", operand: topic },
  ];
  const query = { anchor: "newest", num_before: 50, num_after: 0, narrow, apply_markdown: false };
  return (await client.get("/messages", query)).body.messages.map(({ content }: { content: string }) => content);
}

t.test("the Enter that chooses characters sends nothing", { skip }, async (t) => {
  const { ann, page, method } = await openAt(t, topicOf("chosen"));
  await page.locator(box).focus();
  await method.show("にほん");
  await method.press("Enter");
  await method.choose("日本");
  // In Safari the key comes afterwards.
  await method.press("Enter");
  t.equal(await value(page), "日本");
  await method.show("の");
  await method.press("Escape");
  await method.choose("の");
  await method.press("Escape");
  t.equal(await value(page), "日本の");
  await page.keyboard.press("Enter");
  await page.locator(".feed .message[data-id]", { hasText: "日本の" }).waitFor();
  t.strictSame(await contentsOf(ann, "chosen"), ["日本の"]);
  t.equal(await page.getByText("Saved as a draft.").count(), 0);
});

t.test("an answer that is late goes beside what is not final", { skip }, async (t) => {
  const { ann, ben, page, network, queues, method } = await openAt(t, topicOf("late"));
  const uploads = await holdRequests(page, /\/user_uploads$/);
  uploads.hold();
  const id = await ben.say("general", "late", "Soup?");
  await page.locator(row(id)).waitFor();
  await page.evaluate(`document.querySelector('${row(id)}').focus()`);
  await page.locator(`${row(id)}.cursor`).waitFor();
  network.hold();
  await page.keyboard.press(">");
  await page
    .getByLabel("Files to upload")
    .setInputFiles({ name: "recipe.txt", mimeType: "text/plain", buffer: Buffer.from("soup") });
  await page.locator(box).focus();
  await method.show("にほ");
  network.release();
  uploads.release();
  await page.getByRole("button", { name: "Remove recipe.txt" }).waitFor({ state: "detached" });
  // Everything else that happens meanwhile, too: messages, a setting, a gap in the events.
  await ben.say("general", "late", "With bread?");
  await page.locator(".feed .message[data-id]", { hasText: "With bread?" }).waitFor();
  await ann.patch("/settings", { twenty_four_hour_time: true });
  await ann.delete("/events", { queue_id: queues[0] ?? "" });
  while (queues.length < 2) await page.waitForTimeout(20);
  await ben.say("general", "late", "And salt?");
  await page.locator(".feed .message[data-id]", { hasText: "And salt?" }).waitFor();
  t.strictSame([await value(page), await endsOf(page)], ["にほ", []]);
  await method.show("にほん");
  t.strictSame([await value(page), await endsOf(page)], ["にほん", []]);
  await method.choose("日本");
  await until(page, `document.querySelector("${box}").value.includes("recipe.txt")`);
  t.match(await page.locator(box).inputValue(), /^@_\*\*Ben.*quote\nSoup\?\n```\n日本\n\[recipe\.txt\]\(\S+\)$/s);
  await page.locator(box).fill("");
});

t.test("a search waits until its words are final", { skip }, async (t) => {
  const { ben, page, method } = await openAt(t, topicOf("search"));
  const id = await ben.say("general", "search", "日本 soup");
  await page.locator(row(id)).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.press("Backspace");
  await method.show("にほん");
  for (const key of ["ArrowDown", "Enter", "Tab", "Escape"] as const) await method.press(key);
  await ben.say("general", "search", "More soup");
  await page.locator(".feed .message[data-id]", { hasText: "More soup" }).waitFor();
  t.strictSame([await value(page), await endsOf(page)], ["にほん", []]);
  t.match(page.url(), /topic\/search/);
  await method.choose("日本");
  await method.press("Enter");
  t.equal(await value(page), "日本");
  t.match(page.url(), /topic\/search/);
  await page.keyboard.press("Enter");
  await page.locator(`${row(id)} .highlight`, { hasText: "日本" }).waitFor();
});

t.test("an edit takes them before its text has come", { skip }, async (t) => {
  const { ann, ben, page, network, method } = await openAt(t, topicOf("edit"));
  const id = await ann.say("general", "edit", "Soup:");
  await page.locator(row(id)).waitFor();
  await page.evaluate(`document.querySelector('${row(id)}').focus()`);
  await page.locator(`${row(id)}.cursor`).waitFor();
  // Without a text field there is no input method: the box must be there at once.
  await untilLater(page);
  network.hold();
  await page.keyboard.press("e");
  await method.show("にほ");
  network.release();
  await ben.say("general", "edit", "When?");
  await page.locator(".feed .message[data-id]", { hasText: "When?" }).waitFor();
  t.strictSame([await value(page), await endsOf(page)], ["にほ", []]);
  await method.show("にほん");
  await method.press("Escape");
  await method.press("Enter");
  await method.choose("日本");
  await until(page, `document.activeElement.value === "Soup:日本"`);
  await method.press("Escape");
  await page.keyboard.type("!");
  t.equal(await value(page), "Soup:日本!");
  await page.keyboard.press("Control+Enter");
  await page.locator(`${row(id)} .rendered`, { hasText: "日本!" }).waitFor();
  t.strictSame(await contentsOf(ann, "edit"), ["Soup:日本!", "When?"]);
});

t.test("a topic is renamed with them", { skip }, async (t) => {
  const { ann, ben, page, method } = await openAt(t, topicOf("rename"));
  const id = await ann.say("general", "rename", "Soup");
  await page.locator(row(id)).waitFor();
  await page.evaluate(`document.querySelector('${row(id)}').focus()`);
  await page.locator(`${row(id)}.cursor`).waitFor();
  await page.keyboard.press("m");
  const topic = page.getByRole("textbox", { name: "Topic" });
  await topic.fill("");
  await method.show("にほん");
  await method.press("Enter");
  await ben.say("general", "rename", "Bread");
  await ann.patch(`/messages/${id}`, { topic: "named", propagate_mode: "change_all" });
  await page.locator(".left-bar a[href*='/topic/named/']").waitFor();
  t.strictSame([await value(page), await endsOf(page)], ["にほん", []]);
  await method.choose("日本");
  await method.press("Enter");
  t.equal(await value(page), "日本");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.strictSame((await contentsOf(ann, "日本")).slice(0, 2), ["Soup", "Bread"]);
});

t.test("people are chosen, and a linkifier is tried, with final characters", { skip }, async (t) => {
  const { page, method } = await openAt(t, "#inbox");
  await page.keyboard.press("x");
  await method.show("べ");
  await method.press("Enter");
  await method.press("Tab");
  await method.choose("Be");
  await method.press("Enter");
  t.strictSame([await value(page), await endsOf(page)], ["Be", ["Be"]]);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove Ben Bright" }).waitFor();

  await page.evaluate(`location.hash = "#organization/linkifiers"`);
  await page.getByLabel("Pattern").fill("#(?P<id>[0-9]+)");
  await page.getByLabel("Address").fill("https://example.com/{id}");
  await page.getByLabel("Text to try it with").focus();
  await method.show("#1");
  await method.press("Enter");
  await method.choose("#12");
  await method.press("Enter");
  t.equal(await page.getByRole("status", { name: "Links" }).count(), 0);
  await page.keyboard.press("Enter");
  await page.getByRole("status", { name: "Links" }).getByText("https://example.com/12").waitFor();
});

t.test("a field that is removed holds nothing up", { skip }, async (t) => {
  const { ann, ben, page, network, method } = await openAt(t, topicOf("removed"));
  const gone = await ann.say("general", "removed", "Soup");
  const kept = await ben.say("general", "removed", "Quote me");
  await page.locator(row(kept)).waitFor();
  await page.evaluate(`document.querySelector('${row(gone)}').focus()`);
  await page.locator(`${row(gone)}.cursor`).waitFor();
  await page.keyboard.press("e");
  await until(page, `document.activeElement.value === "Soup"`);
  await method.show("にほん");
  await ann.delete(`/messages/${gone}`);
  await page.locator(row(gone)).waitFor({ state: "detached" });
  await page.evaluate(`document.querySelector('${row(kept)}').focus()`);
  network.hold();
  await page.keyboard.press(">");
  network.release();
  await until(page, `document.querySelector("${box}").value.includes("Quote me")`);
  await page.locator(box).fill("");
});
