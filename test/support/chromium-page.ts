/** The page in the system's Chromium: contexts that are logged in, and what the browser complains about. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { browserObstacle, chromiumProgram } from "./browser.ts";
import type { Client } from "./client.ts";
import type { Teardown } from "./server.ts";
import { ensureWebBuilt } from "./web-build.ts";

/** Servers read the page at their start, so it is built before a test starts one. */
await ensureWebBuilt();

/** The password of the accounts that tests create. */
const password = "correct horse battery";

/**
 * How long a test waits for the page. Nothing is judged by it: what never comes fails. It is longer than the client's
 * longest pause between two attempts to connect, and than what a busy machine takes for a page.
 */
const patienceMs = 120_000;

function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumProgram,
    timeout: patienceMs,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--host-resolver-rules=MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of scripts, and what the browser refused. */
  readonly complaints: string[];
  /** Paths of all requests of the page. */
  readonly requests: string[];
}

export interface Chromium {
  /** Why a test that needs a browser is skipped; false: it is not. */
  readonly skip: string | false;
  /** A context of its own, as another browser would be. It ends with the test. */
  openPage(t: Teardown, options?: BrowserContextOptions): Promise<OpenPage>;
}

/**
 * One browser for all tests of a file, because its start takes as long as most tests.
 * @param t the test of the file
 */
export function chromiumFor(t: Teardown): Chromium {
  let starting: Promise<Browser> | null = null;
  t.teardown(async () => (await starting)?.close());
  return {
    skip: browserObstacle() ?? false,
    async openPage(t, options = {}) {
      starting ??= launchChromium();
      const browser = await starting;
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      context.setDefaultTimeout(patienceMs);
      t.teardown(() => context.close());
      return watched(await context.newPage());
    },
  };
}

function watched(page: Page): OpenPage {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  page.on("websocket", (socket) => requests.push(new URL(socket.url()).pathname));
  return { page, complaints, requests };
}

/** @param fragment the place, such as `#inbox` */
export async function logIn(page: Page, url: string, person: Client, fragment = "#inbox"): Promise<void> {
  await page.goto(`${url}/${fragment}`);
  await page.getByLabel("Email address").fill(person.account?.email ?? "");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator(".app").waitFor();
}

/** Resolves when an expression is true in the page, whose policy forbids Playwright's own way to wait for one. */
export async function until(page: Page, expression: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while ((await page.evaluate(`Boolean(${expression})`)) !== true) {
    if (performance.now() > giveUpAt) throw new Error(`this did not become true: ${expression}`);
  }
}

/** Resolves when the page has the code that it loads after the first view, such as the box of an edit. */
export async function untilLater(page: Page): Promise<void> {
  const found = `performance.getEntriesByType("resource").find(({ name }) => /\\/later-[^/]*\\.js$/.test(name))`;
  await until(page, found);
  await page.evaluate(`import(${found}.name).then(() => undefined)`);
}

/** What the messages of the list say, in order. */
export async function textsOf(page: Page): Promise<string[]> {
  // The inner text of what is not in view may be empty (content-visibility).
  const texts = await page.locator(".feed .message[data-id] .rendered").allTextContents();
  return texts.map((text) => text.trim());
}

export async function write(page: Page, text: string): Promise<void> {
  await page.locator("#compose-text").fill(text);
  await page.keyboard.press("Control+Enter");
}
