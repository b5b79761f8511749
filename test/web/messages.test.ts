/** What a person does with a message besides answering: who read it, what it was, move, delete, look at pictures and videos. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn, textsOf, until, write } from "../support/chromium-page.ts";
import { createChannel } from "../support/conversation.ts";
import { multipart, multipartType, picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const lunch = "#narrow/channel/1-general/topic/lunch";

async function open(t: Test, { isAdministrator = false } = {}) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  if (isAdministrator) await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const opened = await openPage(t);
  return { ...opened, server, ann, ben };
}

/** Opens the menu of a message by the keyboard, and chooses. */
async function choose(page: Page, text: string, action: string): Promise<void> {
  const row = page.locator(".feed .message[data-id]", { hasText: text });
  await row.hover();
  await row.getByLabel("More actions").click();
  await page.getByRole("menuitem", { name: action }).click();
}

t.test("read receipts and the history of edits are shown", { skip }, async (t) => {
  const { page, complaints, server, ann, ben } = await open(t);
  await logIn(page, server.url, ann, lunch);
  await page.locator("#compose-text").waitFor();
  await write(page, "Soup at noon");
  const own = page.locator(".feed .message[data-id]", { hasText: "Soup at noon" });
  await own.waitFor();
  await choose(page, "Soup at noon", "View read receipts");
  await page.getByText("Nobody else has read it yet.").waitFor();
  await page.keyboard.press("Escape");
  const id = Number(await own.getAttribute("data-id"));
  await ben.post("/messages/flags", { messages: [id], op: "add", flag: "read" });
  await choose(page, "Soup at noon", "View read receipts");
  await page.getByRole("dialog").getByText("Ben Bright").waitFor();
  await page.keyboard.press("Escape");
  await ann.patch(`/messages/${id}`, { content: "Soup at one" });
  await page.getByRole("button", { name: "edited" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit history" });
  await dialog.locator("li").nth(1).waitFor();
  t.match(await dialog.innerText(), /noon/);
  t.match(await dialog.innerText(), /one/);
  t.strictSame(complaints, []);
});

t.test("a message moves to another channel, and one that is deleted is gone everywhere", { skip }, async (t) => {
  const { page, complaints, server, ann, ben } = await open(t, { isAdministrator: true });
  await createChannel(ann, "kitchen", [ann, ben]);
  await ben.say("general", "lunch", "Who is in for soup?");
  await ben.say("general", "lunch", "I am not");
  await logIn(page, server.url, ann, lunch);
  await choose(page, "Who is in for soup?", "Move");
  const dialog = page.getByRole("dialog", { name: "Move messages" });
  await dialog.getByLabel("Channel").selectOption({ label: "kitchen" });
  await dialog.getByRole("textbox", { name: "Topic" }).fill("soup");
  await dialog.getByLabel("Only this message").check();
  await dialog.getByLabel("Leave a note in both topics").uncheck();
  await dialog.getByRole("button", { name: "Move" }).click();
  await page.getByText("Moved to #kitchen > soup.").waitFor();
  await page.locator(".feed .message[data-id]", { hasText: "soup?" }).waitFor({ state: "detached" });
  t.strictSame(await textsOf(page), ["I am not"]);
  const { body } = await ben.get("/messages", { anchor: "newest", num_before: 9, num_after: 0 });
  const moved = body.messages.find(({ content }: { content: string }) => content.includes("soup?"));
  t.match(moved, { display_recipient: "kitchen", subject: "soup" });

  await choose(page, "I am not", "Delete");
  await page.getByRole("button", { name: "Keep it" }).click();
  t.strictSame(await textsOf(page), ["I am not"]);
  await choose(page, "I am not", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The message is deleted.").waitFor();
  await page.getByText("This topic has no messages.").waitFor();
  t.strictSame(complaints, []);
});

t.test("pictures and videos open over the page, and Escape leads back", { skip }, async (t) => {
  const { page, complaints, server, ann, ben } = await open(t);
  const image = await uploaded(ben, await picture("png", 900, 700), '"soup 100%.png"');
  const body = multipart([
    { bytes: Buffer.alloc(64), filename: '"soup.mp4"', contentType: "video/mp4", name: "filename" },
  ]);
  const { body: video } = await ben.send("POST", "/user_uploads", body, { "Content-Type": multipartType });
  await ben.say("general", "lunch", `[soup](${image.url})`);
  await ben.say("general", "lunch", `[film](${video.url})`);
  await logIn(page, server.url, ann, lunch);
  await page.locator(".message_inline_image img").first().click();
  const viewer = page.getByRole("dialog");
  await viewer.locator("img").waitFor();
  const loaded = () => page.evaluate(`document.querySelector(".viewer img").naturalWidth`);
  await until(page, `document.querySelector(".viewer img").naturalWidth > 0`);
  t.equal(await loaded(), 900, "the whole picture");
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
  await page.locator(".message_inline_video a").click();
  await viewer.locator("video[controls]").waitFor();
  t.equal(await viewer.locator("video").getAttribute("src"), video.url);
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
  t.strictSame(
    complaints.filter((text) => !/416|media|video/i.test(text)),
    [],
    "besides a film without content",
  );
});

t.test("the menu of a topic unmutes one in a muted channel, and mutes it again", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  for (const one of [ann, ben]) await one.post("/users/me/subscriptions", { subscriptions: [{ name: "loud" }] });
  const { stream_id: loud } = (await ann.get("/get_stream_id", { stream: "loud" })).body;
  await ann.post("/users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: loud, property: "is_muted", value: true }],
  });
  await ben.say("loud", "news", "Soup");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, `#narrow/channel/${loud}-loud/topic/news`);
  const policies = async () => {
    const { body } = await ann.post("/register", { event_types: ["user_topic"], fetch_event_types: ["user_topic"] });
    return body.user_topics.map((one: { visibility_policy: number }) => one.visibility_policy);
  };
  const choose = async (label: string, done: string) => {
    await page.getByRole("button", { name: "Topic", exact: true }).click();
    await page.getByRole("menuitem", { name: label, exact: true }).click();
    await page.getByText(done).waitFor();
  };
  await choose("Unmute topic", "The topic is unmuted.");
  t.strictSame(await policies(), [2]);
  await choose("Mute topic", "The topic is muted.");
  t.strictSame(await policies(), [1]);
  await choose("Unmute topic", "The topic is unmuted.");
  t.strictSame(await policies(), [2], "not as its channel, which is muted");
});
