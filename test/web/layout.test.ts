/** Windows of all widths: nothing that one needs is cut off, and nothing that is dropped or pasted goes elsewhere. */
import type { BrowserContextOptions, Page } from "playwright-core";
import t, { type Test } from "tap";
import { attachmentsOf, uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { createChannel } from "../support/conversation.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const lunch = "#narrow/channel/1-general/topic/lunch";

async function open(
  t: Test,
  fragment: string,
  viewport: { width: number; height: number },
  say?: (ann: Client) => unknown,
  options: BrowserContextOptions = {},
) {
  const server = await startTestServer(t);
  await server.person("Ben Bright");
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await say?.(ann);
  const { page, complaints } = await openPage(t, { viewport, ...options });
  await logIn(page, server.url, ann, fragment);
  return { ann, page, complaints };
}

/** Whether a person can see and press the middle of each element. */
async function areInReach(page: Page, selector: string): Promise<boolean[]> {
  return (await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && element.contains(hit);
  })`)) as boolean[];
}

t.test("on a tablet the role and the deactivation of a person are within the window", { skip }, async (t) => {
  for (const width of [761, 900, 1000]) {
    const { page } = await open(t, "#organization/people", { width, height: 900 });
    await page.locator(".table select").first().waitFor();
    const reach = await areInReach(page, ".table select, .table .danger");
    t.ok(reach.length >= 3 && !reach.includes(false), `${width} px: ${JSON.stringify(reach)}`);
    await page.getByRole("button", { name: "Conversations" }).click();
    await page.locator(".left-bar").getByText("general").waitFor();
  }
});

t.test("the menu of the last message is above the box and whole", { skip }, async (t) => {
  const { page, complaints } = await open(t, lunch, { width: 1280, height: 600 }, async (ann) => {
    for (let number = 0; number < 30; number++) await ann.say("general", "lunch", `Soup ${number}`);
  });
  const last = page.locator(".feed .message[data-id]").last();
  await last.hover();
  await last.getByRole("button", { name: "More actions (i)" }).click();
  await page.getByRole("menu").waitFor();
  const reach = await areInReach(page, ".menu button");
  t.ok(reach.length > 5);
  t.notOk(reach.includes(false), JSON.stringify(reach));
  await page.keyboard.press("Escape");
  t.equal(await page.getByRole("menu").count(), 0);
  t.strictSame(complaints, []);
});

t.test("on a phone the menu of a message and the lists at the sides open by touch", { skip }, async (t) => {
  const say = async (ann: Client) => {
    await ann.say("general", "lunch", "Who is in for soup?");
    await ann.say("general", "lunch", "/me waves");
  };
  const phone = { width: 390, height: 844 };
  const { page, complaints } = await open(t, lunch, phone, say, { hasTouch: true, isMobile: true });
  const texts = page.locator(".feed .message[data-id] .rendered");
  await texts.nth(1).waitFor();
  const sizes = `[...document.querySelectorAll(".feed .rendered")].map((one) => getComputedStyle(one).fontSize)`;
  t.equal(new Set((await page.evaluate(sizes)) as string[]).size, 1, "what somebody does is as large as what they say");
  await texts.first().tap();
  await page.getByRole("button", { name: "More actions (i)" }).tap();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  t.ok(await page.evaluate(`document.activeElement.closest("[role=menu]") !== null`), "the menu keeps the focus");
  await page.getByRole("menuitem", { name: "Delete" }).tap();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).tap();
  const people = page.getByRole("complementary", { name: "People" });
  await page.getByRole("button", { name: "People" }).tap();
  await people.getByText("Ben Bright").tap();
  await page.getByRole("heading", { name: "Ben Bright" }).waitFor();
  t.equal(await people.count(), 0, "the conversation is not under the list");
  await page.getByRole("button", { name: "People" }).tap();
  await page.getByRole("button", { name: "Close the list" }).tap({ position: { x: 20, y: 400 } });
  t.equal(await people.count(), 0);
  t.strictSame(complaints, []);
});

t.test("a channel is archived and restored, twice", { skip }, async (t) => {
  const say = (ann: Client) => createChannel(ann, "kitchen", [ann]);
  const { ann, page, complaints } = await open(t, "#channels/2", { width: 1280, height: 800 }, say);
  for (let round = 0; round < 2; round++) {
    await page.getByRole("button", { name: "Archive" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Archive" }).waitFor();
  }
  t.equal((await ann.get("/streams/2")).body.stream.is_archived, false);
  t.strictSame(complaints, []);
});

t.test("a notice covers none of the buttons that a panel begins with", { skip }, async (t) => {
  for (const width of [390, 820, 1440]) {
    const say = (ann: Client) => createChannel(ann, "kitchen", [ann]);
    const { page } = await open(t, "#channels/2", { width, height: 844 }, say);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.locator(".notice", { hasText: "kitchen" }).waitFor();
    const covered = await page.evaluate(`(() => {
      const notice = document.querySelector(".notice").getBoundingClientRect();
      return [...document.querySelectorAll(".panel-body > .buttons button")].filter((button) => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        return left < notice.right && right > notice.left && top < notice.bottom && bottom > notice.top;
      }).map((button) => button.textContent);
    })()`);
    t.strictSame(covered, [], `${width} px`);
    await page.getByRole("button", { name: "Dismiss" }).first().press("Enter");
    await until(page, "document.activeElement.id === 'main'");
  }
});

t.test("on a phone a picture fills the window, has a name, and can be closed", { skip }, async (t) => {
  const { page, complaints } = await open(t, lunch, { width: 390, height: 780 }, async (ann) => {
    const image = await uploaded(ann, await picture("png", 900, 700), '"green soup.png"');
    await ann.say("general", "lunch", `[green soup.png](${image.url})`);
    await ann.say("general", "lunch", `[The soup](${image.url})`);
  });
  const previews = page.locator(".feed .message_inline_image img");
  await previews.nth(1).waitFor();
  t.equal(await previews.nth(0).getAttribute("alt"), "green soup.png");
  t.equal(await previews.nth(1).getAttribute("alt"), "The soup");
  await previews.first().click();
  const shown = page.locator(".viewer img");
  await shown.waitFor();
  await until(page, `document.querySelector(".viewer img").naturalWidth > 0`);
  const box = await shown.boundingBox();
  t.ok(box !== null && box.x >= 0 && box.x + box.width <= 390 && box.width > 380, JSON.stringify(box));
  t.ok(box !== null && box.y + box.height <= 780, JSON.stringify(box));
  t.strictSame(await areInReach(page, ".viewer .icon-button, .viewer a"), [true, true]);
  await page.getByRole("button", { name: "Close" }).click();
  t.equal(await page.getByRole("dialog").count(), 0);
  t.strictSame(complaints, []);
});

/** What lies over the page, and the place below it. */
const over = `[location.hash.replace(/\\/with\\/.*/, ""),
  ...["dialog[open]", ".menu", ".left-bar.open", ".right-bar"].filter((one) => document.querySelector(one) !== null)].join(" ")`;

t.test("on a phone Back closes what lies on top, and leads on when nothing does", { skip }, async (t) => {
  const { page, complaints } = await open(t, "#inbox", { width: 390, height: 780 }, async (ann) => {
    const image = await uploaded(ann, await picture("png", 40, 40), "soup.png");
    await ann.say("general", "lunch", `[soup.png](${image.url})`);
  });
  const place = "#narrow/channel/1-general/topic/lunch";
  const isAt = (...open: readonly string[]) => until(page, `${over} === ${JSON.stringify([place, ...open].join(" "))}`);
  const menu = page.locator(".feed .message .icon-button[aria-label^='More']");
  const openers: Readonly<Record<string, () => Promise<void>>> = {
    picture: () => page.locator(".feed .message_inline_image img").click(),
    card: () => page.locator(".feed .message .sender").click(),
    help: () => page.keyboard.press("?"),
    history: () => page.keyboard.press("H"),
    schedule: () => page.getByRole("button", { name: "Send later" }).click(),
  };
  await page.getByRole("link", { name: "lunch" }).click();
  await page.locator("#compose-text").fill("Later");
  await page.locator(".feed .message").click();
  for (const [name, opens] of Object.entries(openers)) {
    await opens();
    await isAt("dialog[open]");
    await page.goBack();
    await isAt();
    await opens();
    await isAt("dialog[open]");
    await page.keyboard.press("Escape");
    await isAt();
    t.pass(name);
  }
  await page.getByRole("button", { name: "Conversations" }).click();
  await isAt(".left-bar.open");
  await page.goBack();
  await isAt();
  await page.getByRole("button", { name: "People" }).click();
  await page.locator(".person", { hasText: "Ben Bright" }).hover();
  await page.getByRole("button", { name: "About Ben Bright" }).click();
  await isAt("dialog[open]", ".right-bar");
  await page.goBack();
  await isAt(".right-bar");
  await page.goBack();
  await isAt();
  t.pass("lists, and a card over one of them");
  await menu.click();
  await isAt(".menu");
  await page.goBack();
  await isAt();
  await menu.click();
  await page.getByRole("menuitem", { name: "Move" }).click();
  await isAt("dialog[open]");
  await page.goBack();
  await isAt();
  t.pass("a menu, and a dialog that was opened by one");

  await openers["picture"]?.();
  await isAt("dialog[open]");
  await page.reload();
  await page.locator(".feed .message").waitFor();
  await isAt();
  await page.goBack();
  await until(page, `${over} === "#inbox"`);
  await page.goForward();
  await isAt();
  await page.locator(".feed .message").waitFor();
  await openers["picture"]?.();
  await isAt("dialog[open]");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Conversations" }).click();
  await page.locator(".left-bar").getByRole("link", { name: "Recent conversations" }).click();
  await until(page, `${over} === "#recent"`);
  await page.goBack();
  await isAt();
  await page.goBack();
  await until(page, `${over} === "#inbox"`);
  t.pass("neither a reload nor Forward nor a link leaves an entry that shows nothing new");
  t.strictSame(complaints, []);
});

/** A file is dragged over a part of the page and dropped there. @returns which events the page took */
const drop = (page: Page, selector: string) =>
  page.evaluate(`["dragover", "drop"].map((name) => {
    const data = new DataTransfer();
    data.items.add(new File(["soup"], "soup.txt", { type: "text/plain" }));
    const event = new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
    return !document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event);
  })`);

t.test("a file that is dropped beside the box does not replace the page", { skip }, async (t) => {
  const { ann, page, complaints } = await open(t, lunch, { width: 1280, height: 800 });
  await page.locator("#compose-text").waitFor();
  t.strictSame(await drop(page, ".left-bar"), [true, true], "nothing is opened");
  t.equal(await page.locator(".uploads li").count(), 0, "and nothing is uploaded");
  t.strictSame(await drop(page, ".feed"), [true, true]);
  await until(page, `document.getElementById("compose-text").value.includes("[soup.txt](/user_uploads/")`);
  t.equal((await attachmentsOf(ann)).length, 1);
  t.strictSame(complaints, []);
});

/** @returns whether the page took it from the browser */
const paste = (page: Page, kinds: Readonly<Record<string, string>>, withPicture: boolean) =>
  page.evaluate(`(() => {
    const data = new DataTransfer();
    for (const [type, text] of Object.entries(${JSON.stringify(kinds)})) data.setData(type, text);
    if (${withPicture}) data.items.add(new File(["no picture"], "image.png", { type: "image/png" }));
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    return !document.getElementById("compose-text").dispatchEvent(event);
  })()`);

t.test("cells of a spreadsheet are pasted as a table, and text as text", { skip }, async (t) => {
  const { page, complaints } = await open(t, lunch, { width: 1280, height: 800 });
  await page.locator("#compose-text").fill("Prices:");
  const html = "<table><tr><td>x</td></tr></table>";
  const cells = '\tprice\r\n"two\nlines"\t1|2\r\n"a ""b"""\t\r\n';
  t.ok(await paste(page, { "text/plain": cells, "text/html": html }, true));
  await until(page, `document.getElementById("compose-text").value.includes("|")`);
  t.equal(
    await page.locator("#compose-text").inputValue(),
    'Prices:\n\n|  | price |\n| --- | --- |\n| two lines | 1\\|2 |\n| a "b" |  |\n',
  );
  t.notOk(await paste(page, { "text/plain": "word", "text/html": "<b>word</b>" }, true), "the browser pastes text");
  t.equal(await page.locator(".uploads li").count(), 0, "the picture of the text is not uploaded");
  t.ok(await paste(page, { "text/plain": "image.png" }, true), "a file with its name is a file");
  t.strictSame(complaints, []);
});

t.test("a link to an unknown channel says so and leads on", { skip }, async (t) => {
  const { page, complaints } = await open(t, "#narrow/channel/999-gone/topic/soup", { width: 1280, height: 800 });
  await page.getByText("This channel does not exist, or you have no access to it.").waitFor();
  t.equal(await page.locator(".compose, .compose-start").count(), 0);
  await page.getByRole("link", { name: "Go to the inbox" }).click();
  await until(page, `location.hash === "#inbox"`);
  t.strictSame(complaints, []);
});

t.test("Tab leads through the search box and searches for nothing", { skip }, async (t) => {
  const { page, complaints } = await open(t, lunch, { width: 1280, height: 800 });
  const search = page.getByRole("combobox", { name: "Search messages" });
  await search.focus();
  await page.keyboard.press("Tab");
  t.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "People");
  t.match(page.url(), /topic\/lunch$/);
  await search.fill("soup");
  await page.keyboard.press("Tab");
  t.match(page.url(), /topic\/lunch$/, "words that are typed are no choice of a person or channel");
  await search.fill("sen");
  await page.keyboard.press("Tab");
  t.equal(await search.inputValue(), "sender:", "an operator is completed");
  t.strictSame(complaints, []);
});

t.test("near: in the search box says where the list opens, and is no part of the search", { skip }, async (t) => {
  const { page, complaints } = await open(t, lunch, { width: 1280, height: 800 });
  const search = page.getByRole("combobox", { name: "Search messages" });
  await search.fill("channel:general near:1");
  for (const again of ["once", "twice"]) {
    await search.press("Enter");
    await until(page, `location.hash === "#narrow/channel/1-general/near/1"`);
    t.equal(await search.inputValue(), "channel:general", again);
    await search.fill("channel:general near:1");
  }
  t.strictSame(complaints, []);
});
