/**
 * Requests from pages of other sites (S1, D203): a browser that remembers credentials adds them to every request, so
 * forms of other sites must change nothing. Programs and pages that ask under CORS are served.
 */
import t from "tap";
import { exchange } from "../support/http.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const { host } = new URL(url);
const content = "type=direct&to=[2]&content=x";

/** Sends a post like a browser or a program. */
async function post(headers: readonly string[], authorization = owner.authorization) {
  const lines = [
    "POST /api/v1/messages HTTP/1.1",
    `Host: ${host}`,
    ...(authorization === "" ? [] : [`Authorization: ${authorization}`]),
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${content.length}`,
    ...headers,
  ];
  const answer = await exchange(url, `${lines.join("\r\n")}\r\n\r\n${content}`);
  return { status: answer?.status, code: JSON.parse(answer?.text ?? "{}").code, headers: answer?.headers ?? {} };
}

const evil = "Origin: https://evil.example";
const foreign: readonly (readonly string[])[] = [
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", evil],
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", evil],
  ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate", "Origin: https://other.localhost"],
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
  // A script that lets the browser add stored credentials. Preflights of such requests are rejected.
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Storage-Access: none", evil],
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Cookie: a=b", evil],
  ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", "Cookie: a=b", "Origin: https://other.localhost"],
  [evil],
  ["Origin: null"],
  ["Origin: http://localhost:1"],
];

const welcome: readonly (readonly string[])[] = [
  [],
  [`Origin: ${url}`],
  ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", `Origin: ${url}`],
  ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", `Origin: ${url}`, "Cookie: a=b"],
  ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Origin: null"],
  ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"],
  ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Origin: https://client.example"],
];

t.test("[S1] a form sent from a page of another site changes nothing", async (t) => {
  for (const headers of foreign) {
    const { status, code } = await post(headers);
    t.strictSame([status, code], [403, "CSRF_FAILED"], headers.join(", "));
  }
  const { body } = await owner.get("/messages", { anchor: "newest", num_before: 10, num_after: 0 });
  t.strictSame(body.messages, []);
});

t.test("[S1] programs, the server's own pages and pages under CORS are served", async (t) => {
  for (const headers of welcome) t.equal((await post(headers)).status, 200, headers.join(", "));
});

t.test("[D2] programs are asked for credentials; a browser is not, because it would remember them", async (t) => {
  t.match((await post([], "")).headers["www-authenticate"], /^Basic/);
  const reply = await post(["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"], "");
  t.equal(reply.status, 401);
  t.equal(reply.headers["www-authenticate"], undefined);
});

t.test("[S1] a page of another site cannot open a socket with remembered credentials", async (t) => {
  const { authorization } = owner;
  const statusOf = async (headers: Record<string, string>, credentials = authorization) => {
    const socket = new RawSocket(url, { authorization: credentials, headers });
    const { status } = await socket.handshake;
    socket.destroy();
    return status;
  };
  t.equal(await statusOf({ Origin: "https://evil.example" }), 403);
  t.equal(await statusOf({ Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }), 403);
  t.equal(await statusOf({ Origin: url, "Sec-Fetch-Site": "same-origin" }), 101);
  t.equal(
    await statusOf({ Origin: "https://client.example" }, ""),
    101,
    "a key in the first frame cannot come from the browser's stored credentials",
  );
  t.equal(await statusOf({}), 101);
});
