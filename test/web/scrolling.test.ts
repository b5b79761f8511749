/** Scrolling through everything that was ever said in a channel, with frames that stay short and a list that stays small. */
import type { Page } from "playwright-core";
import t from "tap";
import { addMessages } from "../../bench/lib/fill.ts";
import { createOrganization } from "../../bench/lib/organization.ts";
import { messageLimits } from "../../packages/web/src/state/message-lists.ts";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
/** 10,000 at length (scripts/test-tiers.mjs); the promise is about 100,000, which take many minutes. */
const messages = Number(process.env["MESSAGES"] ?? 2_000);
/** Blocks of this many messages: in turn of one topic, and of 20 topics, where each message has a head of its own. */
const blockMessages = 200;
/** A frame, two screens: at 60 frames a second 120 screens a second, which nobody reads. */
const wheelPixels = 1_600;
/** The promise of docs/web.md, Budgets. */
const frameMsMax = 50;
const isLong = messages >= 100_000;

interface Seen {
  /** Milliseconds between frames, while the wheel turned. */
  readonly frames: readonly number[];
  /** The most messages that the list held. */
  readonly rowsMax: number;
}

/** Notes the time between frames until `stopWatching`. */
const watchFrames = `
  window.seen = { frames: [], rowsMax: 0 };
  window.watching = true;
  let before = performance.now();
  const look = (now) => {
    window.seen.frames.push(now - before);
    before = now;
    if (window.seen.frames.length % 20 === 0) {
      const rows = document.querySelectorAll(".feed [data-id]").length;
      window.seen.rowsMax = Math.max(window.seen.rowsMax, rows);
    }
    if (window.watching) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

/** The first message of the list, and whether it is at the top. */
const edge = `(() => {
  const feed = document.querySelector(".feed");
  return { first: Number(feed.querySelector("[data-id]")?.dataset.id), top: feed.scrollTop };
})()`;

/** Turns the wheel upwards until the first message of all is at the top. */
async function scrollToTheStart(page: Page, firstId: number): Promise<Seen> {
  await page.mouse.move(640, 400);
  await page.evaluate(watchFrames);
  for (;;) {
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, -wheelPixels);
    const at = (await page.evaluate(edge)) as { first: number; top: number };
    if (at.first === firstId && at.top === 0) break;
  }
  return (await page.evaluate("(window.watching = false, window.seen)")) as Seen;
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}

t.test("the wheel reaches the first message of a long channel in short frames", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  await createOrganization(dataDir, async (realm) => {
    for (let at = 0; at < messages; at += blockMessages) {
      await addMessages(realm, { messages: blockMessages, topics: at % 400 === 0 ? 1 : 20, areUnread: false });
    }
  });
  const server = await startTestServer(t, { dataDir });
  const ann = await server.person("Ann Ames");
  const { body } = await ann.get("/messages", { anchor: "oldest", num_before: 0, num_after: 1, narrow: narrowOf(1) });
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general");
  await page.locator(".feed .message[data-id]").first().waitFor();
  complaints.length = 0;
  const start = performance.now();
  const { frames, rowsMax } = await scrollToTheStart(page, body.messages[0].id);
  const sorted = [...frames].sort((a, b) => a - b);
  const [half = 0, most = 0, all = 0] = [0.5, 0.95, 1].map((part) => share(sorted, part));
  t.comment(
    `${messages} messages in ${Math.round(performance.now() - start)} ms and ${frames.length} frames: ` +
      `p50 ${half.toFixed(1)} ms, p95 ${most.toFixed(1)} ms, longest ${all.toFixed(1)} ms; at most ${rowsMax} rows`,
  );
  // In the quick tier other tests use the processors meanwhile.
  t.ok((isLong ? most : half) <= frameMsMax, `p50 ${half} ms, p95 ${most} ms`);
  t.ok(rowsMax > 0 && rowsMax <= messageLimits.list_messages_max, `${rowsMax} rows`);
  t.strictSame(complaints, []);
});

function narrowOf(channelId: number) {
  return [{ operator: "channel", operand: channelId }];
}
