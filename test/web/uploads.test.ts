/**
 * Uploaded files share the page's origin, and the page has a session there. Whatever a file holds and however it is
 * opened, no script of it runs, and none reaches the session.
 */
import type { BrowserContext } from "playwright-core";
import t from "tap";
import { uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { multipart, multipartType } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** Says that it ran, and what it learns of the session of whoever opened it. */
const script = (name: string) =>
  `console.log("ran ${name}");fetch("/api/v1/session",{credentials:"include"})` +
  `.then(a=>console.log("session ${name} "+a.status),()=>console.log("session ${name} refused"))`;
const document = (name: string) => `<!doctype html><title>x</title><script>${script(name)}</script>`;
const xhtml = '<html xmlns="http://www.w3.org/1999/xhtml">';

/** A PDF whose script runs when a viewer opens it. */
const pdf = (name: string) =>
  `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${script(name)})>>>>endobj\n` +
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>";

/** By name: what the uploader says it is, and its content. */
const files: Readonly<Record<string, readonly [contentType: string, content: (name: string) => string]>> = {
  "page.html": ["text/html", document],
  "page.xhtml": ["application/xhtml+xml", (name) => `${xhtml}<script>${script(name)}</script></html>`],
  "picture.svg": [
    "image/svg+xml",
    (name) => `<svg xmlns="http://www.w3.org/2000/svg"><script>${script(name)}</script></svg>`,
  ],
  "feed.xml": ["text/xml", (name) => `<?xml version="1.0"?>${xhtml}<script>${script(name)}</script></html>`],
  "paper.pdf": ["application/pdf", pdf],
  "program.js": ["text/javascript", script],
  "program.mjs": ["text/javascript", script],
  "archive.mhtml": ["multipart/related", document],
  "no-extension": ["text/html", document],
  "notes.txt": ["text/html", document],
  "script.txt": ["text/javascript", script],
  "both.gif": ["text/javascript", (name) => `GIF89a/*${"\0".repeat(20)}*/=1;${script(name)}`],
  "both.png": ["text/html", (name) => `\x89PNG\r\n\x1a\n${document(name)}`],
  "both.mp3": ["text/html", document],
};

async function upload(client: Client, name: string): Promise<string> {
  const [contentType, content] = files[name] ?? ["", () => ""];
  const bytes = Buffer.from(content(name), "latin1");
  const body = multipart([{ bytes, filename: `"${name}"`, contentType, name: "filename" }]);
  const { body: answer } = await client.send("POST", "/user_uploads", body, { "Content-Type": multipartType });
  return answer.url;
}

/** What scripts of the browser say. */
function watch(context: BrowserContext) {
  const said: string[] = [];
  context.on("console", (message) => {
    if (/^(?:ran|session) /.test(message.text())) said.push(message.text());
  });
  return {
    said,
    async hears(line: RegExp): Promise<string> {
      for (;;) {
        const heard = said.find((text) => line.test(text));
        if (heard !== undefined) return heard;
        await context.waitForEvent("console");
      }
    },
  };
}

/** Pages of this origin without the page's policy. */
const barePages: Readonly<Record<string, readonly [policy: string, html: string]>> = {
  host: ["", "<!doctype html><body>"],
  sandboxed: ["sandbox allow-scripts", document("sandboxed")],
  document: ["", document("bare")],
};

async function addBarePages(context: BrowserContext): Promise<void> {
  await context.route("**/bare/*", (route) => {
    const [policy, body] = barePages[new URL(route.request().url()).pathname.slice("/bare/".length)] ?? ["", ""];
    return route.fulfill({ contentType: "text/html", headers: { "Content-Security-Policy": policy }, body });
  });
}

/** Opens each address in each way that a page has. */
const embedAll = (addresses: readonly string[]) => `(async (addresses) => {
  const add = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields));
  for (const address of addresses) {
    for (const tag of ["img", "iframe", "embed", "script", "video"]) add(tag, { src: address });
    add("object", { data: address });
    add("script", { type: "module", src: address });
    add("link", { rel: "stylesheet", href: address });
    new Worker(address);
    await navigator.serviceWorker.register(address).then(() => console.log("ran as a service worker"), () => {});
  }
})(${JSON.stringify(addresses)})`;

const embed = (address: string) => `new Promise((resolve) => {
  const frame = Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(address)}, onload: resolve });
  document.body.append(frame);
}).then(() => undefined)`;

/** One second of silence. */
function silence(): Buffer {
  const rateHz = 8000;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + rateHz, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rateHz, 24);
  head.writeUInt32LE(rateHz, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(rateHz, 40);
  return Buffer.concat([head, Buffer.alloc(rateHz, 128)]);
}

t.test("[D181, D256] a sound that is opened by itself plays", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { url: path } = await uploaded(ann, silence(), '"tone.wav"');
  const { page } = await openPage(t);
  await logIn(page, server.url, ann);
  await page.goto(`${server.url}${path}`);
  const length = `new Promise((resolve, reject) => {
    const player = document.querySelector("video, audio");
    if (player.readyState > 0) resolve(player.duration);
    player.onloadedmetadata = () => resolve(player.duration);
    player.onerror = () => reject(new Error("the player has no sound"));
    if (player.error !== null) player.onerror();
  })`;
  t.equal(await page.evaluate(length), 1);
});

t.test("[D181, D256] no uploaded file runs a script where the page has its session", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const addresses: string[] = [];
  for (const name of Object.keys(files)) addresses.push(`${server.url}${encodeURI(await upload(ann, name))}`);
  const downloads = addresses.map((address) => address.replace("/user_uploads/", "/user_uploads/download/"));
  const { page } = await openPage(t);
  await logIn(page, server.url, ann);
  const context = page.context();
  await addBarePages(context);
  const { said, hears } = watch(context);
  const answers = new Map<string, string>();
  context.on("response", (response) => answers.set(response.url(), String(response.status())));

  const tab = await context.newPage();
  for (const address of [...addresses, ...downloads]) {
    // A download ends the navigation, and a player requests a part of the file.
    await tab.goto(address).catch(() => null);
    t.match(answers.get(address), /^20[06]$/, `opened ${address}`);
  }
  t.strictSame(said, [], "no script of a file that is opened by itself runs");

  answers.clear();
  await tab.goto(`${server.url}/bare/host`);
  await tab.evaluate(embedAll(addresses));
  // Those of the files had their turn when this one has run.
  await tab.evaluate(embed(`${server.url}/bare/sandboxed`));
  t.match(await hears(/^session sandboxed/), /refused|401/, "even a script in the sandbox would have no session");
  for (const address of addresses) t.ok(answers.has(address), `embedded ${address}`);
  t.strictSame(
    said.filter((line) => !line.includes("sandboxed")),
    [],
    "no script of a file that is part of a page runs",
  );

  await tab.goto(`${server.url}/bare/document`);
  t.equal(await hears(/^session bare/), "session bare 200", "a file that was served as a page would have the session");
});
