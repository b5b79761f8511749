/** The first run as the first person sees it (D285). */
import t from "tap";
import { chromiumFor } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test("[D285] the first person sets the organization up, and writes in it", { skip }, async (t) => {
  const server = await startTestServer(t);
  const secret = server.realm.view.row("setup", "owner")?.secret ?? "";
  const { page, complaints } = await openPage(t);
  await page.goto(server.url);
  await page.getByText("This organization is not set up yet.").waitFor();
  t.equal(await page.getByLabel("Password").count(), 0, "no password is asked for that nobody has chosen");

  await page.goto(`${server.url}/setup/${secret}`);
  await page.getByLabel("Name of the organization").fill("Acme");
  await page.getByLabel("Your name").fill("Ann Ames");
  await page.getByLabel("Your email address").fill("ann@example.com");
  await page.getByLabel("Password").fill("correct horse");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { name: "welcome" }).waitFor();
  await page.getByText("Welcome to Acme").first().waitFor();
  for (const name of ["announcements", "general", "projects", "social"]) {
    await page.getByRole("link", { name, exact: true }).first().waitFor();
  }

  const box = page.getByRole("textbox", { name: /Message/ });
  await box.fill("Hello");
  await box.press("Enter");
  await page.locator(".feed").getByText("Hello", { exact: true }).waitFor();
  // The hint beside the button changes what Enter does.
  await page.getByRole("button", { name: "Enter sends", exact: true }).click();
  await page.getByRole("button", { name: "Ctrl Enter sends" }).waitFor();
  await box.fill("one");
  await box.press("Enter");
  t.equal(await box.inputValue(), "one\n");
  await box.fill("");

  await page.goto(`${server.url}/setup/`);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  t.strictSame(complaints, []);
});
