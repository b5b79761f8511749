/** What a person learns of messages while they look elsewhere: desktop notifications, the title, the live region. */
import t, { type Test } from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** A window that is in the background, and a system that keeps the notifications that it was given. */
const elsewhere = `
  window.isAway = true;
  window.given = [];
  Object.defineProperty(document, "hidden", { get: () => window.isAway });
  const Native = window.Notification;
  window.Notification = class extends EventTarget {
    static get permission() { return Native.permission; }
    static requestPermission() { return Native.requestPermission(); }
    constructor(title, options) { super(); window.given.push({ title, body: options.body, shown: this }); }
    close() {}
  };
`;

async function open(t: Test) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  const { page, complaints } = await openPage(t);
  await page.context().grantPermissions(["notifications"]);
  await page.addInitScript(elsewhere);
  await logIn(page, server.url, ann);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const given = () => page.evaluate("window.given.map(({ title, body }) => [title, body])");
  return { server, page, complaints, ann, ben, given };
}

t.test("a window in the background notifies of direct messages and mentions", { skip }, async (t) => {
  const { page, complaints, ann, ben, given } = await open(t);
  await ben.say("general", "lunch", "Nothing for anybody");
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Do you have **ten** minutes?" });
  await ben.say("general", "lunch", "Is @**Ann Ames** there? <b>x</b>");
  await until(page, "window.given.length === 2");
  t.strictSame(await given(), [
    ["Ben Bright", "Do you have ten minutes?"],
    ["Ben Bright (#general > lunch)", "Is @Ann Ames there? <b>x</b>"],
  ]);
  await page.evaluate(`window.given[1].shown.dispatchEvent(new Event("click"))`);
  await page.locator(".feed .message[data-id]", { hasText: "there?" }).waitFor();
  t.match(page.url(), /#narrow\/channel\/1-general\/topic\/lunch/, "a click leads to the message");
  await page.evaluate(`(window.isAway = false, document.dispatchEvent(new Event("visibilitychange")))`);
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Seen?" });
  await until(page, `document.title.startsWith("(2) ")`);
  t.equal(((await given()) as unknown[]).length, 2, "somebody who looks needs no notification");
  t.strictSame(complaints, []);
});

t.test("wildcards and followed topics notify as their settings say, muted ones do not", { skip }, async (t) => {
  const { page, complaints, ann, ben, given } = await open(t);
  const setPolicy = (topic: string, policy: number) =>
    ann.post("/user_topics", { stream_id: 1, topic, visibility_policy: policy });
  await ann.patch("/settings", { enable_followed_topic_desktop_notifications: true });
  await setPolicy("followed", 3);
  await setPolicy("muted", 1);
  // Events arrive in order, so the page knows the policies and settings before the messages.
  await ben.say("general", "lunch", "@**all** one");
  await ann.say("general", "lunch", "I am a participant of this topic");
  await ben.say("general", "lunch", "@**topic** two");
  await ben.say("general", "followed", "three");
  await ben.say("general", "muted", "@**all** not this");
  await ben.say("general", "lunch", "nor this");
  await ann.patch("/settings", { wildcard_mentions_notify: false });
  await ben.say("general", "lunch", "@**all** nor this");
  await ann.patch("/settings", { enable_followed_topic_desktop_notifications: false });
  await ben.say("general", "followed", "nor this");
  await ben.say("general", "followed", "@**all** four");
  await ann.patch("/settings", { enable_followed_topic_wildcard_mentions_notify: false });
  await ben.say("general", "followed", "@**all** nor this");
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "the end" });
  await until(page, `window.given.at(-1)?.body === "the end"`);
  t.strictSame(
    ((await given()) as [string, string][]).map(([, body]) => body),
    ["@all one", "@topic two", "three", "@all four", "the end"],
  );
  t.strictSame(complaints, []);
});

t.test("a notification hides spoilers, and shows formulas and emoji as they were typed", { skip }, async (t) => {
  const { page, ann, ben, given } = await open(t);
  const said = [
    "```spoiler The butler\nHe did it\n```",
    "So $$x^2$$ :tada:",
    "/me waves",
    "Look <time:2026-11-28T13:05:00Z>",
  ];
  for (const content of said) await ben.post("/messages", { type: "direct", to: [ann.userId], content });
  await until(page, `window.given.length === ${said.length}`);
  const bodies = ((await given()) as [string, string][]).map(([, body]) => body);
  t.match(bodies[0], /The butler/);
  t.notMatch(bodies[0], /did it/);
  t.strictSame(bodies.slice(1, 3), ["So x^2 🎉", "waves"]);
  t.notMatch(bodies[3], /2026-11-28T/, "a time for people");
  const log = page.getByRole("log");
  await page.goto(`${page.url().split("#")[0]}#narrow/dm/${ben.userId}-dm`);
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: said[0] ?? "" });
  await log.getByText("The butler").waitFor();
  t.notMatch(await log.innerText(), /did it/, "nor does the live region say them");
});

t.test("the title counts what is unread, and forgets what was read elsewhere", { skip }, async (t) => {
  const { page, ann, ben } = await open(t);
  const { body } = await ben.post("/messages", { type: "direct", to: [ann.userId], content: "one" });
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "two" });
  await until(page, `document.title.startsWith("(2) ")`);
  await ann.post("/messages/flags", { messages: [body.id], op: "add", flag: "read" });
  await until(page, `document.title.startsWith("(1) ")`);
  await ann.post("/mark_all_as_read");
  await until(page, `!document.title.startsWith("(")`);
  t.pass("the title is the organization's name again");
});
