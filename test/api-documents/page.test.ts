/**
 * The page of the API documents in a real browser: it shows every operation, asks for nothing else, and its policy
 * allows neither scripts nor requests.
 */
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import { browserObstacle, visit } from "../support/browser.ts";
import { startTestServer } from "../support/server.ts";

const skip = browserObstacle() ?? false;

t.test("[D255] the page works offline: one request, no script, every operation and event", { skip }, async (t) => {
  const { url } = await startTestServer(t);
  const page = await visit(t, `${url}/api/docs`);
  // Browsers ask every site for its icon by themselves.
  const requests = page.requests.filter((one) => !one.endsWith("/favicon.ico"));
  t.strictSame(requests, [`${url}/api/docs`], "nothing else is asked for");
  t.strictSame(page.complaints, [], "the browser has nothing to complain about");
  t.equal(await page.evaluate("document.scripts.length"), 0);
  const ids = (await page.evaluate("[...document.querySelectorAll('details')].map(({ id }) => id)")) as string[];
  // The same path with an address instead of an id is shown once.
  const hidden = new Set(["get-user-by-email", "update-user-by-email"]);
  const missing = endpoints.filter(({ operationId: id }) => !hidden.has(id) && !ids.includes(id));
  const operationIds = missing.map(({ operationId }) => operationId);
  t.strictSame(operationIds, []);
  t.ok(ids.includes("schema-MessageEvent"));
  t.equal(new Set(ids).size, ids.length, "each part has an address of its own");
  const lost = await page.evaluate(
    "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.getElementById(a.hash.slice(1))).length",
  );
  t.equal(lost, 0, "every link inside the page has a target");

  const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
  t.not(ground, "rgba(0, 0, 0, 0)", "the policy allows the page's own style");
  const folded = "document.querySelector('#send-message > div').checkVisibility()";
  t.equal(await page.evaluate(folded), false);
  await page.evaluate("document.querySelector('#send-message > summary').click()");
  t.equal(await page.evaluate(folded), true, "a click unfolds an operation");
  t.match(
    await page.evaluate("document.querySelector('#send-message').innerText"),
    /Parameters.*content.*Answer.*id.*Example.*curl.*content=Soup is/s,
  );
});

t.test("[D255] the page's policy allows neither scripts nor requests", { skip }, async (t) => {
  const { url } = await startTestServer(t);
  const page = await visit(t, `${url}/api/docs`);
  const script =
    "const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s)";
  await page.evaluate(script);
  t.equal(await page.evaluate("window.ran === undefined"), true);
  t.equal(await page.evaluate("fetch('/health').then(() => 'sent', () => 'blocked')"), "blocked");
  t.ok(page.complaints.length >= 2, "the browser says that both were blocked");
});
