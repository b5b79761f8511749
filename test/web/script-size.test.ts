/** How much script the first view loads, as the build made it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { ensureWebBuilt } from "../support/web-build.ts";

/** The promise of docs/web.md, Budgets. */
const scriptGzipBytesMax = 60 * 1024;

t.test("the script of the first view is small, and every asset is there compressed", async (t) => {
  const folder = await ensureWebBuilt();
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const names = [...html.matchAll(/\/assets\/([\w.-]+\.js)/g)].map((match) => match[1] ?? "");
  t.ok(names.length > 0);
  const bytes = names.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(folder, "assets", name)), { level: 9 }).length,
    0,
  );
  t.ok(bytes <= scriptGzipBytesMax, `${bytes} bytes`);
  t.notMatch(html, /<script(?![^>]* src=)|<style| style=| on\w+=/i, "no inline script or style");
  const assets = readdirSync(join(folder, "assets"));
  for (const name of assets.filter((one) => /\.(?:js|css|svg)$/.test(one))) {
    t.match(name, /-[A-Z0-9]{8}\.\w+$/, "the name follows the content");
    t.ok(assets.includes(`${name}.br`) && assets.includes(`${name}.gz`), name);
  }
});
