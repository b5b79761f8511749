/** Lists of many people: whoever is not among the first is found by name. */
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test("[web.md, Administration] a member of a channel is found by name, and removed", { skip }, async (t) => {
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
