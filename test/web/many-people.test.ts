/** Lists of many people: whoever is not among the first is found by name. */
import t from "tap";
import { populate } from "../../bench/lib/populate.ts";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test("a member of a channel is found by name, and removed", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  for (let count = 1; count <= 10; count++) await server.person(`Member ${count}`);
  const zoe = await server.person("Zoé Zhang");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#channels/1");
  await page.getByLabel("Find members").fill("zoe");
  const lines = page.locator(".panel-body li", { has: page.getByRole("button", { name: "Remove", exact: true }) });
  await lines.filter({ hasText: "Member 1" }).first().waitFor({ state: "detached" });
  t.equal(await lines.count(), 1);
  await lines.getByRole("button", { name: "Remove", exact: true }).click();
  await lines.waitFor({ state: "detached" });
  const { body } = await server.owner.get("/streams/1/members");
  t.notOk(body.subscribers.includes(zoe.userId));
  t.ok(body.subscribers.includes(ann.userId));
});

/** The place of the focused person in the list; -1: no person has the focus. */
const focused = `[...document.querySelectorAll(".right-bar .person")].findIndex((row) => row.contains(document.activeElement))`;

t.test("the right bar counts whom it does not show, and shows them by keyboard", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  await populate(dataDir, 450);
  const server = await startTestServer(t, { dataDir });
  const ann = await server.person("Ann Ames");
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann);
  const people = page.locator(".right-bar .person");
  const hint = page.locator(".right-bar .hint");
  await people.nth(199).waitFor();
  const all = Number(await page.locator(".right-head .quiet").textContent());
  t.ok(all > 450);
  t.equal(await people.count(), 200);
  t.equal(await hint.textContent(), `And ${all - 200} more: find them by name, or show 200 more`);
  await page.getByRole("button", { name: "show 200 more" }).focus();
  await page.keyboard.press("Enter");
  await people.nth(399).waitFor();
  t.equal(await page.evaluate(focused), 200, "the first of those that were added");
  await page.getByRole("button", { name: `show ${all - 400} more` }).focus();
  await page.keyboard.press("Space");
  await hint.waitFor({ state: "detached" });
  t.strictSame([await people.count(), await page.evaluate(focused)], [all, 400]);
  await page.getByLabel("Find people").fill("bench person");
  await hint.filter({ hasText: "And 250 more" }).waitFor();
  t.equal(await people.count(), 200);
  const at = await page.evaluate(`(() => {
      document.querySelector(".right-bar .hint button").click();
      return new Promise((done) => setTimeout(() => done(${focused})));
    })()`);
  t.equal(at, 200, "before a frame is drawn, so that no key goes astray");
  await page.getByLabel("Find people").fill("bench person 449");
  await hint.waitFor({ state: "detached" });
  t.equal(await people.count(), 1);
  t.strictSame(complaints, []);
});
