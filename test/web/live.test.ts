/**
 * The operator's page in Chromium (docs/web.md, The operator's page): over TCP with the key, and through a tunnel to the
 * Unix socket. SCREENSHOTS names a folder that keeps what was seen.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { adminSocket } from "../../src/operate/admin/listener.ts";
import { chromiumFor } from "../support/chromium-page.ts";
import { realmOf } from "../support/conversation.ts";
import { freePort } from "../support/ports.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { commands } from "../support/runtime.ts";
import { startTestServer, type Teardown } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const screenshots = process.env["SCREENSHOTS"];

/** What `ssh -L port:/path/admin.sock host` is. */
async function tunnelTo(t: Teardown, dataDir: string): Promise<number> {
  const tunnel = createServer((near) => {
    const far = connect(adminSocket(dataDir));
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on("error", () => end.destroy());
  });
  await new Promise<void>((done) => tunnel.listen(0, "127.0.0.1", done));
  t.teardown(() => tunnel.close());
  return (tunnel.address() as { port: number }).port;
}

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** As if the person looked at another tab, or came back. */
async function setVisibility(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"))`);
}

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 390 },
  { colorScheme: "dark", width: 390 },
] as const;

t.test("it shows the last hour, and is for everybody: no serious barrier", { skip }, async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { dataDir, owner } = server;
  realmOf(server).dispatcher.send(commands.throwing());
  for (let sample = 0; sample < 60; sample++) {
    for (let post = 0; post < (sample * 7) % 5; post++) await owner.say("general", "load", "x");
    clock.advance(limits.live_sample_ms);
  }
  const port = await tunnelTo(t, dataDir);
  if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  for (const { colorScheme, width } of looks) {
    // The policy of the page would refuse the script that looks for barriers.
    const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true };
    const { page, complaints } = await openPage(t, options);
    await page.goto(`http://127.0.0.1:${port}/admin`);
    await page.locator(".letter").waitFor();
    t.strictSame(await seriousFindings(page), [], `${colorScheme}, ${width}`);
    t.ok(Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")) <= 0, `fits into ${width}`);
    const requests = page.getByRole("img", { name: /^Requests: now .*\/s, at most [\d.]+\/s in the last hour$/ });
    t.match(await requests.locator(".line").getAttribute("d"), /^M[\d.]+ [\d.]+(?:L[\d.]+ [\d.]+){10,}/);
    if (screenshots !== undefined) {
      await page.screenshot({ path: join(screenshots, `admin-${colorScheme}-${width}.png`), fullPage: true });
    }
    t.strictSame(complaints, []);
    await page.context().close();
  }
});

t.test("it retries and drops dead letters, and drops only after a second click", { skip }, async (t) => {
  const server = await startTestServer(t);
  const realm = realmOf(server);
  realm.dispatcher.send(commands.throwing());
  const port = await tunnelTo(t, server.dataDir);
  const { page, complaints } = await openPage(t);
  await page.goto(`http://localhost:${port}/admin`.replace("localhost", "127.0.0.1"));
  const letter = page.locator(".letter-what", { hasText: "realm.create for realm" });
  await letter.waitFor();
  await page.getByRole("button", { name: "Retry all" }).click();
  await page.getByText("1 due again.").waitFor();
  await letter.waitFor();
  await page.getByRole("button", { name: "Drop all" }).click();
  t.equal(realm.lmdb.count("deadLetters"), 1, "not yet");
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Drop all" }).click();
  await page.getByRole("button", { name: /^Drop \d for good$/ }).click();
  await page.getByText("None. Commands").waitFor();
  t.equal(realm.lmdb.count("deadLetters"), 0);
  t.strictSame(complaints, []);
});

t.test("on TCP it asks for the key, and forgets what it has at log-out", { skip }, async (t) => {
  const port = await freePort();
  const server = await startTestServer(t, { environment: { ADMIN_LISTEN: `127.0.0.1:${port}` } });
  const key = readFileSync(join(server.dataDir, "admin.key"), "utf8").trim();
  const { page } = await openPage(t, { bypassCSP: true });
  await page.goto(`http://127.0.0.1:${port}/admin`);
  await page.getByLabel("Key").waitFor();
  t.strictSame(await seriousFindings(page), []);
  if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "admin-log-in.png") });
  await page.getByLabel("Key").fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("this is not the key in admin.key").waitFor();
  await page.getByLabel("Key").fill(key);
  await page.keyboard.press("Enter");
  await page.locator(".tile").first().waitFor();
  t.notOk(page.url().includes(key));
  t.notOk(String(await page.evaluate("JSON.stringify({ ...localStorage }) + document.cookie")).includes(key));
  await page.reload();
  await page.locator(".tile").first().waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Key").waitFor();
  t.strictSame(await page.evaluate("Object.keys(localStorage)"), []);
  await page.reload();
  await page.getByLabel("Key").waitFor();
});

t.test("it rests while it is hidden, and says so when the server is gone", { skip }, async (t) => {
  const { server, clock } = await startClockedServer(t);
  const port = await tunnelTo(t, server.dataDir);
  const { page, requests } = await openPage(t);
  const asked = () => requests.filter((path) => path === "/admin/live").length;
  await page.goto(`http://127.0.0.1:${port}/admin`);
  await page.locator(".tile").first().waitFor();
  await setVisibility(page, "hidden");
  await page.getByText("Paused while this tab is hidden.").waitFor();
  t.match(await page.title(), /^Paused: /);
  const before = asked();
  clock.advance(3 * limits.live_sample_ms);
  t.equal(asked(), before, "it rests");
  const next = page.waitForResponse((response) => new URL(response.url()).pathname === "/admin/live");
  await setVisibility(page, "visible");
  const { at } = (await (await next).json()) as { readonly at: readonly number[] };
  t.equal(at.length, 3, "what it missed comes with one request");
  await page.getByText("Paused while this tab is hidden.").waitFor({ state: "detached" });
  await server.stop();
  await setVisibility(page, "visible");
  await page.getByText("What you see is older.").waitFor();
  await page.locator(".tile").first().waitFor();
});
