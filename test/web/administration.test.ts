/** Administration in the page: each screen changes what it says, and says what a refusal was, next to the form. */
import t from "tap";
import { browserObstacle, logIn, openPage, startChromium } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const skip = browserObstacle() ?? false;

t.test("[D259] administrators see the figures of their organization, and members do not", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  for (let count = 0; count < 3; count++) await ben.say("general", "lunch", "Soup");
  const browser = await startChromium(t);
  const { page, complaints } = await openPage(browser);
  await logIn(page, server.url, ann, "#organization/statistics");
  // Asking for a session that does not exist yet is one.
  complaints.length = 0;
  await page.getByRole("img", { name: /^3 messages in 30 days, at most 3 a day$/ }).waitFor();
  const row = (label: string) => page.locator(".figures div", { hasText: label }).last();
  t.equal(await row("Members").innerText(), "Members\n1");
  t.match(await row("Uploaded files").innerText(), /^Uploaded files\n0 bytes of 10 GiB$/);
  await server.owner.patch(`/users/${ann.userId}`, { role: 400 });
  await page.getByRole("link", { name: "Statistics" }).waitFor({ state: "detached" });
  t.strictSame(complaints, []);
});
