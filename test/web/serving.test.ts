/**
 * How the page is served (docs/web.md): from a small folder like the one that packages/web/build.mjs makes, and once as
 * it is really built.
 */
import { mkdirSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { BadWebPage, loadWebPage } from "../../src/edge/pages/web-page.ts";
import { exchange } from "../support/http.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { ensureWebBuilt } from "../support/web-build.ts";

const html = `<!doctype html><title>Tea</title><script type="module" src="/assets/page-AAAA.js"></script>${" ".repeat(200)}`;
const script = `document.title = "${"x".repeat(500)}";`;

function folderOf(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "assets"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function smallPage(t: Test): string {
  return folderOf(t, {
    "index.html": html,
    "index.html.br": brotliCompressSync(html),
    "index.html.gz": gzipSync(html),
    "assets/page-AAAA.js": script,
    "assets/page-AAAA.js.gz": gzipSync(script),
    "assets/page-AAAA.js.map": "{}",
    "assets/letters-BBBB.woff2": "letters",
    "assets/..secret": "x",
    "built-from": "somewhere",
  });
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** fetch would decode the body. */
function get(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

const webFolder = smallPage(t);
const server = await startTestServer(t, { webFolder });
const { url } = server;

t.test("the page is revalidated, and its policy lets only its own files run", async (t) => {
  const { status, headers, body } = await get(`${url}/`);
  t.equal(status, 200);
  t.equal(String(body), html);
  t.equal(headers["content-type"], "text/html; charset=utf-8");
  t.equal(headers["cache-control"], "no-cache");
  const policy = String(headers["content-security-policy"]);
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
  ];
  for (const rule of [...rules, "frame-ancestors 'none'", "base-uri 'none'"]) {
    t.ok(policy.split("; ").includes(rule), rule);
  }
  t.notMatch(policy, /unsafe|\*|https?:/);
  t.equal(headers["x-content-type-options"], "nosniff");
  t.equal(headers["referrer-policy"], "same-origin");
  t.equal(headers["cross-origin-opener-policy"], "same-origin");
  const again = await get(`${url}/`, { "If-None-Match": String(headers["etag"]) });
  t.equal(again.status, 304);
  t.equal(again.body.length, 0);
  t.equal((await get(`${url}/?utm=1`)).status, 200);
});

t.test("a browser gets the coding that it likes most: Brotli, gzip or none", async (t) => {
  const sent = async (path: string, accepted: string) => {
    const { headers, body } = await get(`${url}${path}`, { "Accept-Encoding": accepted });
    t.equal(headers["vary"], "Accept-Encoding");
    return [headers["content-encoding"], body] as const;
  };
  const [, compressed] = await sent("/", "br");
  t.equal(String(brotliDecompressSync(compressed)), html);
  const [, zipped] = await sent("/", "gzip");
  t.equal(String(gunzipSync(zipped)), html);
  const chosen: Readonly<Record<string, string | undefined>> = {
    "gzip, deflate, br, zstd": "br",
    "GZIP , BR ; q=1.0": "br",
    "gzip, br;q=0": "gzip",
    "gzip;q=1, br;q=0.5": "gzip",
    "br;q=0.001": "br",
    "br;q=0.000, gzip;q=0": undefined,
    "br;q=nonsense": undefined,
    identity: undefined,
    "": undefined,
    "brr, xgzip": undefined,
  };
  for (const [accepted, coding] of Object.entries(chosen)) t.equal((await sent("/", accepted))[0], coding, accepted);
  t.equal((await sent("/assets/page-AAAA.js", "br"))[0], undefined, "the build made no such copy");
  t.equal((await sent("/assets/page-AAAA.js", "br, gzip"))[0], "gzip");
});

t.test("assets are kept for ever, because their names follow their content", async (t) => {
  const { status, headers, body } = await get(`${url}/assets/page-AAAA.js`);
  t.equal(status, 200);
  t.equal(String(body), script);
  t.equal(headers["content-type"], "text/javascript; charset=utf-8");
  t.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  t.equal(headers["x-content-type-options"], "nosniff");
  t.equal((await get(`${url}/assets/page-AAAA.js`, { "If-None-Match": String(headers["etag"]) })).status, 304);
  t.equal((await get(`${url}/assets/letters-BBBB.woff2`)).headers["content-type"], "font/woff2");
  const head = await get(`${url}/assets/page-AAAA.js`, {}, "HEAD");
  t.equal(head.status, 200);
  t.equal(head.headers["content-length"], String(script.length));
  t.equal(head.body.length, 0);
});

t.test("only the files of the build are served, as they were at the start", async (t) => {
  for (const path of [
    "/assets/",
    "/assets/missing.js",
    "/assets/page-AAAA.js.gz",
    "/assets/page-AAAA.js.map",
    "/assets/..secret",
    "/assets/../index.html",
    "/assets/%2e%2e/index.html",
    "/assets/..%2findex.html",
    "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/assets//etc/passwd",
    "/assets/page-AAAA.js%00",
    "/assets/__proto__",
    "/index.html",
    "/built-from",
    "//",
    "/no-such-page",
  ]) {
    // fetch and Node would resolve the dots.
    const answer = await exchange(url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    t.equal(answer?.status, 404, path);
  }
  t.equal((await get(`${url}/`, {}, "POST")).status, 405);
  t.equal((await get(`${url}/no-such-page`, {}, "POST")).status, 404);
  unlinkSync(join(webFolder, "index.html"));
  writeFileSync(join(webFolder, "assets/page-AAAA.js"), "another build");
  t.equal(String((await get(`${url}/`)).body), html);
  t.equal(String((await get(`${url}/assets/page-AAAA.js`)).body), script);
});

t.test("a deactivated organization has the page, so that it can say so", async (t) => {
  const own = await startTestServer(t, { webFolder: smallPage(t) });
  t.equal((await own.owner.post("/realm/deactivate")).status, 200);
  t.equal((await get(`${own.url}/`)).status, 200);
  t.equal((await get(`${own.url}/assets/page-AAAA.js`)).status, 200);
});

t.test("a server without a build says so, and its API works", async (t) => {
  const bare = await startTestServer(t, { webFolder: temporaryFolder(t) });
  const { status, body, headers } = await get(`${bare.url}/`);
  t.equal(status, 404);
  t.match(String(body), /The page is not built.*npm run build/s);
  t.match(headers["content-type"], "text/html");
  t.equal((await get(`${bare.url}/assets/page-AAAA.js`)).status, 404);
  t.equal((await bare.owner.get("/users/me")).status, 200);
});

t.test("[S3] web_files_max, web_bytes_max: a folder with more than that is no page", (t) => {
  const folder = smallPage(t);
  const big = join(folder, "assets", "big-CCCC.js");
  writeFileSync(big, "");
  truncateSync(big, limits.web_bytes_max - 5000);
  t.ok(loadWebPage(folder));
  truncateSync(big, limits.web_bytes_max);
  t.throws(() => loadWebPage(folder), BadWebPage);
  const many = folderOf(t, { "index.html": html });
  for (let count = 1; count < limits.web_files_max; count++) writeFileSync(join(many, "assets", `${count}.js`), "");
  t.ok(loadWebPage(many), "at the bound");
  writeFileSync(join(many, "assets", "more.js"), "");
  t.throws(() => loadWebPage(many), BadWebPage);
  const half = temporaryFolder(t);
  writeFileSync(join(half, "index.html"), html);
  t.throws(() => loadWebPage(half), /cannot be read.*assets.*build it again/, "a build without its assets");
  t.end();
});

t.test("the page as it is built has its assets in every coding", async (t) => {
  const own = await startTestServer(t, { webFolder: await ensureWebBuilt() });
  const page = await (await fetch(own.url)).text();
  t.match(page, "<title>Colloquy</title>");
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
  t.ok(assets.length >= 3);
  for (const path of assets) {
    const plain = await (await fetch(`${own.url}${path}`, { headers: { "Accept-Encoding": "identity" } })).text();
    for (const coding of ["br", "gzip"]) {
      const asset = await fetch(`${own.url}${path}`, { headers: { "Accept-Encoding": coding } });
      t.equal(asset.headers.get("Content-Encoding"), coding, path);
      t.equal(await asset.text(), plain);
    }
  }
});
