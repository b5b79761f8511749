/**
 * A fast hand and a slow network: keys and clicks come before the answers to earlier ones. None is lost, none acts
 * twice or on what nobody sees, and no late answer replaces what was typed since.
 */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { holdRequests, holdSocket } from "../support/held-network.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

const topicOf = (name: string) => `#narrow/channel/1-general/topic/${name}`;
const row = (id: number) => `.feed .message[data-id="${id}"]`;
const box = "#compose-text";

async function furnish() {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  return { server, ann, ben };
}

let furnishing: ReturnType<typeof furnish> | null = null;
/** One server for all tests of the file; each has topics of its own. */
function house() {
  furnishing ??= furnish();
  return furnishing;
}

/** The page of Ann at a place, and her network. */
async function openAt(t: Test, fragment: string) {
  const home = await house();
  const opened = await openPage(t);
  const network = await holdSocket(opened.page);
  const files = await holdRequests(opened.page, /\/assets\/later-/);
  await logIn(opened.page, home.server.url, home.ann, fragment);
  await network.isUsed;
  return { ...home, ...opened, network, files };
}

async function select(page: Page, id: number): Promise<void> {
  await page.locator(row(id)).waitFor();
  await page.evaluate(`document.querySelector(${JSON.stringify(row(id))}).focus()`);
  await page.locator(`${row(id)}.cursor`).waitFor();
}

const textOf = (page: Page) => page.locator(box).inputValue();
const isFocused = (selector: string) => `document.activeElement?.matches(${JSON.stringify(selector)})`;

async function contentsOf(client: Client, topic: string): Promise<string[]> {
  const narrow = [
    { operator: "channel", operand: 1 },
    { operator: "topic", operand: topic },
  ];
  const query = { anchor: "newest", num_before: 50, num_after: 0, narrow, apply_markdown: false };
  return (await client.get("/messages", query)).body.messages.map(({ content }: { content: string }) => content);
}

t.test("an edit takes keys before its text has come", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, topicOf("edit"));
  const id = await ann.say("general", "edit", "Soup at noon");
  await select(page, id);
  network.hold();
  await page.keyboard.press("e");
  // As shortcuts these would open the inbox, drafts, and other messages.
  await page.keyboard.type(" and Indian bread");
  t.match(page.url(), /topic\/edit/);
  network.release();
  await until(page, `document.activeElement.value === "Soup at noon and Indian bread"`);
  await page.keyboard.type("!");
  network.hold();
  await page.keyboard.press("Control+Enter");
  // The next keys are not for the edit.
  await page.keyboard.press("c");
  await page.keyboard.type("Next");
  t.equal(await page.locator(row(id)).locator(".saving").innerText(), "Soup at noon and Indian bread!");
  network.release();
  await page.locator(`${row(id)} .rendered`, { hasText: "Indian bread!" }).waitFor();
  t.equal(await textOf(page), "Next");
  t.strictSame(await contentsOf(ann, "edit"), ["Soup at noon and Indian bread!"]);
});

t.test("a refused edit is in its box again, and takes no focus", { skip }, async (t) => {
  const { server, ann, page, network } = await openAt(t, topicOf("refused"));
  const id = await ann.say("general", "refused", "Soup");
  await select(page, id);
  await page.keyboard.press("e");
  await until(page, `document.activeElement.value === "Soup"`);
  await page.keyboard.type(" and bread");
  network.hold();
  await server.owner.patch("/realm", { allow_message_editing: false });
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("c");
  await page.keyboard.type("Meanwhile");
  network.release();
  await page.getByRole("alert").filter({ hasText: "Your change was not saved: " }).waitFor();
  t.equal(await page.getByLabel("Text of the message").inputValue(), "Soup and bread");
  await page.keyboard.type(" this");
  t.equal(await textOf(page), "Meanwhile this");
  await server.owner.patch("/realm", { allow_message_editing: true });
});

t.test("a quote goes before what was typed since", { skip }, async (t) => {
  const { ben, page, network } = await openAt(t, topicOf("quote"));
  const id = await ben.say("general", "quote", "Soup?");
  await select(page, id);
  network.hold();
  await page.keyboard.press(">");
  await page.keyboard.type("I am in, definitely");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Control+Enter");
  await page.getByText("The quote is still on its way.").waitFor();
  network.release();
  await until(page, `document.getElementById("compose-text").value.includes("Soup?")`);
  await page.keyboard.type("L");
  t.match(await textOf(page), /^@_\*\*Ben Bright\|\d+\*\* \[said\][\s\S]*Soup\?\n```\nI am in, definitelLy$/);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
});

t.test("two quotes stand in the order in which they were asked for", { skip }, async (t) => {
  const { ben, page, network } = await openAt(t, topicOf("quotes"));
  const ids = [await ben.say("general", "quotes", "Soup?"), await ben.say("general", "quotes", "Bread?")];
  for (const id of ids) await page.locator(row(id)).waitFor();
  network.hold();
  for (const id of ids) {
    await page.locator(row(id)).hover();
    await page.locator(row(id)).getByRole("button", { name: "Quote in reply" }).click();
  }
  await page.keyboard.type("I bring both");
  network.release();
  await until(page, `/Soup.*Bread|Bread.*Soup/s.test(document.getElementById("compose-text").value)`);
  t.match(await textOf(page), /^@_.*quote\nSoup\?\n```\n@_.*quote\nBread\?\n```\nI bring both$/s);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
});

t.test("a closed box is empty at once, and its draft exists once", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, topicOf("closed"));
  await page.locator(box).fill("Half a sentence");
  network.hold();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("c");
  await page.keyboard.type("Another thought");
  network.release();
  await page.getByText("Saved as a draft.").waitFor();
  t.equal(await textOf(page), "Another thought");
  const { drafts } = (await ann.get("/drafts")).body;
  t.match(drafts, [{ content: "Half a sentence" }]);
  await page.locator(box).fill("");

  // Twice on a button: the draft is there once, and what was in the box becomes one.
  await page.evaluate(`location.hash = "#drafts"`);
  await page.keyboard.press("c");
  await page.keyboard.type("In between");
  // What is in the box may have become a draft already.
  const first = page.getByRole("listitem").filter({ hasText: "Half a sentence" });
  await first.getByRole("button", { name: "Continue" }).dblclick();
  t.equal(await textOf(page), "Half a sentence");
  // What the page says of the first draft may still be there.
  const stored = async () =>
    (await ann.get("/drafts")).body.drafts.map(({ content }: { content: string }) => content).sort();
  while ((await stored()).length < 2) await page.waitForTimeout(20);
  await page.getByText("Saved as a draft.").waitFor();
  t.match(await stored(), ["Half a sentence", "In between"]);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
});

t.test("no key acts on a message that is not shown any more", { skip }, async (t) => {
  const { ann, ben, page, network } = await openAt(t, topicOf("before"));
  const id = await ben.say("general", "before", "Read me");
  await ann.post("/mark_all_as_read");
  const next = await ben.say("general", "after", "And me");
  await select(page, id);
  await page.locator(".left-bar a[href*='/topic/after/']").waitFor();
  network.hold();
  await page.keyboard.press("n");
  // Playwright hears of the address some time after the key was handled.
  t.match(await page.evaluate("location.hash"), /topic\/after/, "at once");
  for (const key of ["+", "U", "Control+s"]) await page.keyboard.press(key);
  await page.keyboard.press("r");
  await page.keyboard.type("I did");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Control+Enter");
  network.release();
  await page.locator(row(next)).waitFor();
  await until(page, `document.querySelectorAll(".feed .message[data-id]").length === 2`);
  t.strictSame(await contentsOf(ann, "after"), ["And me", "I did"]);
  const { body } = await ann.get(`/messages/${id}`);
  t.strictSame([body.message.reactions, body.message.flags.includes("starred")], [[], false]);
});

t.test("what is typed before a dialog has come is for the dialog", { skip }, async (t) => {
  const home = await house();
  const { page } = await openPage(t);
  const files = await holdRequests(page, /\/assets\/later-/);
  files.hold();
  await logIn(page, home.server.url, home.ann, topicOf("dialog"));
  const id = await home.ben.say("general", "dialog", "Done!");
  await select(page, id);
  await page.keyboard.press("?");
  await page.keyboard.press("Escape");
  t.match(page.url(), /topic\/dialog/, "Escape is for what was opened");
  await page.keyboard.press(":");
  await page.keyboard.type("octopuss");
  await page.keyboard.press("Backspace");
  files.release();
  await until(page, `${isFocused("[aria-label='Name of an emoji']")} && document.activeElement.value === "octopus"`);
  t.match(page.url(), /topic\/dialog/);
  await page.locator(".emoji-grid button").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(`${row(id)} .reaction.mine`).waitFor();
  t.match((await home.ann.get(`/messages/${id}`)).body.message.reactions, [{ emoji_name: "octopus" }]);
});

t.test("an emoji goes to the caret, and the next key behind it", { skip }, async (t) => {
  const { page } = await openAt(t, topicOf("emoji"));
  await page.locator(box).fill("before after");
  for (let at = 0; at < 6; at++) await page.keyboard.press("ArrowLeft");
  await page.getByLabel("Insert an emoji").click();
  await page.keyboard.type("octopus");
  await page.locator(".emoji-grid button").first().waitFor();
  await page.evaluate(`(() => {
    document.querySelector(".emoji-dialog form").requestSubmit();
    return new Promise((done) => setTimeout(done));
  })()`);
  t.ok(await page.evaluate(isFocused(box)), "before a frame is drawn");
  await page.keyboard.type("x");
  t.equal(await textOf(page), "before:octopus: x after");
  await page.locator(box).fill("");
});

t.test("a file that arrives takes neither the focus nor the caret", { skip }, async (t) => {
  const { page } = await openAt(t, topicOf("file"));
  const uploads = await holdRequests(page, /\/user_uploads$/);
  uploads.hold();
  const choose = (name: string) =>
    page.getByLabel("Files to upload").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from("soup") });
  await page.locator(box).fill("The recipe is h");
  await choose("one.txt");
  await page.locator(box).focus();
  uploads.release();
  await until(page, `document.getElementById("compose-text").value.includes("one.txt")`);
  await page.keyboard.type("ere");
  t.match(await textOf(page), /^The recipe is here\n\[one\.txt\]\(\/user_uploads\/\S+\)$/);
  uploads.hold();
  await choose("two.txt");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("so");
  uploads.release();
  await page.getByRole("button", { name: "Remove two.txt" }).waitFor({ state: "detached" });
  await page.keyboard.type("up");
  t.equal(await page.getByLabel("Search messages").inputValue(), "soup");
});
