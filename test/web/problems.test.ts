/** What the page says when something ends: it happens next to where it happened, and what was typed stays. */
import t from "tap";
import { browserObstacle, logIn, openPage, startChromium } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const skip = browserObstacle() ?? false;

t.test("[web.md] a session that ends keeps what was typed, and logging in again continues", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const browser = await startChromium(t);
  const { page } = await openPage(browser);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("half a sentence");
  const { body } = await ann.get("/sessions");
  for (const { id } of body.sessions) await ann.delete(`/sessions/${id}`);
  await page.getByText("Your session has ended.").waitFor();
  await page.getByLabel("Email address").fill(ann.account?.email ?? "");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#compose-text").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "half a sentence");
});

t.test("[web.md] a text that is too long is not sent, and says by how much", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const browser = await startChromium(t);
  const { page } = await openPage(browser);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("x".repeat(10_007));
  await page.keyboard.press("Control+Enter");
  await page.getByText("The message is 7 characters too long.").waitFor();
  t.equal((await page.locator("#compose-text").inputValue()).length, 10_007);
});

t.test("[web.md] a deactivated account is told so", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const browser = await startChromium(t);
  const { page } = await openPage(browser);
  await logIn(page, server.url, ann);
  await server.owner.delete(`/users/${ann.userId}`);
  await page.getByText("has been deactivated").waitFor();
  t.pass("the page is at the login, and says why");
});
