/** Everything by keyboard: what each key does, and where the focus is afterwards. */
import type { Page } from "playwright-core";
import t from "tap";
import { uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

const topicOf = (name: string) => `#narrow/channel/1-general/topic/${name}`;
const lunch = topicOf("lunch");
const lunchMessages = 40;

async function furnish() {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const ids: number[] = [];
  const say = async (who: typeof ann, text: string) => ids.push(await who.say("general", "lunch", text));
  for (let at = 0; at < lunchMessages / 2; at++) await say(ben, `Soup ${at}\n\nwith bread`);
  await say(ann, "I am in");
  for (let at = lunchMessages / 2; at < lunchMessages; at++) await say(ben, `Soup ${at}\n\nwith bread`);
  await ann.post("/mark_topic_as_read", { stream_id: 1, topic_name: "lunch" });
  const mine = ids[lunchMessages / 2] ?? 0;
  await ann.patch(`/messages/${mine}`, { content: "I am in, with Ben" });
  return { server, ann, ben, ids, mine, theirs: ids[lunchMessages / 2 - 1] ?? 0 };
}

let furnishing: ReturnType<typeof furnish> | null = null;
/** One server for all tests of the file. */
function house() {
  furnishing ??= furnish();
  return furnishing;
}

const row = (id: number) => `.feed .message[data-id="${id}"]`;
const isFocused = (selector: string) => `document.activeElement?.matches(${JSON.stringify(selector)})`;
const isThere = (selector: string) => `document.querySelector(${JSON.stringify(selector)}) !== null`;
const dialogOf = (title: string) => `dialog[open][aria-label=${JSON.stringify(title)}]`;

async function focusRow(page: Page, id: number): Promise<void> {
  await page.locator(row(id)).waitFor();
  await page.evaluate(`document.querySelector(${JSON.stringify(row(id))}).focus()`);
  await page.locator(`${row(id)}.cursor`).waitFor();
}

interface KeyProof {
  /** As the help names it. */
  readonly label: string;
  /** Where the key is pressed: `lunch`, unless another place is named. */
  readonly from?: string;
  /** The selected message: another person's, unless one's own is needed. */
  readonly isMine?: true;
  /** What is true in the page afterwards, and was false before. */
  readonly becomes: string;
  /** Keys that bring the page back, besides going to the place again. */
  readonly back?: readonly string[];
}

const isAt = (address: string) => `location.hash === ${JSON.stringify(address)}`;
const isWriting = "document.activeElement.id === 'compose-text'";
const leaveText = ["Control+a", "Delete", "Escape"];

/** One row for each line of the help. `scrollTop` at the press is `window.before`. */
function keyProofs({ ids, mine, theirs, ben }: Awaited<ReturnType<typeof furnish>>): readonly KeyProof[] {
  const at = (id: number | undefined) => isFocused(`.message.cursor[data-id="${id}"]`);
  const own = row(mine);
  const other = row(theirs);
  return [
    // First, because the combined feed reads everything.
    { label: "Next unread topic", becomes: `location.hash.startsWith(${JSON.stringify(topicOf("next"))})` },
    { label: "Next unread direct conversation", becomes: `location.hash.startsWith("#narrow/dm/${ben.userId}")` },
    { label: "Search", becomes: isFocused("[aria-label='Search messages']"), back: ["Escape"] },
    { label: "Inbox", becomes: isAt("#inbox") },
    { label: "Recent conversations", becomes: isAt("#recent") },
    { label: "Combined feed", becomes: isAt("#feed") },
    { label: "Starred messages", becomes: isAt("#narrow/is/starred") },
    { label: "Mentions", becomes: isAt("#narrow/is/mentioned") },
    { label: "Direct messages", becomes: isAt("#narrow/is/dm") },
    { label: "Drafts", becomes: isAt("#drafts") },
    { label: "Conversation of the message", from: "#feed", becomes: isAt(`${lunch}/near/${theirs}`) },
    { label: "Channel of the message", becomes: isAt("#narrow/channel/1-general") },
    { label: "Next message", becomes: at(mine) },
    { label: "Previous message", becomes: at(ids[ids.indexOf(theirs) - 1]) },
    { label: "Scroll down", becomes: "document.querySelector('.feed').scrollTop > window.before + 100" },
    { label: "Scroll up", becomes: "document.querySelector('.feed').scrollTop < window.before - 100" },
    { label: "First message that is loaded", becomes: at(ids[0]) },
    { label: "Newest message", becomes: at(ids.at(-1)) },
    { label: "Reply", becomes: isWriting, back: leaveText },
    {
      label: "Quote in reply",
      becomes: "/quote\\nSoup/.test(document.getElementById('compose-text').value)",
      back: leaveText,
    },
    { label: "Write to the sender", becomes: isThere(".destination .pill"), back: leaveText },
    { label: "React with thumbs up", becomes: isThere(`${other} .reaction.mine`) },
    { label: "React with an emoji", becomes: isThere(dialogOf("Choose an emoji")) },
    { label: "Star", becomes: isThere(`${other} .star.on`) },
    { label: "Edit", isMine: true, becomes: isFocused(`${own} textarea`), back: ["Escape"] },
    { label: "Move", becomes: isThere(dialogOf("Move messages")) },
    { label: "Edit history", isMine: true, becomes: isThere(dialogOf("Edit history")) },
    { label: "Read receipts", becomes: isThere(dialogOf("Read by")) },
    { label: "Mark as unread from here", becomes: isThere(`${other}.unread`) },
    { label: "Copy the link", becomes: `window.copied?.endsWith(${JSON.stringify(`${lunch}/near/${theirs}`)})` },
    { label: "Delete", becomes: isThere(dialogOf("Delete this message?")) },
    { label: "Who the sender is", becomes: isThere(dialogOf("Ben Bright")) },
    {
      label: "Mute or unmute the topic",
      becomes: isThere(".left-bar a.topic.muted[href*='/topic/lunch/']"),
      back: ["M"],
    },
    { label: "Menu of the message", becomes: isThere(`${other} [role=menu]`), back: ["Escape"] },
    {
      label: "Write to a channel",
      from: "#inbox",
      becomes: isThere(".destination [aria-label='Channel']"),
      back: leaveText,
    },
    {
      label: "Write a direct message",
      becomes: isFocused(".destination .person-picker input"),
      back: ["Escape", "Escape"],
    },
    { label: "Find people", becomes: isFocused("#people-filter"), back: ["Escape"] },
    { label: "Find in the left side", becomes: isFocused(".left-bar .row"), back: ["Escape"] },
    { label: "These keys", becomes: isThere(dialogOf("Keyboard shortcuts")) },
    { label: "Close, then the inbox", becomes: isAt("#inbox") },
  ];
}

const helpLines = `[...document.querySelectorAll(".keys dl > div")].map((line) => ({
  label: line.querySelector("dd").textContent,
  keys: [...line.querySelectorAll("kbd")].map((key) => key.textContent),
}))`;
const pressed: Readonly<Record<string, string>> = {
  "↓": "ArrowDown",
  "↑": "ArrowUp",
  "Ctrl+k": "Control+k",
  "Ctrl+s": "Control+s",
};

t.test("each key of the help does what the help says", { skip }, async (t) => {
  const home = await house();
  const { server, ann, ben, mine, theirs } = home;
  await ben.say("general", "next", "Read me");
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Ten minutes?" });
  const { page, complaints } = await openPage(t);
  await page.addInitScript("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
  await logIn(page, server.url, ann, lunch);
  await focusRow(page, theirs);
  await page.keyboard.press("?");
  await page.locator(dialogOf("Keyboard shortcuts")).waitFor();
  const lines = (await page.evaluate(helpLines)) as { label: string; keys: string[] }[];
  const proofs = keyProofs(home);
  t.strictSame(
    lines.map(({ label }) => label).sort(),
    proofs.map(({ label }) => label).sort(),
    "each line of the help has a proof",
  );
  for (const { label, from = lunch, isMine, becomes, back = [] } of proofs) {
    const keys = lines.find((line) => line.label === label)?.keys ?? [];
    for (const key of keys) {
      // A change of place closes what is open.
      await page.evaluate(`location.hash = "#settings/preferences"`);
      await page.locator(".panel-body .setting").first().waitFor();
      await page.evaluate(`location.hash = ${JSON.stringify(from)}`);
      if (from !== "#inbox") await focusRow(page, isMine === true ? mine : theirs);
      await page.evaluate(`(() => {
        const feed = document.querySelector(".feed");
        if (feed !== null) feed.scrollTop = window.before = Math.round((feed.scrollHeight - feed.clientHeight) / 2);
      })()`);
      const name = `${key}: ${label}`;
      t.notOk(await page.evaluate(`Boolean(${becomes})`), `${name} (not before)`);
      await page.keyboard.press(pressed[key] ?? key);
      await until(page, becomes).then(
        () => t.pass(name),
        (error) => t.fail(`${name}: ${error.message}`),
      );
      for (const one of back) await page.keyboard.press(one);
    }
  }
  t.strictSame(complaints, []);
});

interface FocusProof {
  readonly place?: string;
  /** What has the focus before something is opened, and again afterwards. */
  readonly opener: string;
  /** The item of the menu that the opener opens, which opens the dialog. */
  readonly item?: string;
  /** Opens it; Enter, unless it is another key. */
  readonly key?: string;
  /** What is open then. */
  readonly shows: string;
}

/** Everything that opens over the page. */
function focusProofs({ mine, theirs }: Awaited<ReturnType<typeof furnish>>): readonly FocusProof[] {
  const opener = row(theirs);
  const more = `${opener} [aria-label="More actions (i)"]`;
  const account = "[aria-label='Your account']";
  return [
    { opener, key: "?", shows: dialogOf("Keyboard shortcuts") },
    { opener, key: ":", shows: dialogOf("Choose an emoji") },
    { opener, key: "m", shows: dialogOf("Move messages") },
    { opener, key: "V", shows: dialogOf("Read by") },
    { opener, key: "Delete", shows: dialogOf("Delete this message?") },
    { opener, key: "u", shows: dialogOf("Ben Bright") },
    { opener, key: "i", shows: "[role=menu]" },
    { opener: row(mine), key: "H", shows: dialogOf("Edit history") },
    { opener: row(mine), key: "e", shows: ".edit-box textarea" },
    { opener: `${row(mine)} .mark`, shows: dialogOf("Edit history") },
    { opener: `${opener} [aria-label="Add a reaction (:)"]`, shows: dialogOf("Choose an emoji") },
    { opener: more, shows: "[role=menu]" },
    { opener: more, item: "Move m", shows: dialogOf("Move messages") },
    { opener: more, item: "View read receipts", shows: dialogOf("Read by") },
    { opener: account, shows: "[role=menu]" },
    { opener: account, item: "Keyboard shortcuts", shows: dialogOf("Keyboard shortcuts") },
    { opener: account, item: "Ann Ames", shows: dialogOf("Ann Ames") },
    { opener: "[aria-label='Topic'].icon-button", shows: "[role=menu]" },
    { opener: "[aria-label='Insert an emoji']", shows: dialogOf("Choose an emoji") },
    { opener: ".message_inline_image a", shows: "dialog.viewer[open]" },
    {
      place: "#organization/people",
      opener: ".table button.danger",
      shows: "dialog[open]",
    },
  ];
}

t.test("what is closed gives the focus back to what opened it", { skip }, async (t) => {
  const home = await house();
  const { server, ann, ben, theirs, ids } = home;
  const image = await uploaded(ben, await picture("png", 90, 70), '"soup.png"');
  await ben.say("general", "lunch", `[soup](${image.url})`);
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, lunch);
  await page.locator(row(theirs)).waitFor();
  const isOpen = "document.querySelector('dialog[open], [role=menu]') !== null";
  for (const { place = lunch, opener, item, key = "Enter", shows } of focusProofs(home)) {
    for (const close of ["Escape", "Close"]) {
      const name = `${opener} ${item ?? ""} ${key}, ${close}`;
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      if (opener.startsWith(".feed")) await focusRow(page, Number(/\d+/.exec(opener)));
      await page.locator(opener).first().focus();
      await page.keyboard.press(key);
      if (item !== undefined) {
        await page.getByRole("menuitem", { name: item }).focus();
        await page.keyboard.press("Enter");
      }
      await page.locator(shows).waitFor();
      const button = page.locator("dialog[open] [aria-label=Close]");
      if (close === "Close" && (await button.count()) === 0) {
        await page.keyboard.press("Escape");
        continue;
      }
      if (close === "Escape") await page.keyboard.press("Escape");
      else {
        await button.focus();
        await page.keyboard.press("Enter");
      }
      await page.locator(shows).waitFor({ state: "detached" });
      t.notOk(await page.evaluate(isOpen), name);
      const is = await page.evaluate(isFocused(opener));
      t.ok(is, `${name}: ${await page.evaluate("document.activeElement.outerHTML.slice(0, 90)")}`);
    }
  }

  // What had the focus is gone: the next message has it.
  await page.evaluate(`location.hash = ${JSON.stringify(lunch)}`);
  await focusRow(page, theirs);
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await page.locator(row(theirs)).waitFor({ state: "detached" });
  await until(page, isFocused(row(ids[ids.indexOf(theirs) + 1] ?? 0)));
  // What is chosen in a dialog goes where it is used.
  await page.getByLabel("Insert an emoji").press("Enter");
  await page.getByLabel("Name of an emoji").fill("tada");
  await page.getByRole("button", { name: "tada", exact: true }).waitFor();
  await page.getByLabel("Name of an emoji").press("Enter");
  await until(page, isFocused("#compose-text"));
  await page.getByLabel("Send later").press("Enter");
  await page.locator(dialogOf("Send later")).waitFor();
  await page.keyboard.press("Escape");
  await until(page, isFocused("[aria-label='Send later']"));
  await page.locator("#compose-text").focus();
  for (const key of leaveText) await page.keyboard.press(key);
  await until(page, isFocused(".message.cursor"));
  for (const [key, goesTo] of Object.entries({ "/": "[role=combobox]", w: "#people-filter", q: ".left-bar .row" })) {
    await page.keyboard.press(key);
    await until(page, isFocused(goesTo));
    await page.keyboard.press("Escape");
    await until(page, isFocused(".message.cursor"));
  }
  t.strictSame(complaints, []);
});

/** Presses keys one task after another, as a fast hand on a busy machine does: no frame is drawn in between. */
const hurry = (keys: readonly string[]) => `(async () => {
  const { port1, port2 } = new MessageChannel();
  for (const key of ${JSON.stringify(keys)}) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await new Promise((done) => { port1.onmessage = done; port2.postMessage(null); });
  }
  const at = document.activeElement;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return { selector: at.id || at.className || at.tagName, hasStayed: at === document.activeElement };
})()`;

t.test("what is typed right after a key belongs to what the key opened", { skip }, async (t) => {
  const { server, ann, ids } = await house();
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, lunch);
  for (const [keys, goesTo] of [
    [["j", "r"], "#compose-text"],
    [["k", "k", "c"], "#compose-text"],
    [["x"], ".person-picker input"],
    [["w"], "#people-filter"],
    [["q"], ".left-bar .row"],
    [["/"], "[role=combobox]"],
  ] as const) {
    await page.evaluate(`location.hash = "#settings/preferences"`);
    await page.locator(".panel-body .setting").first().waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(goesTo.startsWith(".person") ? "#narrow" : lunch)}`);
    if (goesTo.startsWith(".person")) await page.locator(".feed .message.cursor").waitFor();
    else await focusRow(page, ids[1] ?? 0);
    const { selector, hasStayed } = (await page.evaluate(hurry(keys))) as { selector: string; hasStayed: boolean };
    t.ok(await page.evaluate(isFocused(goesTo)), `${keys.join(", ")}: ${selector}`);
    t.ok(hasStayed, `${keys.join(", ")}: and it stays there`);
    await page.evaluate("document.activeElement.blur()");
  }
  t.strictSame(complaints, []);
});

t.test("a key that changes the place puts the focus on its message", { skip }, async (t) => {
  const { server, ann, ben } = await house();
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, lunch);
  await page.locator(".feed .message.cursor").waitFor();
  const id = await ben.say("general", "supper", "What about soup?");
  await page
    .getByText("What about soup?")
    .or(page.locator(".left-bar", { hasText: "supper" }))
    .first()
    .waitFor();
  await page.keyboard.press("n");
  await until(page, isFocused(`${row(id)}.cursor`));
  t.strictSame(complaints, []);
});

const manyMessages = 450;

t.test("a key that opens a place leaves the bar that had the focus", { skip }, async (t) => {
  const { server, ann, ben } = await house();
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, "#inbox");
  const id = await ben.say("general", "from the bar", "Soup?");
  await page.locator(".left-bar a", { hasText: "Starred messages" }).focus();
  await page.locator(".inbox-link", { hasText: "from the bar" }).waitFor();
  await page.keyboard.press("n");
  await until(page, isFocused(`.message.cursor[data-id="${id}"]`));
  await page.keyboard.press("Enter");
  await until(page, isWriting);
});

t.test("End and its button select the newest message, also one that is not loaded", { skip }, async (t) => {
  const { server, ann, ben } = await house();
  const ids: number[] = [];
  for (let at = 0; at < manyMessages; at++) ids.push(await ben.say("general", "long", `Line ${at}`));
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, `${topicOf("long")}/near/${ids[0]}`);
  await page.locator(row(ids[0] ?? 0)).waitFor();
  t.notOk(await page.evaluate(isThere(row(ids.at(-1) ?? 0))), "not loaded");
  const isAtEnd = isFocused(`${row(ids.at(-1) ?? 0)}.cursor`);
  await page.keyboard.press("End");
  await until(page, isAtEnd);
  const button = page.getByRole("button", { name: "Go to the newest message" });
  await page.keyboard.press("Home");
  await button.click();
  await until(page, isAtEnd);
  t.pass("the button gives its focus to the message");
  await page.evaluate(`location.hash = "${topicOf("long")}/near/${ids[1]}"`);
  await page.locator(row(ids[1] ?? 0)).waitFor();
  await button.press("Enter");
  await until(page, isAtEnd);
  t.pass("also when the message was not loaded");
  t.strictSame(complaints, []);
});
