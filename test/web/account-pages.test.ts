/**
 * The pages behind links in emails in the system's Chromium: a new password (D257), and no more emails (D258). They work
 * without scripts, load nothing, and have no serious barrier in light and dark, on desktops and phones.
 */
import t from "tap";
import { isTooWide, loadAxe, seriousFindings } from "../support/barriers.ts";
import { chromiumFor } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { logIn as logInByPassword } from "../support/join.ts";
import { logIn, outboxMails } from "../support/mail.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer, type Teardown, type TestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const resetPath = "/accounts/password/reset/";
const next = "a battery of horses";

const emailOf = (client: Client): string => client.account?.email ?? "";

/** The link in the newest of so many emails. */
async function linkIn(server: TestServer, count: number): Promise<string> {
  const text = (await outboxMails(server.dataDir, count)).at(-1)?.email.text ?? "";
  return /https?:\S+$/m.exec(text.replaceAll("\r", ""))?.[0] ?? "";
}

/** A browser whose scripts are off, and what it loads. */
async function withoutScripts(t: Teardown) {
  const opened = await openPage(t, { javaScriptEnabled: false });
  const others = () => opened.requests.filter((path) => !path.startsWith("/accounts/") && path !== "/favicon.ico");
  return { ...opened, others };
}

t.test("[D257] a password is reset in a browser without scripts, by keyboard", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann");
  const { page, complaints, others } = await withoutScripts(t);
  await page.goto(`${server.url}${resetPath}`);
  await page.getByLabel("E-mail address").fill("nobody");
  await page.keyboard.press("Enter");
  t.match(page.url(), resetPath, "the browser itself asks for an address");
  await page.getByLabel("E-mail address").fill(emailOf(ann));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "This server sends no e-mails" }).waitFor();

  await page.goto(await linkIn(server, 1));
  await page.getByRole("heading", { name: "Set a new password" }).waitFor();
  await page.getByLabel("New password").fill(next);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your password is set" }).waitFor();
  t.equal((await logInByPassword(ann, emailOf(ann), next)).status, 200);
  await page.goBack();
  await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
  t.strictSame([others(), complaints.filter((text) => !/404/.test(text))], [[], []]);
});

t.test("[D257] a form that is sent again after a step back sends one link", { skip }, async (t) => {
  // The rule holds for a minute.
  const { server } = await startClockedServer(t);
  const [ann, ben] = [await server.person("Ann"), await server.person("Ben")];
  const { page } = await withoutScripts(t);
  const send = page.getByRole("button", { name: "Send the link" });
  const press = async () => {
    await send.click();
    await page.getByRole("heading", { name: "This server sends no e-mails" }).waitFor();
  };
  for (const client of [ann, ben]) {
    await page.goto(`${server.url}${resetPath}`);
    await page.getByLabel("E-mail address").fill(emailOf(client));
    await press();
    await page.goBack();
    await press();
  }
  // Emails leave in order, so a second one of Ann would be there before the one of Ben.
  const mails = await outboxMails(server.dataDir, 2);
  t.strictSame(mails.map(({ email }) => email.to?.[0]?.address).sort(), [emailOf(ann), emailOf(ben)].sort());
});

t.test("[D257] a form that is sent twice says that the password is set", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann");
  const { page } = await withoutScripts(t);
  await page.goto(`${server.url}${resetPath}`);
  await page.getByLabel("E-mail address").fill(emailOf(ann));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "This server sends no e-mails" }).waitFor();
  const link = await linkIn(server, 1);
  await page.goto(link);
  await page.getByLabel("New password").fill(next);
  await page.getByRole("button", { name: "Set the password" }).dblclick();
  await page.getByRole("heading", { name: "Your password is set" }).waitFor();
  const send = async (fields: Record<string, string>) =>
    (await fetch(link, { method: "POST", body: new URLSearchParams(fields) })).status;
  t.equal(await send({ username: emailOf(ann), password: next }), 200, "once more");
  t.equal(await send({ username: emailOf(ann), password: "some other words" }), 404, "a used link sets nothing");
  t.equal(await send({ password: next }), 404);
  t.equal((await logInByPassword(ann, emailOf(ann), next)).status, 200);
});

t.test("[D258] a button ends emails in a browser without scripts", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann");
  await logIn(server, ann.userId, "there");
  const link = await linkIn(server, 1);
  const { page, complaints, others } = await withoutScripts(t);
  const isOn = async () => {
    const { body } = await ann.post("/register", { event_types: ["user_settings"] });
    return body.user_settings.enable_login_emails;
  };
  await page.goto(link);
  await page.getByText(emailOf(ann)).waitFor();
  t.equal(await isOn(), true, "opening the page changes nothing");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You are unsubscribed" }).waitFor();
  t.equal(await isOn(), false);
  await page.goto(link);
  await page.getByRole("heading", { name: "You were unsubscribed already" }).waitFor();
  t.strictSame([others(), complaints], [[], []]);
});

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 390 },
] as const;

t.test("[D177, D257, D258] no such page has a serious barrier, or is wider than its window", { skip }, async (t) => {
  const server = await startTestServer(t);
  const name = "Ann with a name that is rather long";
  const ann = await server.person(name);
  await server.owner.patch("/realm", { name: "An organization with a longer name than most of them have" });
  await logIn(server, ann.userId, "there");
  const unsubscribe = await linkIn(server, 1);
  const asking = await openPage(t);
  await asking.page.goto(`${server.url}${resetPath}`);
  await asking.page.getByLabel("E-mail address").fill(emailOf(ann));
  await asking.page.keyboard.press("Enter");
  await asking.page.getByRole("heading", { name: "This server sends no e-mails" }).waitFor();
  const set = await linkIn(server, 2);
  await ann.patch("/settings", { email: "an.address.that.is.rather.long@a.domain.that.is.long.example" });
  const confirm = await linkIn(server, 3);
  const grounds = new Set<unknown>();
  for (const { colorScheme, width } of looks) {
    const { page } = await openPage(t, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const pages = [`${server.url}${resetPath}`, set, `${set}x`, confirm, `${confirm}x`, unsubscribe, `${unsubscribe}x`];
    for (const address of pages) {
      await page.goto(address);
      await loadAxe(page);
      const about = `${new URL(address).pathname.slice(0, 30)}, ${colorScheme}, ${width}`;
      t.strictSame(await seriousFindings(page), [], about);
      t.equal(await isTooWide(page), false, about);
    }
    // With a field that is wrong.
    await page.goto(set);
    await page.evaluate('document.querySelector("input[type=password]").minLength = 0');
    await page.getByLabel("New password").fill("short");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await loadAxe(page);
    t.strictSame(await seriousFindings(page), [], `a password that is too short, ${colorScheme}, ${width}`);
    grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    await page.context().close();
  }
  t.equal(grounds.size, 2, "light and dark differ");
});

t.test("[S2] the browser refuses what the pages' policy forbids", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { page, complaints } = await openPage(t);
  await page.goto(`${server.url}${resetPath}`);
  await page.evaluate(`{
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    const image = document.createElement("img");
    image.src = "/favicon.ico";
    const frame = document.createElement("iframe");
    frame.src = "/";
    document.body.append(script, image, frame);
    document.querySelector("form").action = "http://127.0.0.1:1/";
  }`);
  t.equal(await page.evaluate("window.ran"), undefined);
  await page.getByLabel("E-mail address").fill("ann@example.com");
  await page.keyboard.press("Enter");
  for (const refused of [/inline script/, /image/, /frame/, /form/]) {
    while (!complaints.some((text) => refused.test(text))) await page.waitForEvent("console");
  }
  t.match(page.url(), server.url, "the form went nowhere");
});
