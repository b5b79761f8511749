/** The text of messages in the page: who does what, directions, times, widgets, what is copied, and what Enter does. */
import t from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { createChannel } from "../support/conversation.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test("messages are shown, copied and written as their text means them", { skip }, async (t) => {
  const server = await startTestServer(t);
  const [ann, ben] = [await server.person("Ann Ames"), await server.person("Ben Bright")];
  const id = await createChannel(ann, "kitchen", [ann, ben], { description: "For **cooks**" });
  await ann.patch("/settings", { twenty_four_hour_time: true, enter_sends: true });
  await ben.say("kitchen", "lunch", "/me waves at *everybody*");
  await ben.say("kitchen", "lunch", "مرحبا **hello**");
  await ben.say("kitchen", "lunch", "at <time:2026-11-28T13:05:00Z>");
  await ben.say("kitchen", "lunch", "so $$x^2$$ is\n```js\nlet a;\n```\nend");
  const form = await ben.say("kitchen", "lunch", "Choose soup or bread");
  const content = JSON.stringify({ widget_type: "zform", extra_data: { type: "choices", heading: "", choices: [] } });
  await ben.post("/submessage", { message_id: form, msg_type: "widget", content });

  const { page, complaints } = await openPage(t, { timezoneId: "Asia/Kolkata" });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await logIn(page, server.url, ann, `#narrow/channel/${id}/topic/lunch`);
  const row = (text: string) => page.locator(".feed .message[data-id]", { hasText: text });
  await row("Choose soup or bread").waitFor();
  t.match(
    (await row("waves").locator(".message-content").innerText()).replace(/\s+/g, " "),
    "Ben Bright waves at everybody",
  );
  const directions = await page.evaluate(
    `[...document.querySelectorAll(".feed .rendered > p")].map((p) => getComputedStyle(p).direction)`,
  );
  t.strictSame((directions as string[]).slice(0, 3), ["ltr", "rtl", "ltr"]);
  t.match(
    await page.locator(".feed .rendered time").innerText(),
    /18:35/,
    "in the zone and by the clock of the reader",
  );
  t.match(await row("waves").locator(".message-time").getAttribute("title"), /\d\d:\d\d(?! ?[AP]M)/);

  await page.evaluate(`getSelection().selectAllChildren(document.querySelector(".rendered:has(.katex)"))`);
  await page.keyboard.press("Control+c");
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  t.strictSame(copied.split(/\s*\n\s*/).filter(Boolean), ["so x^2 is", "let a;", "end"]);

  const box = page.locator("#compose-text");
  await box.click();
  await page.keyboard.type("```\n:tad");
  await page.keyboard.press("Enter");
  await page.keyboard.type("x\n```");
  t.equal(await box.inputValue(), "```\n:tad\nx\n```", "a line of code, and neither an emoji nor a message");
  t.equal(await box.getAttribute("dir"), "auto");
  await page.keyboard.press("Enter");
  await row(":tad").waitFor();
  await box.fill("/me cooks *soup*");
  const preview = page.getByRole("button", { name: "Preview" });
  await preview.click();
  await page.locator(".preview em").waitFor();
  t.match((await page.locator(".preview").innerText()).replace(/\s+/g, " "), /^Ann Ames cooks soup$/);
  await preview.click();
  await box.fill("");

  await page.goto(`${server.url}/#narrow/sender/${ben.userId}`);
  await page.locator(".head h1", { hasText: "Ben Bright" }).waitFor();
  await page.goto(`${server.url}/#narrow/channel/${id}`);
  await page.locator(".head-note strong", { hasText: "cooks" }).waitFor();

  await page.goto(`${server.url}/#inbox`);
  await page.locator("h1", { hasText: "Inbox" }).waitFor();
  await ben.say("kitchen", "dinner", "Is anybody here?");
  await until(page, `document.title.startsWith("(")`);
  await server.owner.delete(`/streams/${id}`);
  await until(page, `!document.title.startsWith("(")`);
  t.notOk((await page.locator("main").innerText()).includes("dinner"), "nothing waits in an archived channel");
  t.strictSame(complaints, []);
});
