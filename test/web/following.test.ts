/** Places, links and what is being written follow their messages; places are those that messages reach. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, textsOf, until, write } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { createChannel } from "../support/conversation.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

async function open(t: Test, fragment: string) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ben.userId}`, { role: 200 });
  const kitchen = await createChannel(ann, "kitchen", [ann, ben]);
  const first = await idOf(ben, "lunch", "Who is in for soup?");
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, fragment);
  return { server, ann, ben, kitchen, first, page, complaints };
}

async function idOf(person: Client, topic: string, content: string): Promise<number> {
  const { body } = await person.post("/messages", { type: "channel", to: "general", topic, content });
  return body.id;
}

const move = (person: Client, id: number, change: Readonly<Record<string, string | number>>) =>
  person.patch(`/messages/${id}`, { propagate_mode: "change_all", ...change });

const goTo = (page: Page, fragment: string) => page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
const shows = (page: Page, text: string) =>
  page.locator(".feed .message[data-id] .rendered", { hasText: text }).waitFor();
const head = (page: Page) => page.locator(".head-topic").innerText();
const topicOf = async (person: Client, text: string) => {
  const { body } = await person.get("/messages", {
    anchor: "newest",
    num_before: 50,
    num_after: 0,
    apply_markdown: false,
    allow_empty_topic_name: true,
  });
  const found = body.messages.find(({ content }: { content: string }) => content === text);
  return found?.subject;
};

const lunch = "#narrow/channel/1-general/topic/lunch";

t.test("every link leads to its messages after a rename, a move, and Back", { skip }, async (t) => {
  const { ben, kitchen, first, page, complaints } = await open(t, lunch);
  await shows(page, "Who is in");
  await until(page, `location.hash.endsWith("/topic/lunch/with/${first}")`);
  await goTo(page, "#inbox");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await move(ben, first, { topic: "supper" });
  // A new topic has the old name.
  const other = await idOf(ben, "lunch", "Another lunch");
  await page.locator(".inbox-link", { hasText: "lunch" }).waitFor();
  await page.goBack();
  await shows(page, "Who is in");
  t.equal(await head(page), "supper", "Back");

  for (const link of ["with", "near"]) {
    await goTo(page, "#inbox");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await goTo(page, `${lunch}/${link}/${first}`);
    await shows(page, "Who is in");
    t.strictSame([await head(page), (await textsOf(page)).includes("Another lunch")], ["supper", false], link);
    await until(page, `location.hash.includes("/topic/supper/")`);
  }
  await goTo(page, `${lunch}/near/${other}`);
  await shows(page, "Another lunch");
  t.equal(await head(page), "lunch", "a link whose messages have stayed");

  await move(ben, first, { stream_id: kitchen });
  await goTo(page, `${lunch}/near/${first}`);
  await shows(page, "Who is in");
  t.match(await page.locator(".head h1").innerText(), /kitchen/, "in another channel");
  t.strictSame(complaints, []);
});

t.test("what is written goes where the messages are, and nothing keeps the old name", { skip }, async (t) => {
  const { ann, ben, first, page } = await open(t, lunch);
  await shows(page, "Who is in");
  const left = (name: string) => page.locator(".left-bar .topic .row-label").getByText(name, { exact: true });
  await left("lunch").waitFor();
  await ann.post("/drafts", {
    drafts: [{ type: "stream", to: [1], topic: "lunch", content: "A draft", timestamp: null }],
  });
  await page.locator("#compose-text").fill("I am in");
  await move(ben, first, { topic: "✔ lunch" });
  await left("✔ lunch").waitFor();
  t.equal(await left("lunch").count(), 0, "the left side has no ghost");
  t.equal(await page.locator("#compose-text").inputValue(), "I am in");
  await page.locator("#compose-text").press("Control+Enter");
  await shows(page, "I am in");
  t.equal(await topicOf(ben, "I am in"), "✔ lunch");

  await goTo(page, "#drafts");
  await page.locator(".card", { hasText: "A draft" }).getByText("✔ lunch").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await until(page, `document.getElementById("compose-text")?.value === "A draft"`);
  await page.getByRole("button", { name: "Continue" }).waitFor({ state: "detached" });
  // It moves while the writer looks elsewhere, and every message of it with another mode.
  await goTo(page, "#inbox");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await move(ben, first, { topic: "soup", propagate_mode: "change_later" });
  await page.locator(".destination .topic-input").waitFor();
  await until(page, `document.querySelector(".destination .topic-input").value === "soup"`);
  await page.locator("#compose-text").press("Control+Enter");
  await shows(page, "A draft");
  t.equal(await topicOf(ben, "A draft"), "soup");
});

t.test("messages reach a topic whatever blanks and names it was opened with", { skip }, async (t) => {
  const { ben, first, page } = await open(t, "#narrow/channel/1-general/topic/lunch.20");
  await shows(page, "Who is in");
  await idOf(ben, "lunch", "Live in lunch");
  await shows(page, "Live in lunch");
  for (const [text, name] of Object.entries({ Tea: "general.20chat", Milk: ".28no.20topic.29", Water: "" })) {
    await goTo(page, "#inbox");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await goTo(page, `#narrow/channel/1-general/topic/${name}`);
    await write(page, text);
    await shows(page, text);
    t.equal(await head(page), "general chat", name);
    t.equal(await topicOf(ben, text), "");
  }
  t.equal(await page.getByRole("button", { name: "Mark as resolved" }).count(), 0, "it cannot be resolved");

  await goTo(page, "#narrow/channel/1-general");
  await shows(page, "Live in lunch");
  for (const typed of [" tea ", "general chat", "(no topic) "]) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.locator(".destination .topic-input").fill(typed);
    await write(page, `In ${typed}`);
    await page.locator(".head-topic").waitFor();
    await page.locator(".feed .message[data-id] .rendered", { hasText: `In ${typed.trim()}` }).waitFor();
    await goTo(page, "#narrow/channel/1-general");
    await page.locator(".head-topic").waitFor({ state: "detached" });
  }

  await goTo(page, `${lunch}/near/${first}`);
  await shows(page, "Live in lunch");
  await page.evaluate("document.activeElement.blur()");
  await move(ben, first, { topic: "better" });
  await until(page, `location.hash.includes("/topic/better/")`);
  await page.getByRole("button", { name: "Topic", exact: true }).click();
  const menu = page.getByRole("menuitem", { name: "Rename or move topic" });
  if ((await menu.count()) > 0) {
    await menu.click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Topic" }).fill("best ");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await idOf(ben, "best", "Live in best");
    await shows(page, "Live in best");
    t.equal(await head(page), "best");
  } else t.fail("a member may rename a topic");
});
