/** Administration in the page: each screen changes what it says, and says what a refusal was, next to the form. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { uploaded } from "../support/attachments.ts";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { picture } from "../support/pictures.ts";
import { noonClock } from "../support/realtime-clock.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

t.test("[D259] administrators see the figures of their organization, and members do not", { skip }, async (t) => {
  const server = await startTestServer(t, { clock: noonClock() });
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  for (let count = 0; count < 2; count++) await ben.say("general", "lunch", "Soup");
  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, "#inbox");
  // Asking for a session that does not exist yet is one.
  complaints.length = 0;
  // The page is connected when it shows what happens.
  await ben.say("general", "supper", "Soup");
  await page.locator(".inbox-link", { hasText: "supper" }).waitFor();
  await page.evaluate(`location.hash = "#organization/statistics"`);
  await page.getByRole("img", { name: /^3 messages in 30 days, at most 3 a day$/ }).waitFor();
  const row = (label: string) => page.locator(".figures div", { hasText: label }).last();
  t.equal(await row("Members").innerText(), "Members\n1");
  t.equal(await row("Connected clients").innerText(), "Connected clients\n1", "this page");
  t.match(await row("Uploaded files").innerText(), /^Uploaded files\n0 bytes of 10 GiB$/);
  await server.owner.patch(`/users/${ann.userId}`, { role: 400 });
  await page.getByRole("link", { name: "Statistics" }).waitFor({ state: "detached" });
  t.strictSame(complaints, []);
});

interface Opened {
  readonly server: TestServer;
  readonly admin: Client;
  readonly page: Page;
}

/** The page of an administrator. */
async function openAt(t: Test, fragment: string): Promise<Opened> {
  const server = await startTestServer(t);
  const admin = await server.person("Ann Ames");
  await server.owner.patch(`/users/${admin.userId}`, { role: 200 });
  const { page } = await openPage(t);
  await logIn(page, server.url, admin, fragment);
  return { server, admin, page };
}

interface Field {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  readonly field_data: string;
}

const formOf = (page: Page, name: string) => page.getByRole("form", { name });

t.test("an emoji is added from a picture, its name is that of the file, and it can be removed", { skip }, async (t) => {
  const { admin, page } = await openAt(t, "#organization/emoji");
  const form = formOf(page, "Add an emoji");
  const buffer = await picture("png", 32, 32);
  await form.getByLabel("Picture").setInputFiles({ name: "Party Parrot.png", mimeType: "image/png", buffer });
  t.equal(await form.getByLabel("Name").inputValue(), "party_parrot");
  await form.getByLabel("Name").fill("Not a Name!");
  await form.getByRole("button", { name: "Add" }).click();
  await form.getByRole("alert").filter({ hasText: "The emoji was not added: " }).waitFor();
  t.equal(await form.getByLabel("Name").inputValue(), "Not a Name!", "what was typed stays");
  await form.getByLabel("Name").fill("parrot");
  await form.getByRole("button", { name: "Add" }).click();
  await page.getByText(":parrot:").waitFor();
  await until(page, `document.querySelector(".custom-emoji")?.naturalWidth > 0`);
  const text = { name: "x.png", mimeType: "image/png", buffer: Buffer.from("no picture") };
  await form.getByLabel("Picture").setInputFiles(text);
  await form.getByRole("button", { name: "Add" }).click();
  await form.getByRole("alert").filter({ hasText: "The emoji was not added: " }).waitFor();
  await page.getByRole("button", { name: "Remove parrot" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("There are none yet.").waitFor();
  const { body } = await admin.get("/realm/emoji");
  t.strictSame(
    (Object.values(body.emoji) as { name: string; deactivated: boolean }[]).map((one) => [one.name, one.deactivated]),
    [["parrot", true]],
  );
});

t.test("a linkifier is added, tried as the server renders it, changed, ordered and removed", { skip }, async (t) => {
  const { admin, page } = await openAt(t, "#organization/linkifiers");
  const stored = async () => (await admin.get("/realm/linkifiers")).body.linkifiers;
  const form = formOf(page, "Add a linkifier");
  const fill = async (pattern: string, address: string) => {
    await form.getByLabel("Pattern").fill(pattern);
    await form.getByLabel("Address").fill(address);
    await form.getByRole("button", { name: "Add" }).click();
  };
  await fill("#(?P<id>[0-9]+", "https://example.com/{id}");
  await form.getByRole("alert").filter({ hasText: "The linkifier was not added: " }).waitFor();
  t.equal(await form.getByLabel("Pattern").inputValue(), "#(?P<id>[0-9]+", "what was typed stays");
  // What is in the fields is tried, and nothing is saved.
  const lines = form.getByRole("status", { name: "Links" }).getByRole("listitem");
  await form.getByLabel("Text to try it with").fill("Soup is #17 or #18, not 19");
  await page.keyboard.press("Enter");
  await form.getByRole("alert").filter({ hasText: "It cannot be tried: Bad regular expression" }).waitFor();
  await form.getByLabel("Pattern").fill("#(?P<id>[0-9]+)");
  await form.getByRole("button", { name: "Try" }).click();
  await lines.nth(1).waitFor();
  t.strictSame(await lines.allInnerTexts(), ["#17  https://example.com/17", "#18  https://example.com/18"]);
  t.strictSame(await stored(), []);
  await fill("#(?P<id>[0-9]+)", "https://example.com/{id}");
  await page.locator(".setting code", { hasText: "#(?P<id>[0-9]+)" }).waitFor();
  const trial = formOf(page, "Try the linkifiers");
  await trial.getByLabel("Text").fill("See #17");
  await trial.getByRole("button", { name: "Try" }).click();
  t.equal(await trial.getByRole("link", { name: "#17" }).getAttribute("href"), "https://example.com/17");
  await fill("T(?P<id>[0-9]+)", "https://example.org/{id}");
  await page.getByRole("button", { name: "Move T(?P<id>[0-9]+) up" }).click();
  await page.getByRole("button", { name: "Move #(?P<id>[0-9]+) up" }).waitFor();
  t.match(await stored(), [{ pattern: "T(?P<id>[0-9]+)" }, { pattern: "#(?P<id>[0-9]+)" }]);
  await page.getByRole("button", { name: "Change T(?P<id>[0-9]+)" }).click();
  const change = formOf(page, "Change T(?P<id>[0-9]+)");
  await change.getByLabel("Address").fill("https://example.net/{id}");
  await change.getByRole("button", { name: "Save" }).click();
  await page.getByText("https://example.net/{id}").waitFor();
  await page.getByRole("button", { name: "Remove T(?P<id>[0-9]+)" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("https://example.net/{id}").waitFor({ state: "detached" });
  t.match(await stored(), [{ pattern: "#(?P<id>[0-9]+)" }]);
});

t.test(
  "[S2] a bot's key is shown once; a bot is renamed, gets another key, ends and comes back",
  { skip },
  async (t) => {
    const { admin, page, server } = await openAt(t, "#organization/bots");
    const form = formOf(page, "Add a bot");
    await form.getByLabel("Name", { exact: true }).fill("Echo");
    await form.getByLabel("Short name").fill("two words!");
    await form.getByRole("button", { name: "Add" }).click();
    await form.getByRole("alert").filter({ hasText: "The bot was not added: " }).waitFor();
    t.equal(await form.getByLabel("Short name").inputValue(), "two words!", "what was typed stays");
    await form.getByLabel("Short name").fill("echo");
    await form.getByRole("button", { name: "Add" }).click();
    const box = page.getByLabel("Key of Echo");
    await box.waitFor();
    const zuliprc = await box.inputValue();
    const keyIn = (text: string) => /^key=(\w+)$/m.exec(text)?.[1] ?? "";
    const email = /^email=(\S+)$/m.exec(zuliprc)?.[1] ?? "";
    const statusWith = async (key: string) => {
      const authorization = `Basic ${Buffer.from(`${email}:${key}`).toString("base64")}`;
      return (await fetch(`${server.url}/api/v1/users/me`, { headers: { authorization } })).status;
    };
    t.equal(await statusWith(keyIn(zuliprc)), 200);
    await page.getByRole("button", { name: "New key for Echo" }).click();
    await until(page, `document.querySelector(".key-box textarea").value !== ${JSON.stringify(zuliprc)}`);
    t.strictSame([await statusWith(keyIn(zuliprc)), await statusWith(keyIn(await box.inputValue()))], [401, 200]);
    await page.getByLabel("Name of Echo").fill("Parrot");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Deactivate Parrot" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await page.getByRole("button", { name: "Reactivate Parrot" }).click();
    await page.getByRole("button", { name: "Deactivate Parrot" }).waitFor();
    await form.getByLabel("Kind").selectOption({ label: "Outgoing webhook: is called when somebody mentions it" });
    await form.getByLabel("Name", { exact: true }).fill("Hook");
    await form.getByLabel("Short name").fill("hook");
    await form.getByLabel("Address that is called").fill("https://example.com/hook");
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByLabel("Key of Hook").waitFor();
    t.match((await admin.get("/bots")).body.bots, [
      { full_name: "Parrot", bot_type: 1 },
      { full_name: "Hook", bot_type: 3 },
    ]);
  },
);

t.test("profile fields of each kind are added, changed and removed", { skip }, async (t) => {
  const { admin, page } = await openAt(t, "#organization/profile-fields");
  const form = formOf(page, "Add a field");
  const add = async (type: string, name: string, more: () => Promise<unknown> = async () => undefined) => {
    await form.getByLabel("Type").selectOption({ label: type });
    await form.getByLabel("Name", { exact: true }).fill(name);
    await more();
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  };
  await add("List of choices", "Team", () => form.getByRole("textbox", { name: /^Choices/ }).fill("Red\nBlue"));
  await add("People", "Mentor");
  await add("Account elsewhere", "GitHub", () => form.locator("select[name=subtype]").selectOption("github"));
  await add("Pronouns", "Pronouns");
  await add("Date", "Birthday");
  await form.getByLabel("Name", { exact: true }).fill("Team");
  await form.getByRole("button", { name: "Add" }).click();
  await form.getByRole("alert").filter({ hasText: "The field was not added: " }).waitFor();
  await page.getByRole("button", { name: "Change Team" }).click();
  const change = formOf(page, "Change Team");
  await change.getByRole("textbox", { name: /^Choices/ }).fill("Green\nBlue");
  await change.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change Team" }).waitFor();
  await page.getByRole("button", { name: "Remove Birthday" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove Birthday" }).waitFor({ state: "detached" });
  const fields = (await admin.get("/realm/profile_fields")).body.custom_fields as readonly Field[];
  t.strictSame(
    fields.map(({ name, type }) => [name, type]),
    [
      ["Team", 3],
      ["Mentor", 6],
      ["GitHub username", 7],
      ["Pronouns", 8],
    ],
  );
  const chosen = Object.entries(JSON.parse(fields[0]?.field_data ?? "") as Record<string, { text: string }>);
  const [blue] = chosen.find(([, { text }]) => text === "Blue") ?? [];
  t.equal(blue, "1", "a choice that stays keeps its key, so those who chose it keep it");
});

t.test(
  "people fill in profile fields of each kind, and what they type stays until it is saved",
  { skip },
  async (t) => {
    const { server, admin, page } = await openAt(t, "#inbox");
    const fields: Record<string, unknown>[] = [
      {
        name: "Team",
        field_type: 3,
        field_data: { "0": { text: "Red", order: "1" }, "1": { text: "Blue", order: "2" } },
      },
      { name: "Mentor", field_type: 6 },
      { field_type: 7, field_data: { subtype: "github" } },
      { name: "Called", field_type: 8 },
      { name: "Home page", field_type: 5 },
    ];
    const ids: number[] = [];
    for (const field of fields) ids.push((await admin.post("/realm/profile_fields", field)).body.id);
    const ben = await server.person("Ben Bright");
    await page.evaluate(`location.hash = "#settings/profile"`);
    await page.getByLabel("Home page").fill("no address");
    // Everything that is saved comes back as an event, while the text above is still being typed.
    await admin.patch("/settings", { full_name: "Ann Anders" });
    await until(page, `document.querySelector("#setting-full_name").value === "Ann Anders"`);
    t.equal(await page.getByLabel("Home page").inputValue(), "no address");
    await page.getByLabel("Home page").blur();
    await page.getByRole("alert").filter({ hasText: "It was not saved: " }).waitFor();
    t.equal(await page.getByLabel("Home page").inputValue(), "no address", "a refused text stays");
    await page.getByLabel("Home page").fill("https://example.com/ann");
    await page.getByLabel("Team").selectOption({ label: "Blue" });
    await page.getByRole("combobox", { name: "Mentor" }).fill("Ben");
    await page.keyboard.press("Enter");
    await page.getByLabel("GitHub username").fill("ann");
    await page.getByLabel("Called").fill("she/her");
    await page.getByLabel("Called").blur();
    const wanted = ["1", [ben.userId], "ann", "she/her", "https://example.com/ann"];
    const valuesOf = async () => {
      const { body } = await admin.get("/users/me");
      return ids.map((id) => {
        const value = body.profile_data?.[String(id)]?.value;
        return value?.startsWith("[") === true ? JSON.parse(value) : value;
      });
    };
    while (JSON.stringify(await valuesOf()) !== JSON.stringify(wanted)) await page.waitForTimeout(50);
    await page.getByLabel("Your account").click();
    await page.getByRole("menuitem", { name: "Ann Anders" }).click();
    const facts = page.getByRole("dialog", { name: "Ann Anders" }).locator("dd");
    // The page may hear of the last change later than the server has it.
    const shown = ["Blue", "Ben Bright", "ann", "she/her", "https://example.com/ann"];
    await until(
      page,
      `JSON.stringify([...document.querySelectorAll("dialog[open] dd")].map((one) => one.textContent)) ===
        ${JSON.stringify(JSON.stringify(shown))}`,
    );
    t.strictSame(await facts.allTextContents(), shown);
  },
);

t.test("folders are made, ordered, renamed and archived, and the left side follows", { skip }, async (t) => {
  const { admin, page } = await openAt(t, "#organization/folders");
  await admin.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }, { name: "garden" }] });
  const form = formOf(page, "Add a folder");
  const add = async (name: string) => {
    await form.getByLabel("Name").fill(name);
    await page.keyboard.press("Enter");
  };
  for (const name of ["Food", "Outside"]) {
    await add(name);
    await page.getByRole("button", { name: `Archive ${name}` }).waitFor();
  }
  await add("Food");
  await form.getByRole("alert").filter({ hasText: "The folder was not added: " }).waitFor();
  t.equal(await form.getByLabel("Name").inputValue(), "Food", "what was refused stays");

  const ids = new Map<string, number>();
  for (const { name, stream_id: id } of (await admin.get("/users/me/subscriptions")).body.subscriptions)
    ids.set(name, id);
  const left = page.getByRole("navigation", { name: "Conversations" });
  const moveTo = async (channel: string, folder: string) => {
    await page.evaluate(`location.hash = "#channels/${ids.get(channel)}"`);
    await page.getByRole("heading", { name: channel }).waitFor();
    await page.getByLabel("Folder").selectOption({ label: folder });
    const section = folder === "None" ? "Channels" : folder;
    await left.getByRole("region", { name: section }).getByRole("link", { name: channel }).waitFor();
  };
  await moveTo("kitchen", "Food");
  await moveTo("garden", "Outside");
  const sections = () => left.locator(".section-toggle").allInnerTexts();
  t.strictSame(await sections(), ["Direct messages", "Food", "Outside", "Channels"]);

  await page.evaluate(`location.hash = "#organization/folders"`);
  await page.getByRole("button", { name: "Move Outside up" }).click();
  await left.locator("section:nth-of-type(2)[aria-label=Outside]").waitFor();
  t.strictSame(await sections(), ["Direct messages", "Outside", "Food", "Channels"]);
  await page.getByRole("button", { name: "Change Food" }).click();
  await formOf(page, "Change Food").getByLabel("Name").fill("Meals");
  await page.keyboard.press("Enter");
  await left.getByRole("region", { name: "Meals" }).waitFor();
  await page.getByRole("button", { name: "Archive Meals" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await left.getByRole("region", { name: "Meals" }).waitFor({ state: "detached" });
  await left.getByRole("region", { name: "Channels" }).getByRole("link", { name: "kitchen" }).waitFor();
  await page.getByRole("button", { name: "Restore Meals" }).click();
  await left.getByRole("region", { name: "Meals" }).getByRole("link", { name: "kitchen" }).waitFor();
  const { channel_folders: folders } = (await admin.get("/channel_folders", { include_archived: true })).body;
  t.strictSame(
    folders.map(({ name, is_archived: isArchived }: { name: string; is_archived: boolean }) => [name, isArchived]),
    [
      ["Outside", false],
      ["Meals", false],
    ],
  );
  await moveTo("kitchen", "None");
  t.strictSame(await sections(), ["Direct messages", "Outside", "Channels"], "an empty folder is not shown");
});

t.test("a video opens with controls, speed, and captions from a file", { skip }, async (t) => {
  const { admin, page } = await openAt(t, "#inbox");
  const { url } = await uploaded(admin, Buffer.from("no video"), '"talk.mp4"');
  await admin.say("general", "talks", `[talk.mp4](${url})`);
  await page.evaluate(`location.hash = "#narrow/channel/1-general/topic/talks"`);
  await page.locator(".message_inline_video a").click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("video[controls]").waitFor();
  await dialog.getByText("This browser cannot play the video.").waitFor();
  const choose = (text: string) =>
    dialog
      .getByLabel("Captions from a file")
      .setInputFiles({ name: "talk.vtt", mimeType: "text/vtt", buffer: Buffer.from(text) });
  await choose("1\n00:00 --> 00:01\nHello");
  await dialog.getByText("talk.vtt is not a WebVTT file of at most 1 MiB.").waitFor();
  await choose("WEBVTT\n\n00:00.000 --> 00:01.000\nHello");
  await until(page, `document.querySelector("dialog track").src.startsWith("blob:")`);
  await dialog.getByLabel("Speed").selectOption("1.5");
  t.equal(await page.evaluate(`document.querySelector("dialog video").playbackRate`), 1.5);
});
