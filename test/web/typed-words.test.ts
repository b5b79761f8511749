/** Nothing that was typed is lost: edits, texts of tabs that are closed, and what Ctrl Z takes back. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const lunch = "#narrow/channel/1-general/topic/lunch";

async function open(t: Test) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ben.userId}`, { role: 200 });
  const { body } = await ann.post("/messages", { type: "channel", to: "general", topic: "lunch", content: "Soup" });
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, lunch);
  await page.locator("#compose-text").waitFor();
  return { server, ann, ben, id: body.id as number, page, complaints };
}

const draftsOf = async (person: Client) =>
  (await person.get("/drafts")).body.drafts.map(({ content }: { content: string }) => content);
const goTo = (page: Page, fragment: string) => page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);

t.test("an open edit stays when its topic moves and when its writer is elsewhere", { skip }, async (t) => {
  const { ann, ben, id, page } = await open(t);
  const box = page.getByLabel("Text of the message");
  await page.locator(`.message[data-id="${id}"]`).click();
  await page.keyboard.press("e");
  await until(page, `document.querySelector(".edit-box textarea")?.value === "Soup"`);
  await box.fill("Soup and bread");
  for (const [topic, mode] of [
    ["✔ lunch", "change_all"],
    ["supper", "change_all"],
    ["dinner", "change_later"],
  ]) {
    await ben.patch(`/messages/${id}`, { topic, propagate_mode: mode });
    await until(page, `decodeURIComponent(location.hash.replaceAll(".", "%")).includes("/topic/${topic}")`);
    t.equal(await box.inputValue(), "Soup and bread", `${topic}, ${mode}`);
  }
  await goTo(page, "#inbox");
  await box.waitFor({ state: "detached" });
  await page.goBack();
  await box.waitFor();
  t.equal(await box.inputValue(), "Soup and bread", "after a look at the inbox");
  await page.reload();
  await box.waitFor();
  t.equal(await box.inputValue(), "Soup and bread", "after a reload");
  await box.press("Control+Enter");
  await page.getByText("Soup and bread").waitFor();
  await box.waitFor({ state: "detached" });

  await page.locator(`.message[data-id="${id}"]`).click();
  await page.keyboard.press("e");
  await until(page, `document.querySelector(".edit-box textarea")?.value === "Soup and bread"`);
  await box.fill("Soup, bread and salt");
  await ben.delete(`/messages/${id}`);
  await box.waitFor({ state: "detached" });
  while ((await draftsOf(ann)).length === 0) await page.waitForTimeout(20);
  t.strictSame(await draftsOf(ann), ["Soup, bread and salt"], "the message was deleted meanwhile");
});

t.test("the text of a closed tab is at the next visit, and on other devices", { skip }, async (t) => {
  const { server, ann, page } = await open(t);
  await page.locator("#compose-text").fill("At once");
  await page.goto("about:blank");
  const next = await page.context().newPage();
  await next.goto(`${server.url}/#inbox`);
  await until(next, `document.getElementById("compose-text")?.value === "At once"`);
  await next.locator("#compose-text").fill("At once, and then saved");
  await goTo(next, "#drafts");
  await next.locator(".card", { hasText: "and then saved" }).waitFor();
  t.strictSame(await draftsOf(ann), ["At once, and then saved"], "and nobody has closed the box");
  await next.locator("#compose-text").fill("At once, and then saved again");
  await next.goto("about:blank");
  const third = await page.context().newPage();
  await third.goto(`${server.url}/#drafts`);
  await until(third, `document.getElementById("compose-text")?.value === "At once, and then saved again"`);
  await third.locator(".card", { hasText: "saved again" }).waitFor();
  await third.getByRole("button", { name: "Continue" }).click();
  await until(third, `document.getElementById("compose-text")?.value === "At once, and then saved again"`);
  await third.locator("#compose-text").press("Control+Enter");
  await third.locator(".feed .message[data-id]", { hasText: "saved again" }).waitFor();
  await third.locator(".left-bar .row-box", { hasText: "Drafts" }).locator(".total").waitFor({ state: "detached" });
  t.strictSame(await draftsOf(ann), [], "a message that was sent is no draft");
});

t.test("Ctrl Z takes back what a key, a choice or a button has put into the text", { skip }, async (t) => {
  const { page, id } = await open(t);
  const area = page.locator("#compose-text");
  const value = () => area.inputValue();
  const undone = async (before: string, what: string) => {
    t.not(await value(), before, what);
    await area.press("Control+z");
    t.equal(await value(), before, what);
  };
  await area.pressSequentially("soup");
  await area.press("Shift+Home");
  await area.press("Control+b");
  t.equal(await value(), "**soup**");
  await undone("soup", "bold");
  await area.press("End");
  await area.pressSequentially(" @be");
  await page.getByRole("option", { name: /Ben Bright/ }).waitFor();
  await page.keyboard.press("Enter");
  await undone("soup @be", "a name");
  await page.getByRole("button", { name: "Insert an emoji" }).click();
  await page.getByRole("dialog").getByRole("searchbox").fill("tada");
  await page.keyboard.press("Enter");
  await until(page, `document.getElementById("compose-text").value.includes(":tada:")`);
  await undone("soup @be", "an emoji");
  await page.locator(`.message[data-id="${id}"]`).click();
  await page.keyboard.press(">");
  await until(page, `document.getElementById("compose-text").value.includes("quote")`);
  await undone("soup @be", "a quote");
  await area.press("End");
  await area.pressSequentially("n");
  const preview = page.getByRole("button", { name: "Preview" });
  await preview.click();
  await page.locator(".preview", { hasText: "soup @ben" }).waitFor();
  await area.waitFor({ state: "hidden" });
  await preview.click();
  await until(page, "document.activeElement.id === 'compose-text'");
  await undone("soup @be", "a letter, after a look at the preview");
});
