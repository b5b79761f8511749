/** Clicks and keys that come twice, forms that are filled in again before the first answer, and a slow processor. */
import t, { type Test } from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { type HeldNetwork, holdSocket } from "../support/held-network.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** The page of an administrator. */
async function openAt(t: Test, fragment: string) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  const opened = await openPage(t);
  const network = await holdSocket(opened.page);
  await logIn(opened.page, server.url, ann, fragment);
  await network.isUsed;
  return { server, ann, ben, network, ...opened };
}

/** Does something while no answer comes. */
async function meanwhile(network: HeldNetwork, act: () => Promise<unknown>): Promise<void> {
  network.hold();
  await act();
  network.release();
}

const topic = "#narrow/channel/1-general/topic/lunch";

t.test("a second click makes nothing twice", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, "#channels/new");
  await page.getByLabel("Name", { exact: true }).fill("kitchen");
  const create = page.getByRole("button", { name: "Create", exact: true });
  await meanwhile(network, () => create.dblclick());
  await page.getByText("#kitchen is ready.").waitFor();

  await page.evaluate(`location.hash = "#organization/invitations"`);
  const makeLink = page.getByRole("button", { name: "Make a link" });
  await meanwhile(network, () => makeLink.dblclick());
  await page.getByLabel("Invitation link").waitFor();
  t.ok(await page.evaluate("document.activeElement?.value === 'link'"), "the button keeps the focus");
  t.equal((await ann.get("/invites")).body.invites.length, 1);

  await ann.say("general", "lunch", "Soup");
  await page.evaluate(`location.hash = ${JSON.stringify(topic)}`);
  const resolve = page.getByRole("button", { name: "Mark as resolved" });
  await resolve.waitFor();
  await meanwhile(network, () => resolve.dblclick());
  await page.getByRole("button", { name: "Mark as unresolved" }).waitFor();
  t.equal(await page.getByRole("status").getByText("not changed").count(), 0);

  await page.locator("#compose-text").fill("Only once");
  const send = page.getByRole("button", { name: "Send", exact: true });
  await meanwhile(network, () => send.dblclick());
  await page.locator(".feed .message[data-id]", { hasText: "Only once" }).waitFor();
  t.equal(await page.getByRole("alert").count(), 0, "and the second click is no mistake of the person");
  await page.locator("#compose-text").fill("For tomorrow");
  await page.getByRole("button", { name: "Send later" }).click();
  const tomorrow = page.getByRole("button", { name: "Tomorrow morning" });
  await meanwhile(network, async () => {
    await tomorrow.dblclick();
    // The dialog may be closed before its answer: what is written then is another message.
    await page.keyboard.press("Escape");
    await page.locator("#compose-text").fill("For today");
  });
  await page.getByText("It will be sent on").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "For today");
  t.equal((await ann.get("/scheduled_messages")).body.scheduled_messages.length, 1);
  const { body } = await ann.get("/messages", { anchor: "newest", num_before: 9, num_after: 0 });
  t.equal(body.messages.filter(({ content }: { content: string }) => content.includes("Only once")).length, 1);
});

t.test("the last choice stays, whenever the answers come", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, "#settings/preferences");
  const box = page.getByLabel("Enter sends");
  const list = page.getByLabel("Theme");
  await box.waitFor();
  await meanwhile(network, async () => {
    await box.click();
    t.ok(await box.isChecked(), "at once");
    await list.selectOption({ label: "Dark" });
    await box.click();
    await list.selectOption({ label: "Light" });
    t.notOk(await box.isChecked());
    t.equal(await list.inputValue(), "3");
  });
  await until(
    page,
    `[...document.querySelectorAll(".saved")].filter((one) => one.textContent === "Saved").length === 2`,
  );
  const settings = async () =>
    (await ann.post("/register", { fetch_event_types: ["user_settings"] })).body.user_settings;
  t.match(await settings(), { enter_sends: false, color_scheme: 3 });
  t.strictSame([await box.isChecked(), await list.inputValue()], [false, "3"]);
  await ann.patch("/settings", { enter_sends: true });
  await until(page, `document.querySelector("#setting-enter_sends").checked`);
});

t.test("a form keeps what was typed for the next entry", { skip }, async (t) => {
  const { page, network } = await openAt(t, "#organization/linkifiers");
  const form = page.getByRole("form", { name: "Add a linkifier" });
  await form.getByLabel("Pattern").fill("#(?P<id>[0-9]+)");
  await form.getByLabel("Address").fill("https://example.com/{id}");
  await meanwhile(network, async () => {
    await page.keyboard.press("Enter");
    await form.getByLabel("Pattern").fill("T(?P<id>[0-9]+)");
  });
  await page.getByRole("button", { name: "Change #(?P<id>[0-9]+)" }).waitFor();
  await until(page, `document.querySelector("[name=url_template]").value === ""`);
  t.equal(await form.getByLabel("Pattern").inputValue(), "T(?P<id>[0-9]+)");

  // The button that was pressed is replaced by a form, and the other way round.
  await page.getByRole("button", { name: "Change #(?P<id>[0-9]+)" }).press("Enter");
  await until(page, "document.activeElement?.value === '#(?P<id>[0-9]+)'");
  await page.keyboard.press("Enter");
  await until(page, "document.activeElement?.getAttribute('aria-label') === 'Change #(?P<id>[0-9]+)'");
});

t.test("groups, changes and moves are made once by two clicks, and a second time", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, "#inbox");
  await ann.post("/realm/profile_fields", { field_type: 1, name: "Where" });
  await ann.say("general", "lunch", "Soup");
  const goTo = (fragment: string) => page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  for (const name of ["cooks", "guests"]) {
    await goTo("#groups/new");
    const form = page.getByRole("form", { name: "New group" });
    await form.waitFor();
    t.equal(await form.getByLabel("Name").inputValue(), "", "a new group has no name");
    await form.getByLabel("Name").fill(name);
    await meanwhile(network, () => form.getByRole("button", { name: "Create" }).dblclick());
    await page.getByRole("heading", { name }).waitFor();
  }
  for (const name of ["kitchen", "garden"]) {
    await goTo("#channels/new");
    const field = page.getByLabel("Name", { exact: true });
    await field.waitFor();
    t.equal(await field.inputValue(), "", "a new channel has no name");
    await field.fill(name);
    await meanwhile(network, () => page.getByRole("button", { name: "Create", exact: true }).dblclick());
    await page.getByText(`#${name} is ready.`).waitFor();
  }
  await goTo("#organization/profile-fields");
  let hint = "";
  for (const next of ["Home", "Town"]) {
    await page.getByRole("button", { name: "Change Where" }).click();
    const form = page.getByRole("form", { name: "Change Where" });
    t.equal(await form.getByLabel("Hint").inputValue(), hint, "the field as it is");
    await form.getByLabel("Hint").fill(next);
    await meanwhile(network, () => form.getByRole("button", { name: "Save" }).dblclick());
    await form.waitFor({ state: "detached" });
    hint = next;
  }
  await goTo(topic);
  let name = "lunch";
  for (const next of ["supper", "dinner"]) {
    await page.locator(".feed .message[data-id]", { hasText: "Soup" }).click();
    await page.keyboard.press("m");
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("textbox", { name: "Topic" });
    t.equal(await field.inputValue(), name, "the topic as it is");
    await field.fill(next);
    await dialog.getByLabel("Leave a note in both topics").uncheck();
    await meanwhile(network, () => dialog.getByRole("button", { name: "Move", exact: true }).dblclick());
    await dialog.waitFor({ state: "detached" });
    await until(page, `location.hash.includes("/topic/${next}/")`);
    name = next;
  }
  t.equal(await page.getByRole("alert").count(), 0, "no second click was refused");
});

t.test("an option and a task are added while the one before is on its way", { skip }, async (t) => {
  const { ann, page, network } = await openAt(t, topic);
  await ann.say("general", "lunch", "/poll Drinks?");
  await ann.say("general", "lunch", "/todo Shopping");
  for (const [label, rows] of [
    ["New option", ".poll-option"],
    ["New task", ".widget label.check"],
  ] as const) {
    const field = page.getByLabel(label);
    await field.waitFor();
    await meanwhile(network, async () => {
      for (const text of ["Tea", "Milk"]) {
        await field.fill(text);
        await page
          .getByRole("button", { name: "Add", exact: true })
          .nth(label === "New task" ? 1 : 0)
          .dblclick();
      }
    });
    for (const text of ["Tea", "Milk"]) await page.locator(rows, { hasText: text }).waitFor();
    t.equal(await page.locator(rows).count(), 2, label);
  }
});

t.test("a box that is not shown takes no focus later", { skip }, async (t) => {
  const { ann, ben, page } = await openAt(t, "#inbox");
  await ann.patch("/settings", { web_navigate_to_sent_message: false });
  await ann.say("general", "before", "Soup");
  // The setting is there before the message of another person is.
  await ben.say("general", "settled", "Soup?");
  await page.locator(".inbox-link", { hasText: "settled" }).waitFor();
  await page.keyboard.press("c");
  await page.keyboard.type("From the inbox");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "Choose where to send it." }).waitFor();
  await page.getByLabel("Channel", { exact: true }).selectOption({ label: "general" });
  await page.getByLabel("Topic", { exact: true }).fill("new");
  await page.locator("#compose-text").press("Control+Enter");
  await page.locator("#compose-text").waitFor({ state: "detached" });
  await ben.say("general", "other", "Soup?");
  await page.locator(".inbox-link", { hasText: "other" }).click();
  await page.locator(".feed .message.cursor").waitFor();
  t.notOk(await page.evaluate(`document.activeElement?.id === "compose-text"`));
});

/** How much slower the page's processor is. */
const slowness = 10;

t.test("on a slow machine no key is lost and none goes astray", { skip }, async (t) => {
  const { server, ann, ben } = await openAt(t, "#inbox");
  const id = await ben.say("general", "lunch", "Who is in for soup?");
  const { page, complaints } = await openPage(t);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowness });
  await page.goto(server.url);
  await page.getByLabel("Email address").waitFor();
  await page.keyboard.type(ann.account?.email ?? "");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse battery");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.keyboard.press("n");
  await page.locator(`.feed .message.cursor[data-id="${id}"]`).waitFor();
  // From here on nothing is waited for between keys, but what the person would look at.
  await page.keyboard.press("r");
  await page.keyboard.type("I am, @Ben");
  await page.keyboard.press("Enter");
  await page.keyboard.type("and #gen");
  await page.keyboard.press("Enter");
  await page.keyboard.type("lun");
  await page.getByRole("option", { name: "lunch" }).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.type("in ten minutes");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Escape");
  await page.locator(".feed .message.mine.cursor").waitFor();
  await page.keyboard.press("e");
  await page.keyboard.type(", promised");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("/");
  await page.keyboard.type("soup");
  await page.keyboard.press("Enter");
  await page.locator(".feed .highlight", { hasText: "soup" }).waitFor();
  const query = { anchor: "newest", num_before: 9, num_after: 0, apply_markdown: false };
  const contents = async (): Promise<string[]> =>
    (await ann.get("/messages", query)).body.messages.map(({ content }: { content: string }) => content);
  while (!(await contents()).at(-1)?.endsWith("promised")) await page.waitForTimeout(50);
  const wanted = ["Who is in for soup?", "I am, @**Ben Bright** and #**general>lunch** in ten minutes, promised"];
  t.strictSame(await contents(), wanted);
  t.strictSame(
    complaints.filter((text) => !text.includes("401")),
    [],
  );
});
