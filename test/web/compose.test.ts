/** Writing with completion, preview and files, and what two people see of each other while they are here. */
import type { Page, Route } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, until, write } from "../support/chromium-page.ts";
import { createChannel } from "../support/conversation.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const lunch = "#narrow/channel/1-general/topic/lunch";

async function open(t: Test) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await createChannel(ann, "kitchen", [ann, ben]);
  await ben.say("kitchen", "soup of the day", "Lentil");
  await ben.say("general", "lunch", "Who is in for soup?");
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, lunch);
  await page.locator("#compose-text").waitFor();
  return { server, ann, ben, page, complaints };
}

const textOf = (page: Page) => page.locator("#compose-text").inputValue();

t.test("names of all kinds complete, and the preview shows what others will see", { skip }, async (t) => {
  const { ben, page, complaints } = await open(t);
  await ben.say("kitchen", "C*-algebras", "Without soup");
  await ben.say("kitchen", "", "Anything else");
  const complete = async (typed: string, option: string | RegExp) => {
    await page.locator("#compose-text").pressSequentially(typed);
    await page.getByRole("option", { name: option }).waitFor();
    await page.keyboard.press("Enter");
  };
  await complete("@be", /Ben Bright/);
  await complete("see #kit", /kitchen/);
  await complete("so", /soup of the day/);
  await complete(":tad", /tada/);
  t.match(await textOf(page), /^@\*\*Ben Bright\*\* see #\*\*kitchen>soup of the day\*\* :tada: $/);
  await page.getByRole("button", { name: "Preview" }).click();
  const preview = page.locator(".preview");
  await preview.locator(".user-mention", { hasText: "@Ben Bright" }).waitFor();
  t.match(await preview.getByRole("link").getAttribute("href"), /^#narrow\/channel\/\d+-kitchen\/topic\/soup/);
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator("#compose-text").fill("");
  await complete("#kit", /kitchen/);
  await complete("C", /C\*-algebras/);
  t.match(await textOf(page), /\/topic\/C[^/]*\/with\/\d+\) $/, "the link of such a topic follows it");
  await page.locator("#compose-text").fill("");
  await complete("#kit", /kitchen/);
  await complete("gen", /general chat/);
  t.match(await textOf(page), /^#\*\*kitchen>\*\* $/, "the empty topic has a name");
  await page.locator("#compose-text").fill("");
  await complete("/po", /\/poll/);
  t.equal(await textOf(page), "/poll ");
  await page.locator("#compose-text").fill("");
  await page.locator("#compose-text").pressSequentially("Soup, @be");
  await page.getByRole("option", { name: /Ben Bright/ }).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator(".feed .message[data-id]", { hasText: "Soup, @be" }).waitFor();
  t.equal(await page.getByRole("option").count(), 0, "what is sent has nothing left to complete");
  t.strictSame(complaints, []);
});

/** A file that the browser gives to the page with an event. */
const giveFile = (event: "paste" | "drop", name: string) => `{
  const data = new DataTransfer();
  data.items.add(new File(["soup"], ${JSON.stringify(name)}, { type: "text/plain" }));
  const init = { clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true };
  const area = document.getElementById("compose-text");
  area.dispatchEvent("${event}" === "paste" ? new ClipboardEvent("paste", init) : new DragEvent("drop", init));
}`;

t.test("a box for a channel that is archived meanwhile can be used elsewhere", { skip }, async (t) => {
  const { server, page, complaints } = await open(t);
  await page.goto(`${server.url}/#narrow/channel/2-kitchen/topic/soup.20of.20the.20day`);
  await page.getByText("Lentil").waitFor();
  await page.locator("#compose-text").fill("half a sentence");
  t.equal((await server.owner.delete("/streams/2")).status, 200);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "This channel is archived" }).waitFor();
  await page.goto(`${server.url}/${lunch}`);
  await page.getByText("Who is in for soup?").waitFor();
  t.equal(await textOf(page), "half a sentence");
  await page.locator("#compose-text").fill("");
  await page.getByRole("button", { name: /^Close/ }).click();
  await write(page, "Two bowls");
  await page.locator(".feed .message[data-id]", { hasText: "Two bowls" }).waitFor();
  t.strictSame(complaints, []);
});

t.test("files that are pasted or dropped are uploaded, and show how far they are", { skip }, async (t) => {
  const { page, ann, complaints } = await open(t);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/user_uploads", async (route) => {
    await released;
    await route.continue();
  });
  await page.evaluate(giveFile("paste", "pasted.txt"));
  await page.evaluate(giveFile("drop", "dropped.txt"));
  for (const name of ["pasted.txt", "dropped.txt"]) {
    await page.getByRole("progressbar", { name: `Upload of ${name}` }).waitFor();
  }
  release();
  for (const name of ["pasted.txt", "dropped.txt"]) {
    await until(page, `document.getElementById("compose-text").value.includes("[${name}](/user_uploads/")`);
  }
  await page.locator("#compose-text").press("Control+Enter");
  await page.locator(".feed .message[data-id] a", { hasText: "dropped.txt" }).waitFor();
  const { body } = await ann.get("/attachments");
  t.strictSame(
    body.attachments.map(({ name, messages }: { name: string; messages: object[] }) => [name, messages.length]).sort(),
    [
      ["dropped.txt", 1],
      ["pasted.txt", 1],
    ],
  );
  t.strictSame(complaints, []);
});

t.test(
  "files that are chosen together stand in the order of the choice, whichever arrives first",
  { skip },
  async (t) => {
    const { page } = await open(t);
    const names = ["1.txt", "2.txt", "3.txt"];
    const held = new Map<string, Route>();
    await page.route("**/user_uploads", (route) => {
      held.set(/filename="([^"]+)"/.exec(route.request().postData() ?? "")?.[1] ?? "", route);
    });
    const go = async (name: string) => {
      while (!held.has(name)) await page.waitForTimeout(10);
      await held.get(name)?.continue();
      held.delete(name);
      await until(page, `document.getElementById("compose-text").value.includes("[${name}](/user_uploads/")`);
    };
    const files = names.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) }));
    await page.getByLabel("Files to upload").setInputFiles(files);
    await go("3.txt");
    await page.locator("#compose-text").press("End");
    await page.keyboard.type(" and some words");
    while (!held.has("1.txt")) await page.waitForTimeout(10);
    await held.get("1.txt")?.abort();
    held.delete("1.txt");
    const retry = page.getByRole("button", { name: "Try again" });
    await retry.waitFor();
    await go("2.txt");
    await retry.click();
    await go("1.txt");
    await page.keyboard.type(" at the end");
    t.match(await textOf(page), /^\[1\.txt\]\(\S+\)\n\[2\.txt\]\(\S+\)\n\[3\.txt\]\(\S+\) and some words at the end$/);
  },
);

t.test("two people see each other's presence, typing, votes and resolved topics", { skip }, async (t) => {
  const { server, page, ben, complaints } = await open(t);
  const other = await openPage(t);
  await logIn(other.page, server.url, ben, lunch);
  await other.page.locator("#compose-text").waitFor();
  const row = page.locator(".right-bar .person", { hasText: "Ben Bright" });
  await row.getByRole("img", { name: "Active" }).waitFor();

  await other.page.locator("#compose-text").pressSequentially("I");
  await page.getByText("Ben Bright is typing").waitFor();
  await other.page.locator("#compose-text").fill("");
  await write(other.page, "/poll Where to?\nCorner\nHome");
  await page.getByRole("button", { name: "Vote for Corner: 0 votes" }).click();
  await other.page.getByRole("button", { name: "Vote for Corner: 1 vote" }).waitFor();
  t.equal(await page.getByText("Ben Bright is typing").count(), 0, "a message ends it");

  await page.getByRole("button", { name: "Mark as resolved" }).click();
  await other.page.getByRole("button", { name: "Mark as unresolved" }).waitFor();
  t.match(other.page.url(), /topic\/.+lunch/, "who looks at the topic goes with it");
  await other.page.getByRole("button", { name: "Mark as unresolved" }).click();
  await page.getByRole("button", { name: "Mark as resolved" }).waitFor();
  t.strictSame([complaints, other.complaints], [[], []]);
});
