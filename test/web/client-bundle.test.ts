/**
 * The built client of packages/client in the system's Chromium: from a page of another origin with a key, by socket and by
 * long poll, through a restart of the server; and in a page of the server's own origin with the cookie of a session.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import t from "tap";
import { chromiumFor } from "../support/chromium-page.ts";
import type { Client } from "../support/client.ts";
import { installClient } from "../support/client-build.ts";
import { freePort } from "../support/ports.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);
const bundle = skip === false ? readFileSync(await installClient(temporaryFolder(t))) : Buffer.alloc(0);
const html = "<!doctype html><title>A page with the client</title>";

/** Another web server. @returns its address */
async function startElsewhere(t: Teardown): Promise<string> {
  const elsewhere = createServer(({ url }, response) => {
    const isScript = url === "/client.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html").end(isScript ? bundle : html);
  });
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  t.teardown(() => elsewhere.close());
  const address = elsewhere.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

/** Follows the messages with a client that an expression makes; the page collects what they say. */
async function follow(page: Page, client: string): Promise<void> {
  await page.evaluate(`(async () => {
    const { connect, connectSession } = await import("/client.js");
    const client = await ${client};
    Object.assign(window, { client, said: [], gaps: 0 });
    await new Promise((resolve) => {
      const events = client.events({
        event_types: ["message"],
        from: null,
        onConnected: resolve,
        onGap: () => { window.gaps++; },
      });
      window.reading = (async () => {
        for await (const { message } of events) window.said.push(message.content);
      })();
    });
  })()`);
}

function say(page: Page, content: string) {
  const params = { type: "channel", to: "general", topic: "browser", content };
  return page.evaluate(`client.call("POST /messages", ${JSON.stringify(params)})`);
}

async function untilSaid(page: Page, ...contents: readonly string[]): Promise<void> {
  await page.waitForFunction(`said.length >= ${contents.length}`);
  t.strictSame(await page.evaluate("said"), contents);
  t.equal(await page.evaluate("gaps"), 0);
}

function withKey(url: string, { account }: Client, options = "{}"): string {
  return `connect(${JSON.stringify({ site: url, email: account?.email, key: account?.key })}, ${options})`;
}

t.test("[E2] a page of another origin calls and follows, through a restart of the server", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const environment = { PORT: String(await freePort()) };
  const server = await startTestServer(t, { dataDir, environment });
  const elsewhere = await startElsewhere(t);
  const [bySocket, byPoll] = [await openPage(t), await openPage(t)];
  for (const { page } of [bySocket, byPoll]) await page.goto(`${elsewhere}/`);
  await follow(bySocket.page, withKey(server.url, server.owner));
  await follow(byPoll.page, withKey(server.url, server.owner, "{ webSocket: null }"));
  await say(bySocket.page, "one");
  await say(byPoll.page, "two");
  for (const { page } of [bySocket, byPoll]) await untilSaid(page, "one", "two");
  t.ok(bySocket.requests.includes("/api/v1/events/ws"), "by WebSocket");
  t.notOk(byPoll.requests.includes("/api/v1/events/ws"));
  const rejected = await bySocket.page.evaluate(
    `client.call("GET /messages/{message_id}", { message_id: 999 }).catch(({ code, status }) => ({ code, status }))`,
  );
  t.strictSame(rejected, { code: "BAD_REQUEST", status: 400 }, "the page reads the code of an error");

  await server.stop();
  const calling = say(bySocket.page, "three");
  await startTestServer(t, { dataDir, environment });
  await calling;
  for (const { page } of [bySocket, byPoll]) await untilSaid(page, "one", "two", "three");
});

t.test("[D256] a page of the server's own origin uses its session, and has no key", { skip }, async (t) => {
  const server = await startTestServer(t);
  const ann = await server.person("Ann");
  const { page } = await openPage(t);
  // The server has no such page: these two files are put beside its own, as if it served them.
  await page.route(`${server.url}/client.html`, (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.route(`${server.url}/client.js`, (route) =>
    route.fulfill({ contentType: "text/javascript", body: bundle }),
  );
  await page.goto(`${server.url}/client.html`);
  const form = new URLSearchParams({ username: ann.account?.email ?? "", password: "correct horse battery" });
  const request = {
    method: "POST",
    body: String(form),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  };
  const status = await page.evaluate(
    `fetch("/api/v1/session", ${JSON.stringify(request)}).then(({ status }) => status)`,
  );
  t.equal(status, 200);
  await follow(page, "connectSession(location.origin)");
  await say(page, "by session");
  await untilSaid(page, "by session");
  t.equal(await page.evaluate("document.cookie"), "", "scripts see no cookie");
  const { user_id: userId } = (await page.evaluate(`client.call("GET /users/me")`)) as { user_id: number };
  t.equal(userId, ann.userId);
});

t.test("[D256] a page of another origin cannot use the session of a user", { skip }, async (t) => {
  const server = await startTestServer(t);
  const elsewhere = await startElsewhere(t);
  const { page } = await openPage(t);
  await page.goto(`${elsewhere}/`);
  const code = await page.evaluate(`import("/client.js").then(({ connectSession }) =>
    connectSession(${JSON.stringify(server.url)}, { retryMs: 0 }).call("GET /users/me").then(() => "in", ({ code }) => code ?? "no answer"))`);
  t.not(code, "in");
});
