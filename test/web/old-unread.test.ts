/** More unread messages than a registration names: the page meets the older ones when it fetches them. */
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** How many the registration names here; the real limit is 50,000. */
const named = 5;

t.test("a list opens at the oldest unread one, and reads it", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await ben.say("general", "lunch", "Before");
  await ann.post("/mark_all_as_read");
  const ids: number[] = [];
  for (let count = 1; count <= 30; count++) ids.push(await ben.say("general", "lunch", `Message ${count}`));
  const { page } = await openPage(t);
  await page.route("**/api/v1/register", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const group of body.unread_msgs.streams) group.unread_message_ids = group.unread_message_ids.slice(-named);
    body.unread_msgs.old_unreads_missing = true;
    await route.fulfill({ response, json: body });
  });
  await logIn(page, server.url, ann);
  await page.getByText(`${named}+ unread`).waitFor();
  await page.locator(".inbox-link", { hasText: "lunch" }).click();
  const [first = 0] = ids;
  await page.locator(`.feed .message.cursor[data-id="${first}"]`).waitFor();
  t.equal(await page.locator(".feed .new-mark + .message").getAttribute("data-id"), String(first));
  const isRead = async () => (await ann.get(`/messages/${first}`)).body.message.flags.includes("read");
  while (!(await isRead())) await page.waitForTimeout(50);
});
