/**
 * Which requests a session's cookie authenticates (D256, D203): those of the server's own pages, and no others. A
 * request that a page of another site makes a browser send changes nothing and learns nothing (S1).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Answer, Client, encodeForm, expects, refusal } from "../support/client.ts";
import { exchange } from "../support/http.ts";
import { ownPage, Page } from "../support/page.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { startTestServer } from "../support/server.ts";

const password = "correct horse battery";
const server = await startTestServer(t);
const { owner, url } = server;
const ann = await server.person("Ann");
const page = new Page(url);
await page.logIn(ann.account?.email ?? "", password);
const { cookie } = page;
const { host } = new URL(url);

type Headers = Readonly<Record<string, string>>;

const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);
const forged = { status: 403, body: { code: "CSRF_FAILED" } };
const note = { type: "direct", to: [ann.userId], content: "x" };
const from = (headers: Headers, given = cookie) => new Page(url, { headers, cookie: given });
const read = (headers: Headers) => from(headers).get("/users/me");
const write = (headers: Headers) => from(headers).post("/messages", note);

async function written(): Promise<number> {
  const { body } = await ann.get("/messages", { anchor: "newest", num_before: 100, num_after: 0 });
  return body.messages.length;
}

t.test("[D256] the server's own pages read and write with the cookie, in old browsers, too", async (t) => {
  const own: readonly Headers[] = [
    ownPage,
    { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", Origin: "null" },
    // By plain HTTP under another name than localhost, browsers send no Fetch Metadata.
    { Origin: url, Referer: `${url}/` },
  ];
  for (const headers of own) {
    t.match(await read(headers), { status: 200, body: { user_id: ann.userId } }, JSON.stringify(headers));
    t.equal((await write(headers)).status, 200, JSON.stringify(headers));
  }
  t.equal((await read({ Referer: `${url}/#narrow/is/dm` })).status, 200, "a read has a Referer only");
});

t.test("[S1] a page of another site, or one that does not say where it is, reads nothing", async (t) => {
  const others: readonly Headers[] = [
    {},
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", Origin: `http://other.${host}` },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", Referer: `${url}/` },
    { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" },
    { "Sec-Fetch-Site": "something-new" },
    { Referer: "https://evil.example/" },
    { Referer: `https://evil.example/${url}` },
    { Referer: url.replace(/:\d+$/, ":1") },
    { Origin: "null", Referer: `${url}/` },
    { Origin: "https://evil.example", Referer: `${url}/` },
  ];
  for (const headers of others) await expects(t, read(headers), notLoggedIn, JSON.stringify(headers));
});

t.test("[S1] a form, image or script of another site changes nothing", async (t) => {
  const before = await written();
  const foreign: readonly Headers[] = [
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", Origin: "https://evil.example" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", Origin: "https://evil.example" },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", Origin: `http://other.${host}` },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", Origin: url.replace(/:\d+$/, ":1") },
    { Origin: "https://evil.example" },
    { Origin: "null" },
  ];
  for (const headers of foreign) {
    t.match(await write(headers), forged, JSON.stringify(headers));
    t.match(await from(headers).delete("/session"), forged);
  }
  for (const headers of [{}, { "Sec-Fetch-Site": "none" }, { Referer: `${url}/` }] as readonly Headers[]) {
    await expects(t, write(headers), notLoggedIn, JSON.stringify(headers));
  }
  t.equal(await written(), before);
  t.equal((await read(ownPage)).status, 200, "the session is still there");
});

t.test("[S1] a page of another site can log nobody in or out", async (t) => {
  for (const headers of [
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors" },
    { Origin: "https://evil.example" },
  ] as readonly Headers[]) {
    const answer = await from(headers, "").logIn(ann.account?.email ?? "", password);
    t.match(answer, forged);
    t.equal(answer.headers.get("set-cookie"), null);
  }
  const program = await from({}, "").logIn(ann.account?.email ?? "", password);
  t.equal(program.status, 200, "a program that is no browser may");
});

t.test("[S1] a name that an attacker's DNS points to this server gets no use of the session", async (t) => {
  const ask = async (given: string) => {
    const lines = [
      "GET /api/v1/users/me HTTP/1.1",
      `Host: ${given}`,
      `Origin: http://${given}`,
      `Referer: http://${given}/`,
      "Sec-Fetch-Site: same-origin",
      `Cookie: ${cookie}`,
    ];
    return (await exchange(url, `${lines.join("\r\n")}\r\n\r\n`))?.status;
  };
  t.equal(await ask(host), 200);
  t.equal(await ask("evil.example"), 401);
  t.equal(await ask(`evil.example:${new URL(url).port}`), 401);
  t.equal(await ask("127.0.0.1:80"), 200, "ports do not separate cookies");
});

t.test("[D256] an Authorization header takes precedence over the cookie", async (t) => {
  const both = (client: Client): Promise<Answer> => client.get("/users/me", {}, { ...ownPage, Cookie: cookie });
  t.equal((await both(owner)).body.user_id, owner.userId);
  const wrong = new Client(url, { email: "owner@localhost", key: "wrong", userId: 0 });
  t.equal((await both(wrong)).body.code, "INVALID_API_KEY");
});

t.test("[D256] only one cookie of the right name counts, in a header of at most cookie_header_bytes_max", async (t) => {
  const statusOf = async (given: string) => (await from(ownPage, given).get("/users/me")).status;
  t.equal(await statusOf(`a=b; ${cookie}; c=d`), 200);
  t.equal(await statusOf(`${cookie}; session=other`), 401, "one of them was set by somebody else");
  t.equal(await statusOf(`x${cookie}`), 401);
  t.equal(await statusOf(cookie.replace("session", "__Host-session")), 401, "without TLS");
  t.equal(await statusOf("session="), 401);
  const filler = (bytes: number) => `${cookie}; a=${"b".repeat(bytes - cookie.length - 4)}`;
  t.equal(await statusOf(filler(limits.cookie_header_bytes_max)), 200);
  t.equal(await statusOf(filler(limits.cookie_header_bytes_max + 1)), 401);
});

t.test("[D256] behind a proxy with TLS the cookie is Secure and bound to the host", async (t) => {
  const proxied = await startTestServer(t, { environment: { TRUST_PROXY: "true" } });
  const person = await proxied.person("Ann");
  const tls = { ...ownPage, "X-Forwarded-Proto": "https" };
  const visitor = new Page(proxied.url, { headers: tls });
  const { headers } = await visitor.logIn(person.account?.email ?? "", password);
  t.match(
    headers.get("set-cookie"),
    /^__Host-session=\w{32}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
  );
  t.equal((await visitor.get("/users/me")).status, 200);
  const statusOf = async (more: Headers, given = visitor.cookie) =>
    (await new Page(proxied.url, { headers: more, cookie: given }).post("/users/me/presence", { status: "idle" }))
      .status;
  t.equal(await statusOf({ "X-Forwarded-Proto": "https", Origin: proxied.url.replace("http:", "https:") }), 200);
  t.equal(await statusOf({ "X-Forwarded-Proto": "https", Origin: proxied.url }), 401, "a page without TLS");
  t.equal(
    await statusOf(tls, visitor.cookie.replace("__Host-", "")),
    401,
    "a cookie that any host of the domain can set",
  );
  t.equal(await statusOf(ownPage), 401, "without TLS the name is another one");
  const out = await visitor.delete("/session");
  t.match(out.headers.get("set-cookie"), /^__Host-session=; .*Max-Age=0.*; Secure$/);
});

t.test("[D2] no browser is asked for a password, not even by plain HTTP", async (t) => {
  for (const headers of [ownPage, { Referer: `${url}/` }, { Origin: url }] as readonly Headers[]) {
    const { status, headers: answered } = await from(headers, "").get("/users/me");
    t.equal(status, 401);
    t.equal(answered.get("www-authenticate"), null, JSON.stringify(headers));
  }
  t.match((await owner.anonymous().get("/users/me")).headers.get("www-authenticate"), /^Basic/);
});

t.test("[D256] files are sent to the server's own pages, and to an address that the user typed", async (t) => {
  const form = new FormData();
  form.set("file", new Blob(["tea"]), "tea.txt");
  const up = await fetch(`${url}/api/v1/user_uploads`, {
    method: "POST",
    headers: { ...ownPage, Cookie: cookie },
    body: form,
  });
  t.equal(up.status, 200, "an upload with the cookie");
  const { url: path } = (await up.json()) as { url: string };
  const statusOf = async (headers: Headers) => (await from(headers).file(path)).status;
  t.equal(await statusOf({ "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors" }), 200, "an image");
  t.equal(await statusOf({ "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate" }), 200, "a link");
  t.equal(await statusOf({ "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" }), 200, "a typed address");
  t.equal(await statusOf({ Referer: `${url}/` }), 200, "by plain HTTP");
  t.equal(await statusOf({ "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }), 404);
  t.equal(await statusOf({ "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate" }), 404);
  t.equal(await statusOf({}), 404);
});

t.test("[D25] a request with a cookie can be repeated under its Idempotency-Key", async (t) => {
  const post = () => page.send("POST", "/messages", encodeForm(note), { "Idempotency-Key": "once" });
  const [first, second] = [await post(), await post()];
  t.equal(first.status, 200);
  t.equal(first.body.id, second.body.id);
});

t.test("[S1] a socket is authenticated by the cookie only if its page's origin is the server's", async (t) => {
  const statusOf = async (headers: Headers, authorization = "") => {
    const socket = new RawSocket(url, { authorization, headers: { Cookie: cookie, ...headers } });
    const { status } = await socket.handshake;
    if (status !== 101) return status;
    socket.send({ type: "ping", ref: "1" });
    const { type } = await socket.frame(() => true);
    socket.destroy();
    return type;
  };
  t.equal(await statusOf({ Origin: url }), "pong", "authenticated at once");
  t.equal(await statusOf({ Origin: url, Cookie: `a=b; ${cookie}` }), "pong");
  const strangers: readonly Headers[] = [
    {},
    { Origin: "null" },
    { Origin: "https://evil.example" },
    { Origin: `http://other.${host}` },
    { Origin: url.replace(/:\d+$/, ":1") },
    { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" },
    { Origin: url, Cookie: "a=b" },
  ];
  for (const headers of strangers)
    t.equal(await statusOf(headers), "reply", `asks for credentials: ${JSON.stringify(headers)}`);
  t.equal(await statusOf({ Origin: "http://evil.example", Host: "evil.example" }), 401, "a name of an attacker's DNS");
  t.equal(await statusOf({ Origin: url, Cookie: "session=ended" }), 401);
  t.equal(await statusOf({ Origin: url }, owner.authorization), "pong");
  t.equal(await statusOf({ Origin: "https://evil.example" }, owner.authorization), 403);
});
