/** Lists of messages: nothing is missing from them, nothing unseen is read in them, and they hold their place. */
import type { Page } from "playwright-core";
import t from "tap";
import { uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn, textsOf, until, write } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { holdRequests, holdSocket } from "../support/held-network.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

async function furnish() {
  const server = await startTestServer(t);
  const ben = await server.person("Ben Bright");
  return { server, ben };
}

let furnishing: ReturnType<typeof furnish> | null = null;
/** One server for all tests of the file; each has a reader and topics of its own. */
async function house(reader: string) {
  furnishing ??= furnish();
  const { server, ben } = await furnishing;
  return { server, ben, ann: await server.person(reader) };
}

const topicAt = (topic: string) => `#narrow/channel/1-general/topic/${topic}`;
const row = (id: number) => `.feed .message[data-id="${id}"]`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `Line ${index + 1}`).join("\n");
const gapToEnd = `(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".feed");
  return scrollHeight - scrollTop - clientHeight;
})()`;

/** @returns the ids in their order */
async function sayMany(client: Client, topic: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(20, count - ids.length) }, (_, index) => ids.length + index + 1);
    ids.push(...(await Promise.all(some.map((number) => client.say("general", topic, `Message ${number}`)))));
  }
  return ids.sort((a, b) => a - b);
}

/** What was measured in a frame is there in the next one. */
function twoFrames(page: Page): Promise<unknown> {
  return page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

function idsOf(page: Page, selector = ""): Promise<number[]> {
  const all = `.feed .message[data-id]${selector}`;
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(all)})].map((one) => Number(one.dataset.id))`);
}

/** The messages of which a part is in the window. */
function inWindow(page: Page): Promise<number[]> {
  return page.evaluate(`(() => {
    const { top, bottom } = document.querySelector(".feed").getBoundingClientRect();
    const isThere = (box) => box.bottom > top && box.top < bottom;
    const rows = [...document.querySelectorAll(".feed .message[data-id]")];
    return rows.filter((row) => isThere(row.getBoundingClientRect())).map((row) => Number(row.dataset.id));
  })()`);
}

/** Where a row begins, in pixels below the top of the list. */
function topOf(page: Page, id: number): Promise<number> {
  return page.evaluate(`document.querySelector(${JSON.stringify(row(id))}).getBoundingClientRect().top -
    document.querySelector(".feed").getBoundingClientRect().top`);
}

async function isRead(client: Client, id: number): Promise<boolean> {
  return (await client.get(`/messages/${id}`)).body.message.flags.includes("read");
}

/** At once on the page, and soon at the server. */
async function untilRead(page: Page, client: Client, id: number): Promise<void> {
  await until(page, `document.querySelector(${JSON.stringify(row(id))})?.matches(".unread") === false`);
  while (!(await isRead(client, id))) await twoFrames(page);
}

async function unreadOf(client: Client, ids: readonly number[]): Promise<number[]> {
  const narrow = [{ operator: "is", operand: "unread" }];
  const { body } = await client.get("/messages", { anchor: "newest", num_before: 1_000, num_after: 0, narrow });
  return body.messages.map(({ id }: { id: number }) => id).filter((id: number) => ids.includes(id));
}

/** Scrolls to the first of the messages. @returns all that were in the list on the way */
async function scrollUp(page: Page, firstId: number): Promise<ReadonlySet<number>> {
  const met = new Set<number>();
  await page.locator(".feed").hover();
  for (;;) {
    const shown = await idsOf(page);
    for (const id of shown) met.add(id);
    if (shown[0] === firstId && (await page.evaluate(`document.querySelector(".feed").scrollTop === 0`))) return met;
    await page.mouse.wheel(0, -2_000);
    await twoFrames(page);
  }
}

t.test("a jump to the end leaves no hole, and reads only what it shows", { skip }, async (t) => {
  const { server, ann, ben } = await house("Ann Ames");
  const ada = await server.person("Ada Ash");
  const ids = await sayMany(ben, "long", 240);
  const [first = 0] = ids;
  const last = ids.at(-1) ?? 0;
  const { page } = await openPage(t);
  const network = await holdSocket(page);
  await logIn(page, server.url, ann, topicAt("long"));
  await page.locator(`${row(first)}.cursor`).waitFor();
  const seen = new Set(await inWindow(page));
  await network.isUsed;
  network.hold();
  await page.keyboard.press("End");
  // Meanwhile the list scrolls to the last message that it has.
  await twoFrames(page);
  network.release();
  await page.locator(row(last)).waitFor();
  await untilRead(page, ann, last);
  for (const id of await inWindow(page)) seen.add(id);
  const unread = new Set(await unreadOf(ann, ids));
  t.strictSame(
    ids.filter((id) => !unread.has(id) && !seen.has(id)),
    [],
    "what was read was in the window before or afterwards",
  );
  const met = await scrollUp(page, first);
  t.strictSame(
    ids.filter((id) => !met.has(id)),
    [],
    "scrolling back meets every message",
  );

  const other = await openPage(t);
  await logIn(other.page, server.url, ada, topicAt("long"));
  await other.page.locator(`${row(first)}.cursor`).waitFor();
  await write(other.page, "My answer");
  await other.page.locator(".feed .message[data-id] .rendered", { hasText: "My answer" }).waitFor();
  const metByAda = await scrollUp(other.page, first);
  t.strictSame(
    ids.filter((id) => !metByAda.has(id)),
    [],
    "and so does one who answered from the first unread message",
  );
});

t.test("what overtakes a page on its way is not lost", { skip }, async (t) => {
  const { server, ann, ben } = await house("Asa Arrow");
  const edited = await ben.say("general", "overtaken", "Soup");
  const gone = await ben.say("general", "overtaken", "Gone soon");
  const { page } = await openPage(t);
  let isFetched: () => void = () => undefined;
  let release: () => void = () => undefined;
  const fetched = new Promise<void>((done) => {
    isFetched = done;
  });
  const released = new Promise<void>((done) => {
    release = done;
  });
  // Once the socket is there, answers and events come in their order.
  await page.routeWebSocket(/\/api\/v1\/events\/ws$/, (socket) => socket.close());
  await page.route(/\/api\/v1\/messages\?/, async (route) => {
    const response = await route.fetch();
    isFetched();
    await released;
    await route.fulfill({ response });
  });
  await logIn(page, server.url, ann, topicAt("overtaken"));
  await fetched;
  await server.owner.delete(`/messages/${gone}`);
  await ben.patch(`/messages/${edited}`, { content: "Bread" });
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Psst" });
  await page.locator(".left-bar .row.unread", { hasText: "Ben Bright" }).waitFor();
  release();
  await page.locator(row(edited)).waitFor();
  t.strictSame(await textsOf(page), ["Bread"]);
});

t.test("long messages are read when all of them was in the window", { skip }, async (t) => {
  const { server, ann, ben } = await house("Abe Arden");
  const ids: number[] = [];
  for (let count = 0; count < 10; count++) ids.push(await ben.say("general", "sixty", lines(60)));
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, topicAt("sixty"));
  const [first = 0, second = 0] = ids;
  await page.locator(`${row(first)}.cursor`).waitFor();
  await twoFrames(page);
  t.strictSame(await idsOf(page, ".unread"), ids, "the first one is longer than the window");
  await page.keyboard.press("End");
  await twoFrames(page);
  t.strictSame(await idsOf(page, ".unread"), ids, "nobody has seen where the last one begins");
  await page.keyboard.press("Home");
  await page.locator(".feed").hover();
  while ((await topOf(page, second)) > 0) {
    await page.mouse.wheel(0, 200);
    await twoFrames(page);
  }
  await untilRead(page, ann, first);
  t.strictSame(await idsOf(page, ".unread"), ids.slice(1));
  t.strictSame(await unreadOf(ann, ids), ids.slice(1));
});

t.test("a list opens at the beginning of a message longer than the window", { skip }, async (t) => {
  const { server, ann, ben } = await house("Alf Aster");
  await ben.say("general", "high", "Before");
  await ann.post("/mark_all_as_read");
  const long = await ben.say("general", "high", lines(120));
  const short = await ben.say("general", "high", "Short");
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, topicAt("high"));
  await page.locator(`${row(long)}.cursor`).waitFor();
  await twoFrames(page);
  const top = await topOf(page, long);
  t.ok(top > 0 && top < 300, `it begins ${top} px below the top of the list`);
  t.strictSame(await idsOf(page, ".unread"), [long, short]);
  const gone = await ben.say("general", "high", "Gone soon");
  await server.owner.delete(`/messages/${gone}`);
  await page.locator(row(gone)).waitFor({ state: "detached" });
  await page.evaluate(`location.hash = ${JSON.stringify(`${topicAt("high")}/near/${gone}`)}`);
  await page.locator(`${row(short)}.cursor`).waitFor();
});

t.test("a window without the focus, and a search, read nothing", { skip }, async (t) => {
  const { server, ann, ben } = await house("Amy Arbor");
  const { page } = await openPage(t);
  await page.addInitScript("document.hasFocus = () => window.isFocused === true");
  const one = await ben.say("general", "focus", "Are you there?");
  await logIn(page, server.url, ann, topicAt("focus"));
  await page.locator(`${row(one)}.unread`).waitFor();
  const two = await ben.say("general", "focus", "Are you still there?");
  await page.locator(`${row(two)}.unread`).waitFor();
  await twoFrames(page);
  t.strictSame(await idsOf(page, ".unread"), [one, two]);
  await page.evaluate(`window.isFocused = true, location.hash = "#narrow/sender/${ben.userId}"`);
  await page.locator(".top-bar input").waitFor();
  await until(page, `document.querySelectorAll(".feed .message").length >= 2 && location.hash.includes("sender")`);
  await twoFrames(page);
  t.strictSame(await idsOf(page, ".unread"), [one, two], "what somebody searches was not read in its place");
  await page.evaluate(`location.hash = ${JSON.stringify(topicAt("focus"))}`);
  await untilRead(page, ann, one);
  await untilRead(page, ann, two);
  const long = await ben.say("general", "focus", lines(100));
  await page.locator(`${row(long)}.unread`).waitFor();
  await twoFrames(page);
  t.ok((await topOf(page, long)) >= 0, "a new message scrolls the list no further than to its beginning");
  t.strictSame(await idsOf(page, ".unread"), [long]);
});

t.test("rows have their height before their pictures have come", { skip }, async (t) => {
  const { server, ann, ben } = await house("Art Aspen");
  const { url } = await uploaded(ben, await picture("png", 600, 400), '"wide.png"');
  const ids: number[] = [];
  for (let count = 0; count < 12; count++) ids.push(await ben.say("general", "pictures", `[wide.png](${url})`));
  const middle = ids[6] ?? 0;
  await ann.post("/messages/flags", { flag: "read", op: "add", messages: ids.slice(0, 6) });
  const { page } = await openPage(t);
  const pictures = await holdRequests(page, /\/user_uploads\//);
  pictures.hold();
  await logIn(page, server.url, ann, topicAt("pictures"));
  await page.locator(`${row(middle)}.cursor`).waitFor();
  await twoFrames(page);
  const height = await page
    .locator(`${row(middle)} img`)
    .last()
    .evaluate((one) => one.clientHeight);
  t.ok(height > 250, `${height} px`);
  const before = await topOf(page, middle);
  t.ok(before > 0 && before < 300, `it opens ${before} px below the top of the list`);
  pictures.release();
  await until(page, `document.querySelector(${JSON.stringify(`${row(middle)} .message_inline_image img`)}).complete`);
  await twoFrames(page);
  t.ok(Math.abs((await topOf(page, middle)) - before) < 2, "it has not moved");

  await ann.post("/mark_all_as_read");
  const formulas: number[] = [];
  for (let count = 0; count < 30; count++) {
    formulas.push(await ben.say("general", "formulas", "```math\n\\frac{\\frac{a}{b}}{\\sum_{i=0}^{n} x_i}\n```"));
  }
  await ann.post("/mark_all_as_read");
  const other = await openPage(t);
  const styles = await holdRequests(other.page, /\/assets\/.*(?:\.css|\.woff2)$|\/user_uploads\//);
  await logIn(other.page, server.url, ann);
  styles.hold();
  await other.page.evaluate(`location.hash = ${JSON.stringify(topicAt("formulas"))}`);
  await other.page.locator(row(formulas.at(-1) ?? 0)).waitFor();
  await twoFrames(other.page);
  t.ok(Number(await other.page.evaluate(gapToEnd)) < 2, "the list is at its end");
  styles.release();
  await until(other.page, `[...document.styleSheets].some(({ href }) => href?.includes("katex"))`);
  await other.page.evaluate("document.fonts.ready");
  await twoFrames(other.page);
  t.ok(Number(await other.page.evaluate(gapToEnd)) < 2, "the end stays the end while formulas get their form");
});

t.test("what is opened in a message at the end grows downwards", { skip }, async (t) => {
  const { server, ann, ben } = await house("Ash Acre");
  const ids = await sayMany(ben, "spoiler", 20);
  const id = await ben.say("general", "spoiler", `\`\`\`spoiler The end of the book\n${lines(80)}\n\`\`\``);
  await ann.post("/messages/flags", { flag: "read", op: "add", messages: [...ids, id] });
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, topicAt("spoiler"));
  await page.locator(row(id)).waitFor();
  await twoFrames(page);
  t.ok(Number(await page.evaluate(gapToEnd)) < 2, "the list is at its end");
  const before = await topOf(page, id);
  await page.locator(row(id)).getByRole("button", { name: "Show" }).click();
  await twoFrames(page);
  t.ok(Number(await page.evaluate(gapToEnd)) > 500);
  t.ok(Math.abs((await topOf(page, id)) - before) < 2, "the message begins where it began");
});

t.test("lists of several conversations show nothing muted, and read none of it", { skip }, async (t) => {
  const { server, ann, ben } = await house("Ava Alder");
  const cara = await server.person("Cara Cole");
  for (const client of [ann, ben]) await client.post("/users/me/subscriptions", { subscriptions: [{ name: "noise" }] });
  const { body } = await ann.get("/get_stream_id", { stream: "noise" });
  const noise = body.stream_id as number;
  const policy = (stream_id: number, topic: string, visibility_policy: number) =>
    ann.post("/user_topics", { stream_id, topic, visibility_policy });
  const shown = [await ben.say("general", "open", "Shown"), await ben.say("noise", "followed", "Followed")];
  const muted = [await ben.say("general", "quiet", "Quiet"), await ben.say("noise", "any", "Noise")];
  await policy(1, "quiet", 1);
  await policy(noise, "followed", 3);
  await ann.post("/users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: noise, property: "is_muted", value: true }],
  });
  await ann.post(`/users/me/muted_users/${cara.userId}`);
  const direct = await cara.post("/messages", { type: "direct", to: [ann.userId], content: "Psst" });
  const hidden = [...muted, direct.body.id];
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#feed");
  for (const id of shown) await page.locator(row(id)).waitFor();
  const both = new Set([...shown, ...hidden]);
  const seen = async () => (await idsOf(page)).filter((id) => both.has(id));
  t.strictSame(await seen(), shown, "combined feed");
  for (const id of shown) await untilRead(page, ann, id);
  t.strictSame(await unreadOf(ann, [...both]), muted);

  const live = await ben.say("general", "quiet", "Quiet again");
  hidden.push(live);
  both.add(live);
  await ben.say("general", "open", "Loud");
  await page.locator(".feed .rendered", { hasText: "Loud" }).waitFor();
  t.strictSame(await seen(), shown, "events bring none of it, either");
  await policy(1, "quiet", 0);
  await page.locator(row(live)).waitFor();
  t.ok((await seen()).includes(muted[0] ?? 0), "an unmuted topic is there");
  await policy(1, "quiet", 1);
  await page.locator(row(live)).waitFor({ state: "detached" });

  await page.evaluate(`location.hash = "#narrow/channel/1-general"`);
  await page.locator(".feed .rendered", { hasText: "Loud" }).waitFor();
  t.strictSame(await seen(), shown.slice(0, 1), "the channel without its muted topic");
  await page.evaluate(`location.hash = "#narrow/channel/${noise}-noise"`);
  await page.locator(row(muted[1] ?? 0)).waitFor();
  t.strictSame(await seen(), [shown[1], muted[1]], "a muted channel is whole in its own list");

  await page.evaluate(`location.hash = "#recent"`);
  const rowsOf = async () => (await page.locator(".recent .inbox-label").allTextContents()).filter((one) => one !== "");
  await page.locator(".recent .inbox-label", { hasText: "followed" }).waitFor();
  t.notOk(
    (await rowsOf()).some((one) => ["quiet", "any", "Cara Cole"].includes(one)),
    "recent conversations",
  );
  await page.getByLabel("Show muted").check();
  for (const label of ["quiet", "any", "Cara Cole"]) {
    await page.locator(".recent .inbox-label", { hasText: label }).waitFor();
  }
  t.equal(await page.locator(".left-bar", { hasText: "Cara Cole" }).count(), 0);
  const said = await cara.say("general", "open", "Look at me");
  await page.evaluate(`location.hash = ${JSON.stringify(topicAt("open"))}`);
  await page.locator(row(said)).getByRole("button", { name: "Show" }).click();
  await page.locator(row(said)).getByText("Look at me").waitFor();
});
