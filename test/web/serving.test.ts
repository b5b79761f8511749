/** The server serves the page and its assets, with a policy of their own, compressed and cacheable. */
import t from "tap";
import { startTestServer } from "../support/server.ts";
import { ensureWebBuilt } from "../support/web-build.ts";

t.test(
  "[web.md, What it relies on] the page is served with its policy, and its assets are kept for ever",
  async (t) => {
    await ensureWebBuilt();
    const { url } = await startTestServer(t);
    const page = await fetch(url);
    t.equal(page.status, 200);
    t.match(page.headers.get("Content-Type"), "text/html");
    t.match(page.headers.get("Content-Security-Policy"), "script-src 'self'; style-src 'self'");
    t.equal(page.headers.get("Cache-Control"), "no-cache", "each visit asks for it again");
    for (const coding of ["br", "gzip"]) {
      const answer = await fetch(url, { headers: { "Accept-Encoding": coding } });
      t.equal(answer.headers.get("Content-Encoding"), coding);
      t.match(await answer.text(), "<title>Colloquy</title>");
    }
    const etag = page.headers.get("ETag") ?? "";
    t.equal((await fetch(url, { headers: { "If-None-Match": etag } })).status, 304);
    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
    t.ok(assets.length >= 3);
    for (const path of assets) {
      const asset = await fetch(`${url}${path}`);
      t.equal(asset.status, 200, path);
      t.match(asset.headers.get("Cache-Control"), "immutable");
      t.equal(asset.headers.get("X-Content-Type-Options"), "nosniff");
      const plain = await fetch(`${url}${path}`, { headers: { "Accept-Encoding": "identity" } });
      t.equal(plain.headers.get("Content-Encoding"), null);
      t.equal(await plain.text(), await asset.text());
    }
  },
);

t.test("[web.md, What it relies on] only the files of the build are served", async (t) => {
  await ensureWebBuilt();
  const { url } = await startTestServer(t);
  for (const path of [
    "/assets/",
    "/assets/no-such.js",
    "/assets/..%2fbuilt-from",
    "/assets/page.js.gz",
    "/no-such-page",
  ]) {
    t.equal((await fetch(`${url}${path}`)).status, 404, path);
  }
  t.equal((await fetch(url, { method: "POST" })).status, 405);
  t.equal((await fetch(`${url}/no-such-page`, { method: "POST" })).status, 404);
});
