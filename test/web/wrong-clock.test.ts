/** A machine whose clock is an hour off: presence, times, and what may be edited follow the server's time. */
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { holdSocket } from "../support/held-network.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const hourMs = 60 * 60 * 1000;
const lunch = "#narrow/channel/1-general/topic/lunch";

/** What the page's scripts see as the time. */
const shifted = (ms: number) => `{
  const real = Date;
  const now = () => real.now() + ${ms};
  globalThis.Date = class extends real {
    constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
    static now() { return now(); }
  };
}`;

for (const [name, ms] of [
  ["ahead", hourMs],
  ["behind", -hourMs],
] as const) {
  t.test(`a clock that is an hour ${name} changes nothing that depends on the server's`, { skip }, async (t) => {
    const server = await startTestServer(t);
    const [ann, ben] = [await server.person("Ann Ames"), await server.person("Ben Bright")];
    await server.person("Cleo Castro");
    await server.owner.patch("/realm", { message_content_edit_limit_seconds: 600 });
    const id = await ann.say("general", "lunch", "Soup?");
    const { page } = await openPage(t);
    await page.addInitScript(shifted(ms));
    await logIn(page, server.url, ann, lunch);
    await page.locator(`.feed .message[data-id="${id}"]`).click();
    await page.getByRole("button", { name: "People", exact: true }).waitFor();
    // What is recent for the page is made recently, however long its start took.
    await ben.post("/users/me/presence", { status: "active", new_user_input: true });
    const dotOf = (who: string) => page.locator(".right-bar .person", { hasText: who }).locator(".dot").first();
    await page.locator(".right-bar .person", { hasText: "Ben Bright" }).getByLabel("Active").first().waitFor();
    t.equal(await dotOf("Cleo Castro").getAttribute("aria-label"), "Offline");
    await page.keyboard.press("e");
    await page.getByLabel("Text of the message").waitFor();
    await page.keyboard.press("Escape");
    await page.evaluate(`location.hash = "#recent"`);
    await ben.say("general", "supper", "Bread?");
    await page.locator(".recent .inbox-line", { hasText: "supper" }).getByText("now", { exact: true }).waitFor();
  });
}

t.test("a message that is written before the first connection is sent", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page } = await openPage(t);
  const network = await holdSocket(page);
  network.hold();
  await logIn(page, server.url, ann, lunch);
  await page.locator("#compose-text").fill("In a hurry");
  await page.keyboard.press("Control+Enter");
  await page.locator(".feed .pending", { hasText: "In a hurry" }).waitFor();
  t.equal(await page.getByRole("alert").count(), 0);
  network.release();
  await page.locator(".feed .message[data-id]", { hasText: "In a hurry" }).waitFor();
  const { body } = await ann.get("/messages", { anchor: "newest", num_before: 9, num_after: 0 });
  t.equal(body.messages.filter(({ content }: { content: string }) => content.includes("hurry")).length, 1);
});
