/** What the first view costs in a browser, and how soon a reader with very much to read sees the first unread message. */
import t from "tap";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const budgets = {
  requests_max: 12,
  first_message_bytes_max: 160 * 1024,
  first_message_slow_ms_max: 8_000,
} as const;

t.test("the first view needs few requests", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const { page, requests } = await openPage(t);
  await logIn(page, server.url, ann);
  requests.length = 0;
  await page.reload();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const counted = requests.filter((path) => path !== "/favicon.ico");
  t.ok(counted.length <= budgets.requests_max, counted.join(" "));
});

const attempts_max = 5;

/** What else the machine does only adds time: measures again what took longer than the bound. */
async function quickest(boundMs: number, measure: () => Promise<number>): Promise<number> {
  let ms = await measure();
  for (let attempt = 1; attempt < attempts_max && ms >= boundMs; attempt++) ms = Math.min(ms, await measure());
  return ms;
}

/** 10,000 at length (scripts/test-tiers.mjs). */
const topics = Number(process.env["TOPICS"] ?? 300);
/** Generous, because tests share their machine; the published time is in the measurements. */
const patienceMs = 10_000;

t.test("with very many unread topics the page opens at the first unread message", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  const numbers = Array.from({ length: topics }, (_, index) => index);
  for (let at = 0; at < topics; at += 100) {
    await Promise.all(numbers.slice(at, at + 100).map((one) => ben.say("general", `topic ${one}`, `message ${one}`)));
  }
  const { page } = await openPage(t);
  await logIn(page, server.url, ann);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const ms = await quickest(patienceMs, async () => {
    await page.goto("about:blank");
    const start = performance.now();
    await page.goto(`${server.url}/#narrow/channel/1-general`);
    await page.locator(".feed .message[data-id]").first().waitFor();
    t.equal(await page.locator(".new-mark").count(), 1, "the first unread message is marked");
    return performance.now() - start;
  });
  t.comment(`${Math.round(ms)} ms until the first unread message`);
  t.ok(ms < patienceMs, `${ms} ms`);
});

/** A phone far from an antenna: what Chromium calls fast 3G, with a processor a fourth as fast as this one. */
const slowNetwork = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };
const slowProcessor = { rate: 4 };

t.test("on a slow network the first message needs few bytes and few round trips", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  for (let index = 0; index < 100; index++) await ben.say("general", `topic ${index % 7}`, `Message **${index}**`);
  const { page, requests } = await openPage(t);
  await logIn(page, server.url, ann);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  await cdp.send("Network.emulateNetworkConditions", slowNetwork);
  await cdp.send("Emulation.setCPUThrottlingRate", slowProcessor);
  let bytes = 0;
  cdp.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  // Without other programs it is far less; the published time is in the measurements.
  const boundMs = 3 * budgets.first_message_slow_ms_max;
  const ms = await quickest(boundMs, async () => {
    await page.goto("about:blank");
    bytes = 0;
    requests.length = 0;
    const start = performance.now();
    await page.goto(`${server.url}/#narrow/channel/1-general`, { waitUntil: "commit" });
    await page.locator(".feed .message[data-id]").first().waitFor();
    return Math.round(performance.now() - start);
  });
  t.comment(`${ms} ms, ${bytes} bytes, ${requests.length} requests until the first message`);
  t.ok(bytes <= budgets.first_message_bytes_max, `${bytes} bytes`);
  t.ok(ms < boundMs, `${ms} ms`);
});
