/**
 * Each screen in light and dark, for desktops and phones: no serious barrier, nothing wider than the window. SCREENSHOTS
 * names a folder that keeps what was seen.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { isTooWide, loadAxe, seriousFindings } from "../support/barriers.ts";
import { chromiumFor, logIn } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const screenshots = process.env["SCREENSHOTS"];

/** Screens, with what says that they are there. */
const screens: Readonly<Record<string, string>> = {
  "#inbox": ".inbox",
  "#recent": ".recent .inbox-line",
  "#feed": ".feed .message",
  "#narrow/channel/1-general": ".feed .message",
  "#narrow/channel/1-general/topic/lunch": ".feed .message",
  "#narrow/is/starred": ".empty",
  "#drafts": ".empty",
  "#settings/profile": ".panel-body h2",
  "#settings/preferences": ".panel-body .setting",
  "#settings/sessions": ".panel-body form",
  "#channels/1": ".panel-body h2",
  "#channels/new": ".panel-body form",
  "#groups/3": ".panel-body h2",
  "#organization/people": ".table",
  "#organization/invitations": ".panel-body form",
  "#organization/permissions": ".panel-body .setting",
  "#organization/statistics": ".bars",
  "#organization/emoji": ".panel-body form",
  "#organization/bots": ".panel-body form",
  "#organization/folders": ".panel-body form",
  "#organization/linkifiers": ".panel-body form",
  "#organization/profile-fields": ".panel-body form",
};

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 390 },
  { colorScheme: "dark", width: 390 },
] as const;

t.test("no screen has a serious barrier, or is wider than its window", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await server.owner.patch(`/users/${ann.userId}`, { role: 200 });
  await ben.say(
    "general",
    "lunch",
    "Who is in for **soup**?\n\n```python\nprint(1)  # one\n```\n\n> quoted\n\n@**Ann Ames**",
  );
  await ben.say("general", "lunch", "/poll Where to?\nCorner\nHome");
  await ben.say(
    "general",
    "a topic with a name that is longer than most names",
    "See https://example.com/".padEnd(300, "x"),
  );
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Do you have ten minutes?" });
  if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  for (const { colorScheme, width } of looks) {
    // The policy of the page would refuse the script that looks for barriers.
    const { page } = await openPage(t, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    await page.goto(server.url);
    await page.getByLabel("Email address").waitFor();
    await loadAxe(page);
    t.strictSame(await seriousFindings(page), [], `log in, ${colorScheme}, ${width}`);
    await logIn(page, server.url, ann);
    await loadAxe(page);
    for (const [fragment, sign] of Object.entries(screens)) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
      await page.locator(sign).first().waitFor();
      t.strictSame(await seriousFindings(page), [], `${fragment}, ${colorScheme}, ${width}`);
      t.equal(await isTooWide(page), false, `${fragment} fits into ${width}`);
      const name = `${fragment.replace(/[^a-z0-9]+/g, "-")}-${colorScheme}-${width}.png`;
      if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, name) });
    }
    await page.context().close();
  }
});
