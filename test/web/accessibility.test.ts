/** What the page says aloud, what moves on it, and what it fetches before somebody asks. */
import type { Page } from "playwright-core";
import t from "tap";
import { chromiumFor, logIn, textsOf, until } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const topicOf = (name: string) => `#narrow/channel/1-general/topic/${name}`;
const lunch = topicOf("lunch");

async function furnish() {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  for (let at = 0; at < 30; at++) await ben.say("general", "lunch", `Soup ${at}\n\nwith bread`);
  await ann.post("/mark_topic_as_read", { stream_id: 1, topic_name: "lunch" });
  return { server, ann, ben };
}

let furnishing: ReturnType<typeof furnish> | null = null;
/** One server for all tests of the file. */
function house() {
  furnishing ??= furnish();
  return furnishing;
}

const row = (id: number) => `.feed .message[data-id="${id}"]`;
const isThere = (selector: string) => `document.querySelector(${JSON.stringify(selector)}) !== null`;
const dialogOf = (title: string) => `dialog[open][aria-label=${JSON.stringify(title)}]`;

t.test("a live region says each new message of the visible list once, and no other", { skip }, async (t) => {
  const { server, ann, ben } = await house();
  await ben.say("general", "soup", "An old one");
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, topicOf("soup"));
  await page.getByText("An old one").first().waitFor();
  const region = page.getByRole("log", { name: "New messages" });
  t.equal(await region.getAttribute("aria-live"), "polite");
  // What was said is what was added, also if it is dropped later.
  await page.evaluate(`
      window.said = [];
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const one of addedNodes) window.said.push(one.textContent);
      }).observe(document.querySelector("[role=log]"), { childList: true, subtree: true, characterData: true });
    `);
  const isSaid = (text: string) => until(page, `window.said.includes(${JSON.stringify(text)})`);
  await ben.say("general", "soup", "It is **ready**");
  await isSaid("Ben Bright: It is ready");
  await ben.say("general", "elsewhere", "Not here");
  await ann.say("general", "soup", "My own");
  await ben.say("general", "soup", "It is **ready**");
  const last = await ben.say("general", "soup", "It gets cold");
  await isSaid("Ben Bright: It gets cold");
  await server.owner.delete(`/messages/${last}`);
  await page.locator(row(last)).waitFor({ state: "detached" });
  await Promise.all(["one", "two", "three"].map((text) => ben.say("general", "soup", text)));
  await ben.say("general", "soup", "the end");
  await isSaid("Ben Bright: the end");
  const said = (await page.evaluate("window.said")) as string[];
  t.strictSame(
    said.slice(0, 3),
    ["It is ready", "It is ready", "It gets cold"].map((text) => `Ben Bright: ${text}`),
  );
  t.strictSame(
    said.slice(3).sort(),
    ["one", "the end", "three", "two"].map((text) => `Ben Bright: ${text}`),
  );
  await page.evaluate(`location.hash = ${JSON.stringify(topicOf("elsewhere"))}`);
  await page.locator(".feed .rendered", { hasText: "Not here" }).waitFor();
  t.equal(await page.evaluate("window.said.length"), said.length, "opening a list says nothing");
  t.strictSame(complaints, []);
});

/** Notes what begins to move; without the page's help, because the browser says it. */
const watchMotion = `
  window.moved = [];
  for (const name of ["transitionrun", "animationstart"]) {
    document.addEventListener(name, (event) => window.moved.push(name + " " + event.target.className), true);
  }
`;

/** What would move, by its style. */
const movable = `[...document.querySelectorAll("*")].flatMap((element) =>
  [null, "::before", "::after"].flatMap((pseudo) => {
    const style = getComputedStyle(element, pseudo);
    const lasts = (text) => text.split(",").some((one) => parseFloat(one) > 0);
    const isMoving = lasts(style.transitionDuration) || (style.animationName !== "none" && lasts(style.animationDuration));
    return isMoving || style.scrollBehavior === "smooth" ? [element.className + (pseudo ?? "")] : [];
  }))`;

t.test("nothing moves for a person who prefers reduced motion, and scrolling is at once", { skip }, async (t) => {
  const { server, ann } = await house();
  for (const [reducedMotion, width] of [
    ["no-preference", 390],
    ["reduce", 390],
    ["reduce", 1280],
  ] as const) {
    const name = `${reducedMotion} ${width}`;
    const { page } = await openPage(t, { reducedMotion, viewport: { width, height: 800 } });
    await logIn(page, server.url, ann, lunch);
    await page.locator(".feed .message").first().waitFor();
    await page.evaluate(watchMotion);
    if (width < 760) await page.getByRole("button", { name: "Conversations", exact: true }).click();
    await page.locator(".left-bar .row").first().waitFor();
    if (reducedMotion === "no-preference") {
      await until(page, "window.moved.length > 0");
      continue;
    }
    const found: unknown[] = [await page.evaluate(movable)];
    if (width < 760) await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.locator(dialogOf("Keyboard shortcuts")).waitFor();
    found.push(await page.evaluate(movable));
    await page.keyboard.press("Escape");
    const jumps = await page.evaluate(`(() => {
        const feed = document.querySelector(".feed");
        const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        feed.scrollTop = feed.scrollHeight;
        const before = feed.scrollTop;
        press("K");
        const after = feed.scrollTop;
        press("J");
        return [before - after > feed.clientHeight / 2, Math.abs(feed.scrollTop - before) < 60];
      })()`);
    t.strictSame(jumps, [true, true], `${name}: the place is reached within the key press`);
    await page.evaluate(`location.hash = "#settings/preferences"`);
    await page.locator(".panel-body .setting").first().waitFor();
    found.push(await page.evaluate(movable));
    t.strictSame(found, [[], [], []], name);
    const state = await page.evaluate("[window.moved, document.getAnimations().length]");
    t.strictSame(state, [[], 0], name);
  }
});

interface Asked {
  readonly ref: unknown;
  readonly num_before: number;
  readonly num_after: number;
  readonly narrow: unknown;
  isAnswered?: true;
}

const nextFrame = (page: Page) => page.evaluate("new Promise(requestAnimationFrame)");

async function framesUntil(page: Page, isTrue: () => boolean): Promise<void> {
  for (let frame = 0; frame < 1_000 && !isTrue(); frame++) await nextFrame(page);
  if (!isTrue()) throw new Error(`this did not become true: ${isTrue}`);
}

t.test("a hovered topic brings up to 100 messages, and opening it asks for none", { skip }, async (t) => {
  const { server, ann, ben } = await house();
  const fill = (topic: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => ben.say("general", topic, `Line ${at}`)));
  for (const topic of ["read", "partly"]) {
    await fill(topic, 120);
    await ann.post("/mark_topic_as_read", { stream_id: 1, topic_name: topic });
  }
  await fill("partly", 30);
  await fill("unread", 120);
  const { page, complaints } = await openPage(t);
  const asked: Asked[] = [];
  let usesSocket = false;
  page.on("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => {
      const { type, method, path, ref, params } = JSON.parse(String(payload));
      if (type === "call") usesSocket = true;
      if (type === "call" && method === "GET" && path === "/messages") asked.push({ ref, ...params });
    });
    socket.on("framereceived", ({ payload }) => {
      const { ref } = JSON.parse(String(payload));
      for (const one of asked) if (one.ref === ref) one.isAnswered = true;
    });
  });
  await logIn(page, server.url, ann, lunch);
  await page.locator(".feed .message").first().waitFor();
  await until(page, isThere('.left-bar a.topic[href*="/topic/unread/"]'));
  // Until then the page asks by HTTP. Its first request by the socket says that it is there.
  while (!usesSocket) await page.waitForTimeout(20);
  for (const [topic, shown, lastShown] of [
    ["read", 100, true],
    ["partly", 79, true],
    ["unread", 81, false],
  ] as const) {
    const requests = () => asked.filter(({ narrow }) => new RegExp(`\\b${topic}\\b`).test(JSON.stringify(narrow)));
    const link = page.locator(`.left-bar a.topic[href*="/topic/${topic}/"]`);
    await link.hover();
    await framesUntil(page, () => requests()[0]?.isAnswered === true);
    const { num_before: before, num_after: after } = requests()[0] ?? { num_before: 0, num_after: 0 };
    t.equal(Number(before) + Number(after), topic === "read" ? 100 : 99, `${topic}: besides the first unread one`);
    await link.click();
    await page.locator(".feed .message[data-id]").first().waitFor();
    await until(page, `location.hash.includes("/topic/${topic}/")`);
    // Whatever the opening would ask for, it would ask for within some frames.
    for (let frame = 0; frame < 10; frame++) await nextFrame(page);
    const texts = await textsOf(page);
    t.equal(texts.length, shown, topic);
    t.equal(requests().length, 1, `${topic}: opening asked for nothing`);
    t.equal(await page.getByText("Loading newer messages").count(), lastShown ? 0 : 1);
    await page.mouse.move(640, 400);
    await page.mouse.wheel(0, lastShown ? -1_600 : 1_600);
    await framesUntil(page, () => requests().length > 1);
  }
  t.strictSame(complaints, []);
});
