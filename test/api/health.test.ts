/** GET /health, outside the API (public API): the answer for monitors, also while changes are rejected. */
import t from "tap";
import { exchange } from "../support/http.ts";
import { fetchPage } from "../support/pictures.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const healthy = { result: "success", msg: "" };

async function health(url = server.url, path = "/health") {
  const { status, bytes, headers } = await fetchPage(url, path);
  return { status, body: JSON.parse(String(bytes)), type: headers.get("content-type") };
}

t.test("anybody gets an answer, whatever the organization's settings", async (t) => {
  t.strictSame(await health(), { status: 200, body: healthy, type: "application/json" });
  server.setRealm({ enable_spectator_access: false });
  t.equal((await health()).status, 200);
  const head = await exchange(server.url, "HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n", false);
  t.equal(head?.status, 200);
  t.equal(head?.text, "");
});

t.test("[D1] other methods and other paths are rejected", async (t) => {
  const post = await exchange(server.url, "POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  t.equal(post?.status, 405);
  t.equal(post?.headers["allow"], "GET, HEAD");
  for (const path of ["/health/", "/healthy", "/api/v1/health", "/Health"]) {
    t.equal((await health(server.url, path)).status, 404, path);
  }
});

t.test("[M5] /health answers 503 while the server rejects changes", async (t) => {
  const { server: full, clock } = await startClockedServer(t, { environment: { STORE_BYTES_MAX: "1" } });
  // The free space is measured once a second.
  clock.advance(1001);
  const answer = await health(full.url);
  t.equal(answer.status, 503);
  t.match(answer.body, { result: "error", code: "STORE_REFUSES_WRITES" });
  t.equal((await full.owner.get("/users/me")).status, 200, "reads go on");
});
