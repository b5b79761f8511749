/** Back and Forward: a place opens where the person was. */
import type { Page } from "playwright-core";
import t from "tap";
import { chromiumFor, logIn, until } from "../support/chromium-page.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** The message at the top of the window, and its distance to it in pixels. */
const topRow = `(() => {
  const { top } = document.querySelector(".feed").getBoundingClientRect();
  const row = [...document.querySelectorAll(".feed [data-id]")].find((one) => one.getBoundingClientRect().bottom > top);
  return row === undefined ? null : [Number(row.dataset.id), Math.round(row.getBoundingClientRect().top - top)];
})()`;

const isAt = (page: Page, [id, offset]: readonly number[]) =>
  until(page, `(([id, offset]) => id === ${id} && Math.abs(offset - ${offset}) <= 2)(${topRow} ?? [])`);

t.test("Back and Forward open a place where the person was in it", { skip }, async (t) => {
  const server = await startTestServer(t);
  const [ann, ben] = [await server.person("Ann Ames"), await server.person("Ben Bright")];
  for (let number = 0; number < 120; number++) await ann.say("general", "lunch", `Soup ${number}`);
  await ann.post("/mark_all_as_read");
  const topics = Array.from({ length: 60 }, (_, number) => `topic ${number}`);
  for (const topic of topics) await ben.say("general", topic, "New");

  const { page, complaints } = await openPage(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator(".feed .message", { hasText: "Soup 119" }).waitFor();
  await page.locator(".feed").hover();
  const [last = 0] = (await page.evaluate(topRow)) as number[];
  await page.mouse.wheel(0, -1_000);
  await until(page, `${topRow}[0] < ${last - 5}`);
  // A wheel may go on for some frames.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const place = (await page.evaluate(topRow)) as number[];

  await page.locator(".left-bar").getByRole("link", { name: "Inbox" }).click();
  const lastLine = page.locator(".inbox-line").last();
  await lastLine.scrollIntoViewIfNeeded();
  const listTop = await page.evaluate(`document.querySelector(".page-scroll").scrollTop`);
  t.ok(Number(listTop) > 300, `${listTop}`);
  for (let number = 0; number < 30; number++) await ben.say("general", "lunch", `Bread ${number}`);
  await page.goBack();
  await isAt(page, place);
  t.pass("not at the first unread message, and not at the end");

  await page.goForward();
  await until(page, `document.querySelector(".page-scroll")?.scrollTop === ${listTop}`);
  await page.evaluate(`location.hash = "#organization/people"`);
  await page.locator(".table").first().waitFor();
  await page.reload();
  await page.locator(".table").first().waitFor();
  await page.goBack();
  await until(page, `document.querySelector(".page-scroll")?.scrollTop === ${listTop}`);
  await page.goBack();
  await isAt(page, place);
  t.pass("and after a reload of another place");

  await page.locator(".left-bar").getByRole("link", { name: "Inbox" }).click();
  await page.locator(".inbox-link", { hasText: "lunch" }).click();
  await page.locator(".new-mark").waitFor();
  await until(page, `(${topRow} ?? [0])[0] > ${place[0]}`);
  t.pass("a link opens it at the first unread message");
  t.strictSame(complaints, []);
});
