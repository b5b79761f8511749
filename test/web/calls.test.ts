/** The page's operations use its WebSocket while it is open, and HTTP when it is not. */
import t, { type Test } from "tap";
import { chromiumFor, logIn, textsOf, write } from "../support/chromium-page.ts";
import { isCall } from "../support/held-network.ts";
import { startTestServer } from "../support/server.ts";

const { skip, openPage } = chromiumFor(t);

async function open(t: Test) {
  const server = await startTestServer(t);
  const ann = await server.person("Ann Ames");
  const ben = await server.person("Ben Bright");
  await ben.say("general", "lunch", "Who is in for soup?");
  const opened = await openPage(t);
  const calls: string[] = [];
  opened.page.on("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => {
      const frame = JSON.parse(String(payload)) as { type: string; method?: string; path?: string };
      if (frame.type === "call") calls.push(`${frame.method} ${frame.path}`);
    });
  });
  return { ...opened, server, ann, ben, calls };
}

t.test("after the load, operations are frames and no HTTP requests", { skip }, async (t) => {
  const { page, requests, calls, server, ann, ben } = await open(t);
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.getByText("Who is in for soup?").waitFor();
  // Its first frame after the registration says that the page is connected; until then it asks by HTTP.
  while (!calls.includes("POST /users/me/presence")) await page.waitForTimeout(20);
  requests.length = 0;

  await page.locator("#compose-text").pressSequentially("I am");
  await page.keyboard.press("Control+Enter");
  const own = page.locator(".feed .message[data-id]", { hasText: "I am" });
  await own.waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("+");
  await page.locator(".reaction.mine").waitFor();
  await page.keyboard.press("Control+s");
  await own.locator(".star.on").waitFor();
  await page.keyboard.press("e");
  await page.getByLabel("Text of the message").fill("I am in");
  await page.keyboard.press("Control+Enter");
  await page.locator(".feed .rendered", { hasText: "I am in" }).waitFor();
  await page.keyboard.press("V");
  await page.getByRole("heading", { name: "Read by" }).waitFor();
  await page.keyboard.press("Escape");
  await ben.post("/messages", { type: "direct", to: [ann.userId], content: "Ten minutes?" });
  await page.evaluate(`location.hash = "#narrow/dm/${ben.userId}"`);
  await page.locator(".feed .rendered", { hasText: "Ten minutes?" }).waitFor();
  await page.evaluate(`location.hash = "#recent"`);
  await page.locator(".recent .inbox-line").first().waitFor();

  // The read mark is the last of them, because marks are collected.
  const isRead = async () => {
    const narrow = [{ operator: "is", operand: "unread" }];
    const { body } = await ann.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow });
    return body.messages.length === 0;
  };
  while (!(await isRead()));
  // The browser says what the page has sent some time after the server has it.
  while (!calls.includes("POST /messages/flags")) await page.waitForTimeout(20);
  t.strictSame(
    requests.filter((path) => path.startsWith("/api/")),
    [],
  );
  const { body } = await ann.get("/messages", { anchor: "newest", num_before: 9, num_after: 0 });
  const { id } = body.messages.find((one: { content: string }) => one.content.includes("I am in"));
  for (const call of [
    "POST /messages",
    "POST /typing",
    `POST /messages/${id}/reactions`,
    `PATCH /messages/${id}`,
    `GET /messages/${id}/read_receipts`,
    "POST /messages/flags",
    "POST /users/me/presence",
    "GET /messages",
  ]) {
    t.ok(calls.includes(call), call);
  }
});

t.test("[D25] a page without a socket works over HTTP, and sends nothing twice", { skip }, async (t) => {
  const { page, requests, calls, server, ann, ben } = await open(t);
  // As behind a proxy that knows no WebSockets.
  await page.routeWebSocket(/events\/ws/, (socket) => socket.close());
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.getByText("Who is in for soup?").waitFor();
  // It is connected when a poll brings something: before that it may seem to be offline for a moment.
  await ben.say("general", "lunch", "by a poll");
  await page.locator(".feed .message[data-id] .rendered", { hasText: "by a poll" }).waitFor();
  await page.getByText("No connection.").waitFor({ state: "detached" });
  await write(page, "over HTTP");
  await page.locator(".feed .message[data-id] .rendered", { hasText: "over HTTP" }).waitFor();
  t.ok(requests.includes("/api/v1/messages"));
  t.strictSame(calls, []);
  t.strictSame(await textsOf(page), ["Who is in for soup?", "by a poll", "over HTTP"]);
});

t.test("[D25] an answer that is lost with its socket does not send a message twice", { skip }, async (t) => {
  const { page, server, ann } = await open(t);
  let ref = "";
  let isLost = false;
  let use: () => void = () => undefined;
  const isUsed = new Promise<void>((resolve) => {
    use = resolve;
  });
  await page.routeWebSocket(/events\/ws/, (socket) => {
    const upstream = socket.connectToServer();
    socket.onMessage((text) => {
      const frame = JSON.parse(String(text)) as { method?: string; path?: string; ref?: string };
      if (isCall(text)) use();
      if (frame.method === "POST" && frame.path === "/messages") ref = frame.ref ?? "";
      upstream.send(text);
    });
    upstream.onMessage((text) => {
      const isAnswer = ref !== "" && (JSON.parse(String(text)) as { ref?: string }).ref === ref;
      if (isLost || !isAnswer) {
        socket.send(text);
        return;
      }
      isLost = true;
      socket.close();
      upstream.close();
    });
  });
  await logIn(page, server.url, ann, "#narrow/channel/1-general/topic/lunch");
  await page.locator("#compose-text").waitFor();
  // Until then it would be sent by HTTP.
  await isUsed;
  await write(page, "only once");
  await page.locator(".feed .message[data-id] .rendered", { hasText: "only once" }).waitFor();
  await page.locator(".message.pending").waitFor({ state: "detached" });
  t.ok(isLost);
  t.strictSame(await textsOf(page), ["Who is in for soup?", "only once"]);
  const { body } = await ann.get("/messages", {
    anchor: "newest",
    num_before: 9,
    num_after: 0,
    apply_markdown: false,
  });
  t.strictSame(
    body.messages.map(({ content }: { content: string }) => content),
    ["Who is in for soup?", "only once"],
  );
});
