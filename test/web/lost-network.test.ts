/**
 * The network is lost in the middle of an action, or the server does not know what it is asked any more. The page says
 * what happened where it happened, keeps what was typed, and offers the next step.
 */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { chromiumFor, logIn, textsOf, until, write } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { Client as ApiClient } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { served } from "../support/operations.ts";
import { readZuliprc, startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const lunch = "#narrow/channel/1-general/topic/lunch";
const everything = { anchor: "newest", num_before: 9, num_after: 0 };

async function open(t: Test) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await ann.say("general", "lunch", "Who is in for soup?");
  return { server, ann, ...(await openPage(t)) };
}

/** Another tab of the same browser. */
async function openTab(page: Page, fragment: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(new URL(`/${fragment}`, page.url()).href);
  await tab.locator(".app").waitFor();
  return tab;
}

async function typeInto(tab: Page, text: string): Promise<void> {
  await tab.locator("#compose-text").fill(text);
}

/** What a tab does: before the network is lost, without it, and when it is back. */
interface Action {
  readonly fragment: string;
  readonly before: (tab: Page) => Promise<unknown>;
  readonly start: (tab: Page) => Promise<unknown>;
  readonly problem: RegExp;
  readonly again: (tab: Page) => Promise<unknown>;
}

const deleting: Action = {
  fragment: lunch,
  before: async (tab) => {
    const row = tab.locator(".feed .message[data-id]", { hasText: "soup" });
    await row.hover();
    await row.getByLabel("More actions").click();
    await tab.getByRole("menuitem", { name: "Delete" }).click();
  },
  start: (tab) => tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click(),
  problem: /^The message was not deleted: The server did not answer\./,
  again: async (tab) => {
    await tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await tab.getByText("The message is deleted.").waitFor();
  },
};

const scheduling: Action = {
  fragment: "#narrow/channel/1-general/topic/later",
  before: async (tab) => {
    await typeInto(tab, "for tomorrow");
    await tab.getByRole("button", { name: "Send later" }).click();
  },
  start: (tab) => tab.getByRole("button", { name: "Tomorrow morning" }).click(),
  problem: /^The message was not scheduled: The server did not answer\./,
  again: async (tab) => {
    await tab.getByRole("button", { name: "Tomorrow morning" }).click();
    await tab.getByText("It will be sent on").waitFor();
  },
};

const drafting: Action = {
  fragment: "#narrow/channel/1-general/topic/draft",
  before: (tab) => typeInto(tab, "half a sentence"),
  start: (tab) => tab.keyboard.press("Escape"),
  problem: /^The draft was not saved, so the text stays here: The server did not answer\./,
  again: async (tab) => {
    if ((await tab.locator("#compose-text").inputValue()) !== "half a sentence") throw new Error("the text is gone");
    await tab.locator("#compose-text").press("Escape");
    await tab.getByText("Saved as a draft.").waitFor();
  },
};

const setting: Action = {
  fragment: "#settings/profile",
  before: (tab) => tab.getByLabel("Status").fill("At lunch"),
  start: (tab) => tab.keyboard.press("Enter"),
  problem: /^It was not saved: The server did not answer\./,
  again: async (tab) => {
    if ((await tab.getByLabel("Status").inputValue()) !== "At lunch") throw new Error("the text is gone");
    await tab.getByRole("button", { name: "Try again" }).click();
    await tab.getByText("Saved").waitFor();
  },
};

const uploading: Action = {
  fragment: "#narrow/channel/1-general/topic/files",
  before: (tab) => typeInto(tab, "See "),
  start: (tab) =>
    tab
      .getByLabel("Files to upload")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("soup") }),
  problem: /^The file was not uploaded: The network failed\.$/,
  again: async (tab) => {
    await tab.getByRole("button", { name: "Try again" }).click();
    await until(tab, `document.getElementById("compose-text").value.startsWith("See \\n[notes.txt](/user_uploads/")`);
  },
};

t.test("a network that is lost costs nothing of what was begun", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  await logIn(page, server.url, ann);
  const actions = [deleting, scheduling, drafting, setting, uploading];
  const tabs: { readonly tab: Page; readonly action: Action }[] = [];
  for (const action of actions) {
    const tab = await openTab(page, action.fragment);
    await action.before(tab);
    tabs.push({ tab, action });
  }
  await page.context().setOffline(true);
  for (const { tab, action } of tabs) await action.start(tab);
  for (const { tab, action } of tabs) await tab.getByRole("alert").filter({ hasText: action.problem }).waitFor();
  await page.context().setOffline(false);
  for (const { tab, action } of tabs) {
    await tab.getByText("No connection.").waitFor({ state: "detached" });
    await action.again(tab);
    t.equal(await tab.getByRole("alert").count(), 0, String(action.problem));
  }
  t.match((await ann.get("/scheduled_messages")).body.scheduled_messages, [{ content: "for tomorrow" }]);
  const { drafts } = (await ann.get("/drafts")).body;
  // The text in the box of another tab may be a draft by now, too.
  const saved = drafts.filter(({ topic }: { readonly topic: string }) => topic === "draft");
  t.match(saved, [{ content: "half a sentence" }]);
  t.equal((await ann.get(`/users/${ann.userId}/status`)).body.status.status_text, "At lunch");
  const { body } = await ann.get("/messages", everything);
  t.strictSame(body.messages, []);
});

t.test("the page says that it is offline only as long as it is", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  await logIn(page, server.url, ann, lunch);
  await typeInto(page, "Without a network");
  await page.context().setOffline(true);
  await page.getByText("No connection.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText("You are offline.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("No connection.").waitFor({ state: "detached" });
  t.equal(await page.getByText("You are offline.").count(), 0);
  t.equal(await page.locator("#compose-text").inputValue(), "Without a network");
  await page.keyboard.press("Control+Enter");
  await page.locator(".feed .message[data-id]", { hasText: "Without a network" }).waitFor();
});

t.test("[D25] what a person repeats after a lost answer is done once", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  let isLost = false;
  // The server executes each of these requests, and its answers get lost.
  await page.routeWebSocket(/events\/ws/, (socket) => {
    const upstream = socket.connectToServer();
    const refs = new Set<string>();
    socket.onMessage((text) => {
      const { path, method, ref } = JSON.parse(String(text)) as { path?: string; method?: string; ref?: string };
      if (method === "POST" && path === "/scheduled_messages" && ref !== undefined) refs.add(ref);
      upstream.send(text);
    });
    upstream.onMessage((text) => {
      const { ref = "" } = JSON.parse(String(text)) as { ref?: string };
      if (!isLost || !refs.has(ref)) socket.send(text);
      else {
        socket.close();
        upstream.close();
      }
    });
  });
  await page.route("**/api/v1/scheduled_messages", async (route) => {
    if (isLost) await route.fetch();
    await (isLost ? route.abort() : route.continue());
  });
  await logIn(page, server.url, ann, lunch);
  await typeInto(page, "only once");
  await page.getByRole("button", { name: "Send later" }).click();
  isLost = true;
  await scheduling.start(page);
  await page.getByRole("alert").filter({ hasText: scheduling.problem }).waitFor();
  isLost = false;
  await page.getByText("No connection.").waitFor({ state: "detached" });
  await scheduling.again(page);
  t.match((await ann.get("/scheduled_messages")).body.scheduled_messages, { length: 1 });
});

t.test(
  "a page that the server does not understand says so, keeps the text, and can be reloaded",
  { skip },
  async (t) => {
    const { page, server, ann } = await open(t);
    let isUnderstood = true;
    const close: (() => void)[] = [];
    await page.routeWebSocket(/events\/ws/, (socket) => {
      const end = () => void socket.close({ code: 4400, reason: "malformed" });
      close.push(end);
      if (isUnderstood) socket.connectToServer();
      else socket.onMessage(end);
    });
    await logIn(page, server.url, ann, lunch);
    await page.getByText("Who is in for soup?").waitFor();
    await typeInto(page, "half a sentence");
    isUnderstood = false;
    for (const end of close) end();
    await page.getByText("The server has another version of this page.").waitFor();
    t.strictSame(await textsOf(page), ["Who is in for soup?"], "what is there can be read");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").getByText("Reload it; your text stays here.").waitFor();

    // As a server answers that does not know one of the page's parameters.
    const json = { result: "error", msg: "Invalid parameter", code: "BAD_REQUEST" };
    await page.route("**/api/v1/register", (route) => route.fulfill({ status: 400, json }));
    await page.getByRole("button", { name: "Reload" }).click();
    await page.locator("main.starting").getByText("The server has another version of this page.").waitFor();
    await page.unroute("**/api/v1/register");
    isUnderstood = true;
    await page.getByRole("button", { name: "Reload" }).click();
    await page.locator("#compose-text").waitFor();
    t.equal(await page.locator("#compose-text").inputValue(), "half a sentence");
    t.equal(await page.getByText("another version").count(), 0);
  },
);

/** An organization of its own at `sales.localhost`, which the system resolves to this machine. */
async function makeSales(server: Awaited<ReturnType<typeof startTestServer>>): Promise<{ url: string; eve: Client }> {
  await served(server)("create-realms", { realms: [{ label: "sales", email: "owner@example.com" }] });
  const account = { ...readZuliprc(`${server.dataDir}/zuliprc.sales`), userId: 2 };
  const owner = new HostClient(new ApiClient(server.url, account), "sales.localhost");
  const email = "eve@example.com";
  const { body } = await owner.post("/users", { email, password: "correct horse battery", full_name: "Eve" });
  const { port } = new URL(server.url);
  return {
    url: `http://sales.localhost:${port}`,
    eve: new ApiClient(server.url, { email, key: "", userId: body.user_id }),
  };
}

t.test("[D4] an organization that ends says so; its address shows the one that answers there", { skip }, async (t) => {
  const server = await startTestServer(t);
  await server.owner.patch("/realm", { name: "Kitchen" });
  const { url, eve } = await makeSales(server);
  const { page } = await openPage(t);
  await logIn(page, url, eve, "#narrow/channel/1-general/topic/lunch");
  await typeInto(page, "half a sentence");
  await served(server)("deactivate-realm", { realm: "sales" });
  await page.getByText("This organization has been deactivated.").waitFor();
  await served(server)("erase-realm", { realm: "sales", confirm: "sales" });
  await page.reload();
  await page.getByRole("heading", { name: "Kitchen" }).waitFor();
  await page.getByText("Your session has ended. Log in again.").waitFor();
  await page.getByLabel("Email address").fill(eve.account?.email ?? "");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  t.equal(await page.getByLabel("Email address").inputValue(), eve.account?.email);
  t.match(await page.evaluate(`sessionStorage.getItem("composing")`), /half a sentence/);
  // A name that never was one of this server.
  const other = await openPage(t);
  await other.page.goto(url.replace("sales", "nobody"));
  await other.page.getByRole("heading", { name: "Kitchen" }).waitFor();
  await other.page.getByText(`Log in at ${new URL(url).host.replace("sales", "nobody")} to continue.`).waitFor();
  t.strictSame(other.complaints, []);
});

t.test("[D25] a message that was on its way is there after a reload, and is sent once", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  let isLost = false;
  // The server stores the message, and its answer never arrives.
  await page.routeWebSocket(/events\/ws/, (socket) => {
    const upstream = socket.connectToServer();
    upstream.onMessage((text) => {
      if (!isLost) socket.send(text);
    });
  });
  await logIn(page, server.url, ann, lunch);
  await page.locator("#compose-text").waitFor();
  await write(page, "I am");
  await page.locator(".feed .message[data-id]", { hasText: "I am" }).waitFor();
  await page.locator(".message.pending").waitFor({ state: "detached" });
  isLost = true;
  await write(page, "only once");
  await page.locator(".message.pending", { hasText: "only once" }).waitFor();
  const isStored = async () => (await ann.get("/messages", everything)).body.messages.length === 3;
  while (!(await isStored()));
  isLost = false;
  await page.reload();
  const left = page.locator(".message.pending", { hasText: "only once" });
  await left.getByText("The page was left before the server answered.").waitFor();
  await left.getByRole("button", { name: "Send again" }).click();
  await left.waitFor({ state: "detached" });
  t.strictSame(await textsOf(page), ["Who is in for soup?", "I am", "only once"]);
  t.ok(await isStored(), "the server has it once");
});

t.test("[S1] another person who logs in sees nothing of what was typed before", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  const ben = await server.person("Ben Bright");
  await logIn(page, server.url, ann, lunch);
  await typeInto(page, "a secret");
  await page.getByLabel("Your account").click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByLabel("Email address").waitFor();
  await page.reload();
  await logIn(page, server.url, ben, lunch);
  await page.locator("#compose-text").waitFor();
  t.equal(await page.locator("#compose-text").inputValue(), "");
  t.notMatch(await page.evaluate("JSON.stringify({ ...sessionStorage })"), /secret/);
});
