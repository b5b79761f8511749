/** Every form of the page, sent twice, and once refused: each time it is as it was when it was opened, or as it was filled in. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** The page of an owner. */
async function openAt(t: Test, fragment: string) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 100 });
  const { page } = await openPage(t);
  await logIn(page, server.url, ann, fragment);
  return { ann, page };
}

type Invitations = readonly {
  readonly invited_as: number;
  readonly is_multiuse: boolean;
  readonly expiry_date: number;
}[];

t.test("the second invitation has the role that the form was opened with", { skip }, async (t) => {
  const { ann, page } = await openAt(t, "#organization/invitations");
  const role = page.getByLabel("They join as");
  const expiry = page.getByLabel("The invitation is valid for");
  const emails = page.getByLabel("Email addresses");
  const chosen = async () => [await role.inputValue(), await expiry.inputValue()];
  const opened = ["400", "14400"];
  await role.waitFor();
  t.strictSame(await chosen(), opened, "a member, for ten days");
  const invited = async () => ((await ann.get("/invites")).body.invites as Invitations).map((one) => one.invited_as);

  await emails.fill("first@example.com");
  await page.getByRole("button", { name: "Send invitations" }).click();
  await until(page, `document.querySelector("[name=emails]").value === ""`);
  t.strictSame(await chosen(), opened);
  await emails.fill("second@example.com");
  await page.getByRole("button", { name: "Send invitations" }).click();
  await until(page, `document.querySelector("[name=emails]").value === ""`);
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByLabel("Invitation link").waitFor();
  t.strictSame(await invited(), [400, 400, 400]);

  await role.selectOption("100");
  await expiry.selectOption("1440");
  await emails.fill("not an address");
  await page.getByRole("button", { name: "Send invitations" }).click();
  await page.getByRole("alert").waitFor();
  t.match(await page.getByRole("alert").innerText(), /^Nobody was invited: not an address: Invalid address\.$/);
  t.strictSame(
    [...(await chosen()), await emails.inputValue()],
    ["100", "1440", "not an address"],
    "a refusal changes nothing",
  );
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await until(page, `document.querySelector("[name=role]").value === "400"`);
  t.strictSame(
    [...(await chosen()), await emails.inputValue()],
    [...opened, "not an address"],
    "the addresses were not sent",
  );
  t.strictSame((await invited()).sort(), [100, 400, 400, 400], "an owner only where an owner was chosen");
});

interface FormCase {
  readonly at: string;
  readonly name: string;
  readonly action: string;
  /** What is chosen and typed, by the names of the fields. */
  readonly filled: (round: number) => Readonly<Record<string, string>>;
  /** A value of the first text field that the server refuses. */
  readonly refused: Readonly<Record<string, string>>;
}

const forms: readonly FormCase[] = [
  {
    at: "bots",
    name: "Add a bot",
    action: "Add",
    filled: (round) => ({
      bot_type: "3",
      full_name: `Helper ${round}`,
      short_name: `helper${round}`,
      payload_url: "https://example.com/hook",
    }),
    refused: { bot_type: "2", full_name: "Helper 1", short_name: "helper1" },
  },
  {
    at: "profile-fields",
    name: "Add a field",
    action: "Add",
    filled: (round) => ({ type: "3", name: `Where ${round}`, hint: "Home", choices: "North\nSouth" }),
    refused: { type: "3", name: "Where 1", hint: "Again", choices: "North" },
  },
  {
    at: "folders",
    name: "Add a folder",
    action: "Add",
    filled: (round) => ({ name: `Folder ${round}`, description: "For soup" }),
    refused: { name: "Folder 1", description: "Again" },
  },
  {
    at: "linkifiers",
    name: "Add a linkifier",
    action: "Add",
    filled: (round) => ({ pattern: `T${round}-(?P<id>[0-9]+)`, url_template: "https://example.com/{id}" }),
    refused: { pattern: "T1-(?P<id>[0-9]+)", url_template: "https://example.com/{id}" },
  },
  {
    at: "emoji",
    name: "Add an emoji",
    action: "Add",
    filled: (round) => ({ file: `Soup ${round}.png`, name: `soup_${round}` }),
    refused: { file: "Soup 3.png", name: "not allowed!" },
  },
];

/** The values of a form's fields, and which choice of each list is shown. */
const valuesOf = (page: Page, form: string) =>
  page.evaluate(`Object.fromEntries([...document.querySelector('form[aria-label="${form}"]').elements]
    .filter((one) => one.name !== "" && one.tagName !== "BUTTON")
    .map((one) => [one.name, one.type === "file" ? String(one.files.length) : one.value]))`) as Promise<
    Readonly<Record<string, string>>
  >;

async function fill(page: Page, form: string, values: Readonly<Record<string, string>>): Promise<void> {
  const box = page.getByRole("form", { name: form });
  for (const [name, value] of Object.entries(values)) {
    const field = box.locator(`[name="${name}"]`);
    if (name === "file")
      await field.setInputFiles({ name: value, mimeType: "image/png", buffer: await picture("png", 8, 8) });
    else if ((await field.locator("option").count()) > 0) await field.selectOption(value);
    else await field.fill(value);
  }
}

t.test("a form that was sent is as it was when it was opened, each time", { skip }, async (t) => {
  const { page } = await openAt(t, "#organization/bots");
  for (const { at, name, action, filled, refused } of forms) {
    await page.evaluate(`location.hash = "#organization/${at}"`);
    const form = page.getByRole("form", { name });
    await form.waitFor();
    const opened = await valuesOf(page, name);
    const send = () => form.getByRole("button", { name: action, exact: true }).click();
    const isOpened = `JSON.stringify(Object.fromEntries([...document.querySelector('form[aria-label="${name}"]').elements]
      .filter((one) => one.name !== "" && one.tagName !== "BUTTON")
      .map((one) => [one.name, one.type === "file" ? String(one.files.length) : one.value])))
      === ${JSON.stringify(JSON.stringify(opened))}`;
    for (const round of [1, 2]) {
      await fill(page, name, filled(round));
      await send();
      await until(page, isOpened);
    }
    await fill(page, name, refused);
    const before = await valuesOf(page, name);
    await send();
    await form.getByRole("alert").waitFor();
    t.strictSame(await valuesOf(page, name), before, `${name}: a refusal changes nothing`);
  }
});

t.test("alert words are added twice, and removed", { skip }, async (t) => {
  const { ann, page } = await openAt(t, "#settings/notifications");
  const form = page.getByRole("form", { name: "Add an alert word" });
  for (const word of ["soup", "café, crème"]) {
    await form.getByLabel("Word").fill(word);
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: `Remove ${word}` }).waitFor();
    await until(page, `document.querySelector("[name=word]").value === ""`);
  }
  t.strictSame((await ann.get("/users/me/alert_words")).body.alert_words.sort(), ["café, crème", "soup"]);
  await page.getByRole("button", { name: "Remove soup" }).click();
  await page.getByRole("button", { name: "Remove soup" }).waitFor({ state: "detached" });
  t.strictSame((await ann.get("/users/me/alert_words")).body.alert_words, ["café, crème"]);
});

t.test("the password is changed twice, and a wrong one stays in its field", { skip }, async (t) => {
  const { page } = await openAt(t, "#settings/sessions");
  const old = page.getByLabel("Present password");
  const next = page.getByLabel("New password");
  const send = page.getByRole("button", { name: "Change the password" });
  for (const [before, after] of [
    ["correct horse battery", "a longer horse battery"],
    ["a longer horse battery", "correct horse battery"],
  ] as const) {
    await old.fill(before);
    await next.fill(after);
    await send.dblclick();
    await until(page, `document.querySelector("[name=new]").value === ""`);
    t.equal(await page.getByRole("alert").count(), 0);
  }
  await old.fill("not this one");
  await next.fill("a longer horse battery");
  await send.click();
  await page.getByRole("alert").waitFor();
  t.equal(await next.inputValue(), "a longer horse battery");
});

t.test(
  "the list of sessions claims no more than the server knows, and nothing about the browser in use",
  { skip },
  async (t) => {
    const server = await startTestServer(t);
    const ann = await server.person("Ann Ames");
    const [here, there] = [await openPage(t), await openPage(t)];
    await logIn(there.page, server.url, ann);
    await here.page.route("**/api/v1/sessions", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      // The server notes a use once in an hour.
      for (const session of body.sessions) session.last_used_at -= 19 * 60;
      await route.fulfill({ response, json: body });
    });
    await logIn(here.page, server.url, ann, "#settings/sessions");
    const lines = here.page.locator("li.setting", { hasText: "Since" });
    await lines.nth(1).waitFor();
    const own = lines.filter({ hasText: "This browser." });
    t.equal(await own.count(), 1);
    t.notMatch(await own.innerText(), /used/);
    t.match(
      await lines.filter({ hasNotText: "This browser." }).innerText(),
      /Last used within the last hour\.\s+Log out there$/,
    );
  },
);

t.test(
  "two messages are scheduled, one after a time in the past and one after a look at the dialog",
  { skip },
  async (t) => {
    const { ann, page } = await openAt(t, "#narrow/channel/1-general/topic/lunch");
    const area = page.locator("#compose-text");
    const later = page.getByRole("button", { name: "Send later" });
    const dialog = page.getByRole("dialog", { name: "Send later" });
    const time = dialog.getByLabel("Another time");
    const problem = dialog.getByRole("alert");
    const send = dialog.getByRole("button", { name: "Schedule" });
    const [past, future] = ["2026-01-01T10:00", "2090-01-01T10:00"];

    await area.fill("Soup");
    await later.click();
    await time.fill(past);
    await send.click();
    await problem.waitFor();
    t.match(await problem.innerText(), /^The message was not scheduled: .*future/);
    t.equal(await time.inputValue(), past, "a refusal changes nothing");
    await time.fill(future);
    await send.click();
    await dialog.waitFor({ state: "detached" });
    t.equal(await area.inputValue(), "");
    await until(page, "document.activeElement !== document.body");

    await area.fill("Bread");
    await later.click();
    await time.fill(past);
    await send.click();
    await problem.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    t.equal(await area.inputValue(), "Bread");
    await later.click();
    t.strictSame([await time.inputValue(), await problem.count()], ["", 0], "it is as it was when it was first opened");
    await dialog.getByRole("button", { name: "Tomorrow morning" }).click();
    await dialog.waitFor({ state: "detached" });
    t.equal(await area.inputValue(), "");
    type Scheduled = readonly { readonly content: string }[];
    const scheduled = (await ann.get("/scheduled_messages")).body.scheduled_messages as Scheduled;
    t.strictSame(scheduled.map(({ content }) => content).sort(), ["Bread", "Soup"]);
  },
);
