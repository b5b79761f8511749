/** What the page says when something ends: it happens next to where it happened, and what was typed stays. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { chromiumFor, logIn, textsOf, until, write } from "../support/chromium-page.ts";
import { freePort } from "../support/ports.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { ensureWebBuilt } from "../support/web-build.ts";

const { skip, openPage } = chromiumFor(t);

t.test("a session that ends keeps what was typed, and logging in again continues", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page, requests } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("half a sentence");
  const { body } = await ann.get("/sessions");
  for (const { id } of body.sessions) await ann.delete(`/sessions/${id}`);
  await page.getByText("Your session has ended.").waitFor();
  await page.waitForLoadState("networkidle");
  t.notOk(requests.includes("/api/v1/events"), "a queue that the page may not read is not deleted either");
  await page.getByLabel("Email address").fill(ann.account?.email ?? "");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#compose-text").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "half a sentence");
});

t.test("a text that is too long is not sent, and says by how much", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("x".repeat(10_007));
  await page.keyboard.press("Control+Enter");
  await page.getByText("The message is 7 characters too long.").waitFor();
  t.equal((await page.locator("#compose-text").inputValue()).length, 10_007);
});

t.test("a deactivated account is told so, and its page asks for nothing more", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page, requests } = await openPage(t);
  await page.clock.install();
  await logIn(page, server.url, ann);
  await server.owner.delete(`/users/${ann.userId}`);
  await page.getByText("has been deactivated").waitFor();
  const before = requests.length;
  await page.clock.runFor(180_000);
  await page.evaluate(`fetch("/api/v1/server_settings").then(() => undefined)`);
  const asked = requests.slice(before).filter((path) => path.startsWith("/api/"));
  t.strictSame(asked, ["/api/v1/server_settings"]);
});

t.test("a deactivated organization says so, to those who are there and to those who come", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page, requests } = await openPage(t);
  await logIn(page, server.url, ann);
  await server.owner.post("/realm/deactivate");
  await page.getByText("This organization has been deactivated.").waitFor();
  await page.waitForLoadState("networkidle");
  t.notOk(requests.includes("/api/v1/events"));
  await page.reload();
  await page.getByText("This organization has been deactivated.").waitFor();
  await page.getByLabel("Email address").fill(ann.account?.email ?? "");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page
    .getByRole("alert")
    .getByText(/deactivated/)
    .waitFor();
  t.pass("and to those who log in");
});

t.test("a network that is lost in the middle of each action costs nothing that was typed", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await ben.say("general", "lunch", "Who is in for soup?");
  const { page } = await openPage(t);
  const context = page.context();
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").waitFor();
  await write(page, "I am");
  const own = page.locator(".feed .message[data-id]", { hasText: "I am" });
  await own.waitFor();
  // Dialogs open without a network once their file is there.
  await until(page, `performance.getEntriesByType("resource").some(({ name }) => name.includes("/later-"))`);
  await page.keyboard.press("Escape");

  // Edit, move and delete wait for an answer; the reaction and the star are shown at once.
  await page.keyboard.press("e");
  await page.getByLabel("Text of the message").fill("I am, promised");
  await context.setOffline(true);
  await page.getByText("No connection.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText("Your change was not saved").waitFor();
  t.equal(await page.getByLabel("Text of the message").inputValue(), "I am, promised");
  await page.keyboard.press("Escape");
  await page.keyboard.press("+");
  await page.keyboard.press("Control+s");
  await page.locator(".reaction.mine").waitFor();
  await page.getByText("The reaction was not added").waitFor();
  await page.getByText("The star was not changed").waitFor();
  t.equal(await page.locator(".reaction.mine").count(), 0, "the reaction is taken back");
  t.equal(await page.locator(".star.on").count(), 0, "so is the star");
  await page.keyboard.press("m");
  const dialog = page.getByRole("dialog", { name: "Move messages" });
  await dialog.getByRole("textbox", { name: "Topic" }).fill("supper");
  await dialog.getByRole("button", { name: "Move" }).click();
  await dialog.getByText("Nothing was moved").waitFor();
  t.equal(await dialog.getByRole("textbox", { name: "Topic" }).inputValue(), "supper");

  await context.setOffline(false);
  await page.getByText("No connection.").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Move" }).click();
  await page.getByText("Moved to #general > supper.").waitFor();
  // The page follows the event of the move, which may come after the answer.
  await until(page, `location.hash.includes("/topic/supper")`);
  await own.waitFor();
  t.strictSame((await textsOf(page)).slice(0, 2), ["Who is in for soup?", "I am"]);
});

t.test("files that are too large or refused say so, stay in the list, and can be sent again", { skip }, async (t) => {
  const server = await startTestServer(t, { environment: { MAX_FILE_UPLOAD_SIZE_MIB: "1" } });
  const ann = await server.person("Ann Ames");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("See ");
  const choose = (name: string, size: number) =>
    page.getByLabel("Files to upload").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.alloc(size, 97) });
  await choose("large.txt", 1024 * 1024 + 1);
  await page.getByText("The file is larger than 1 MiB").waitFor();
  await page.getByLabel("Remove large.txt").press("Enter");
  await until(page, "document.activeElement.id === 'compose-text'");
  await page.route("**/user_uploads", (route) => route.abort(), { times: 1 });
  await choose("notes.txt", 10);
  await page.getByText("The file was not uploaded: The network failed.").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "See ");
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await until(page, "document.activeElement.id === 'compose-text'");
  await until(page, `document.getElementById("compose-text").value.includes("[notes.txt](/user_uploads/")`);
  await page.route("**/user_uploads", (route) =>
    route.fulfill({
      status: 400,
      json: { result: "error", msg: "Upload would exceed your quota.", code: "REALM_UPLOAD_QUOTA" },
    }),
  );
  await choose("more.txt", 10);
  await page.getByText("The file was not uploaded: Upload would exceed your quota.").waitFor();
  t.match(await page.locator("#compose-text").inputValue(), /^See\s+\[notes\.txt\]/);
});

t.test("a name that is taken is refused next to the form, and what was typed stays", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#channels/new");
  await page.getByLabel("Name", { exact: true }).fill("General");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("alert").getByText("The channel was not created").waitFor();
  t.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "General");
});

t.test("a page that is not the server's version any more says so, and offers to load it", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const PORT = String(await freePort());
  const first = await startTestServer(t, { dataDir, environment: { PORT } });
  const ann = await first.person("Ann Ames");
  const { page } = await openPage(t);
  await logIn(page, first.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").fill("half a sentence");
  await first.stop();
  await page.getByText("No connection.").waitFor();
  const webFolder = join(temporaryFolder(t), "dist");
  cpSync(await ensureWebBuilt(), webFolder, { recursive: true });
  const index = readFileSync(join(webFolder, "index.html"), "utf8");
  const [script = ""] = /page-[A-Z0-9]{8}\.js/.exec(index) ?? [];
  for (const ending of ["", ".gz", ".br"]) rmSync(join(webFolder, `index.html${ending}`));
  writeFileSync(join(webFolder, "index.html"), index.replaceAll(script, "page-OTHER000.js"));
  cpSync(join(webFolder, "assets", script), join(webFolder, "assets", "page-OTHER000.js"));
  await startTestServer(t, { dataDir, environment: { PORT }, webFolder });
  await page.getByText("The server has another version of this page.").waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  await until(page, `document.querySelector("script[type=module]")?.src.endsWith("page-OTHER000.js")`);
  await page.locator("#compose-text").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "half a sentence");
  t.equal(await page.getByText("another version").count(), 0);
});

t.test("a part whose code did not come is loaded again by a button", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann);
  await page.route(/\/assets\/panels-/, (route) => route.abort());
  await page.evaluate(`location.hash = "#settings/profile"`);
  const problem = page.getByRole("alert").filter({ hasText: "This part could not be loaded." });
  await problem.waitFor();
  await page.unroute(/\/assets\/panels-/);
  await problem.getByRole("button", { name: "Try again" }).click();
  await page.locator(".panel-body h2").first().waitFor();
  t.equal(await problem.count(), 0);
});
