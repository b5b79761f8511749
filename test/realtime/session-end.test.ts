/** When a session ends, the sockets and held polls that it opened end (D256; realtime.md, Close codes). Queues stay. */
import t from "tap";
import { Page } from "../support/page.ts";
import { waitingPoll } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const password = "correct horse battery";
const server = await startTestServer(t);
const { url, owner } = server;
const ended = { code: 4401, reason: "not authenticated: do not retry with these credentials" };

async function loggedIn(name: string) {
  const client = await server.person(name);
  const page = new Page(url);
  await page.logIn(client.account?.email ?? "", password);
  return { client, page };
}

async function socketOf({ cookie }: Page): Promise<Socket> {
  const socket = new Socket(url, { headers: { Origin: url, Cookie: cookie } });
  await socket.opened();
  return socket;
}

t.test("[D256] a log-out closes the session's sockets with 4401, after its answer; others stay open", async (t) => {
  const { client, page } = await loggedIn("Ann");
  const other = new Page(url);
  await other.logIn(client.account?.email ?? "", password);
  const [mine, following, theirs] = [await socketOf(page), await socketOf(page), await socketOf(other)];
  t.match(await following.ask({ type: "register", event_types: ["message"] }), { result: "success" });
  t.equal((await page.delete("/session")).status, 200);
  for (const socket of [mine, following]) t.strictSame(await socket.closed, ended);
  t.match(await theirs.ask({ type: "ping" }), { type: "pong" });
  t.match(await theirs.ask({ type: "call", method: "GET", path: "/session" }), { result: "error" }, "needs a cookie");
  theirs.close();
});

t.test("[D256] a held poll of an ended session is answered 401, and no event is lost", async (t) => {
  const { client, page } = await loggedIn("Ben");
  const queue = await page.openQueue(["message"]);
  const poll = await waitingPoll(server, page, queue, queue.last_event_id);
  const { sessions } = (await client.get("/sessions")).body;
  t.equal((await client.delete(`/sessions/${sessions[0].id}`)).status, 200);
  t.match(await poll.answer, { status: 401, body: { code: "UNAUTHORIZED" } });
  const { body } = await owner.post("/messages", { type: "direct", to: [client.userId], content: "still there?" });
  const events = await client.readNow(queue);
  const ids = events.map(({ message }) => message.id);
  t.strictSame(ids, [body.id], "the queue belongs to the user");
});

t.test("[D256] a new password closes the sockets of all other sessions; a deactivation all, 4403", async (t) => {
  const { client, page } = await loggedIn("Cleo");
  const other = new Page(url);
  await other.logIn(client.account?.email ?? "", password);
  const [mine, theirs] = [await socketOf(page), await socketOf(other)];
  const changed = await page.patch("/settings", { old_password: password, new_password: "another horse battery" });
  t.equal(changed.status, 200);
  t.strictSame(await theirs.closed, ended);
  t.match(await mine.ask({ type: "ping" }), { type: "pong" });
  await owner.delete(`/users/${client.userId}`);
  t.equal((await mine.closed).code, 4403);
});
