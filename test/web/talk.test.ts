/** Two people talk in two browsers, while the server is killed and started again. */
import t from "tap";
import { chromiumFor, logIn, type OpenPage, textsOf, write } from "../support/chromium-page.ts";
import { Client } from "../support/client.ts";
import { freePort } from "../support/ports.ts";
import { startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

/** More at length (scripts/test-tiers.mjs). */
const kills = Number(process.env["KILLS"] ?? 2);

/** The client waits up to 30 seconds between two attempts (packages/client/README.md). */
const reconnectMsMax = 45_000;

async function personAt(owner: Client, url: string, name: string): Promise<Client> {
  const email = `${name.toLowerCase()}@example.com`;
  const password = "correct horse battery";
  const { body } = await owner.post("/users", { email, password, full_name: name });
  return new Client(url, { email, key: "", userId: body.user_id });
}

t.test("[M1, E2] two people talk through kill -9 and restarts, and nothing is lost or doubled", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const PORT = String(await freePort());
  let server = await startProgram(t, dataDir, { PORT });
  const people = [await personAt(server.owner, server.url, "Ann"), await personAt(server.owner, server.url, "Ben")];
  const place = "#narrow/channel/1-general/topic/kills";
  const pages: OpenPage[] = [];
  for (const person of people) {
    const opened = await openPage(t);
    await logIn(opened.page, server.url, person, place);
    await opened.page.locator("#compose-text").waitFor();
    pages.push(opened);
  }
  const said: string[] = [];
  const isThere = async (text: string) => {
    for (const { page } of pages) await page.locator(".feed .message[data-id] .rendered", { hasText: text }).waitFor();
  };
  const say = async (who: number, text: string) => {
    const opened = pages[who];
    if (opened === undefined) throw new Error("nobody");
    await write(opened.page, text);
    said.push(text);
  };
  for (let round = 1; round <= kills; round++) {
    await say(0, `question ${round}`);
    await isThere(`question ${round}`);
    await say(1, `answer ${round}`);
    await isThere(`answer ${round}`);
    await server.program.end("SIGKILL");
    for (const { page } of pages) await page.getByText("No connection.").waitFor();
    const ben = pages[1]?.page;
    await ben?.locator("#compose-text").fill(`written offline ${round}`);
    await ben?.keyboard.press("Control+Enter");
    await ben?.getByText("You are offline.").waitFor();
    t.equal(await ben?.locator("#compose-text").inputValue(), `written offline ${round}`, "the text stays");
    server = await startProgram(t, dataDir, { PORT });
    const back = { state: "detached", timeout: reconnectMsMax } as const;
    for (const { page } of pages) await page.getByText("No connection.").waitFor(back);
    await ben?.locator("#compose-text").press("Control+Enter");
    said.push(`written offline ${round}`);
    await isThere(`written offline ${round}`);
  }
  for (const { page } of pages) t.strictSame(await textsOf(page), said);
  for (const { page } of pages) {
    await page.reload();
    await page
      .locator(".feed .message[data-id]")
      .nth(said.length - 1)
      .waitFor();
    t.strictSame(await textsOf(page), said, "and after a reload");
  }
});

t.test("[E2] after a gap the page has everything, and stays where it is", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  const ids: number[] = [];
  for (let index = 1; index <= 80; index++) ids.push(await ben.say("general", "gap", `message ${index}`));
  await ann.post("/mark_all_as_read");
  const { page } = await openPage(t);
  const queues: string[] = [];
  page.on("response", async (response) => {
    if (response.url().endsWith("/api/v1/register")) queues.push((await response.json()).queue_id);
  });
  await logIn(page, server.url, ann, `#narrow/channel/1-general/topic/gap/near/${ids[40]}`);
  const anchor = page.locator(`.feed [data-id="${ids[40]}"]`);
  await anchor.waitFor();
  const before = await anchor.boundingBox();
  await ben.say("general", "gap", "before the gap");
  await page.locator(".feed .message[data-id]", { hasText: "before the gap" }).waitFor();
  await ann.delete("/events", { queue_id: queues[0] ?? "" });
  await ben.say("general", "gap", "after the gap");
  await page.locator(".feed .message[data-id]", { hasText: "after the gap" }).waitFor();
  const after = await anchor.boundingBox();
  // The browser may hand over the answer later than the page has it.
  while (queues.length < 2) await page.waitForTimeout(20);
  t.equal(queues.length, 2, "it has registered again");
  t.ok(Math.abs((after?.y ?? 0) - (before?.y ?? -100)) < 3, "the list has not moved");
  const texts = await textsOf(page);
  t.equal(new Set(texts).size, texts.length, "nothing is there twice");
});
