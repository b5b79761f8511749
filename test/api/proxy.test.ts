/** Forwarding headers of a reverse proxy are used with TRUST_PROXY, and ignored without it. */
import t from "tap";
import { readForwarded } from "../../src/edge/http/forwarded.ts";
import { exchange } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const limited = { RATE_LIMITS: "login=2/3600" };
const wrong = { username: "owner@localhost", password: "a wrong one" };

t.test("with TRUST_PROXY, limits use the client's address, and links the client's scheme", async (t) => {
  const { owner, url } = await startTestServer(t, { environment: { ...limited, TRUST_PROXY: "true" } });
  const from = (address: string) => ({ "X-Forwarded-For": address });
  const logIn = async (address: string) => {
    const answer = await owner.anonymous().post("/fetch_api_key", wrong, from(address));
    return answer.status;
  };
  // Only the last entry is from our proxy. A client can forge the entries before it, so they are ignored.
  t.strictSame([await logIn("192.0.2.1"), await logIn("203.0.113.9, 192.0.2.1")], [401, 401]);
  t.equal(await logIn("203.0.113.10,192.0.2.1"), 429);
  t.equal(await logIn("2001:db8::1"), 401, "another client is not affected");
  const settings = await owner.get("/server_settings", {}, { "X-Forwarded-Proto": "https" });
  t.equal(settings.body.realm_url, url.replace("http:", "https:"));
  t.equal(
    (await owner.get("/server_settings")).body.realm_url,
    url,
    "without the header, the address of the connection counts",
  );

  const socket = new Socket(url, { as: owner, headers: { "X-Forwarded-Proto": "https" } });
  await socket.opened();
  const answer = await socket.ask({ type: "call", method: "GET", path: "/server_settings" });
  t.equal(answer.realm_url, url.replace("http:", "https:"), "sockets, too");
  socket.close();
});

t.test("of several headers the last one counts, which a proxy adds to those of the client", async (t) => {
  const { url } = await startTestServer(t, { environment: { ...limited, TRUST_PROXY: "true" } });
  const send = (start: string, headers: readonly string[], body = "") => {
    const framing = ["Host: localhost", `Content-Length: ${body.length}`, "Connection: close"];
    return exchange(url, [start, ...framing, ...headers, "", body].join("\r\n"));
  };
  const logIn = async (...addresses: readonly string[]) => {
    const type = "Content-Type: application/x-www-form-urlencoded";
    const headers = [type, ...addresses.map((address) => `X-Forwarded-For: ${address}`)];
    const answer = await send("POST /api/v1/fetch_api_key HTTP/1.1", headers, String(new URLSearchParams(wrong)));
    return answer?.status;
  };
  t.strictSame([await logIn("203.0.113.1", "192.0.2.1"), await logIn("", "192.0.2.1")], [401, 401]);
  t.equal(await logIn("203.0.113.2", "203.0.113.3, 192.0.2.1"), 429, "all three came from one address");
  t.equal(await logIn("192.0.2.1", "203.0.113.4"), 401, "another client is not affected");

  const schemes = ["X-Forwarded-Proto: http", "X-Forwarded-Proto: https"];
  t.match((await send("GET /api/v1/server_settings HTTP/1.1", schemes))?.text, '"realm_url":"https://');

  const guess = async (address: string) => {
    const socket = new Socket(url, { headers: { "X-Forwarded-For": [address, "192.0.2.9"] } });
    await socket.opened();
    socket.send({ type: "authenticate", email: "owner@localhost", api_key: "wrong" });
    return (await socket.closed).code;
  };
  const codes = [await guess("203.0.113.5"), await guess("203.0.113.6"), await guess("203.0.113.7")];
  t.strictSame(codes, [4401, 4401, 4429], "sockets, too");
});

t.test("[D28] behind a proxy an IPv6 /64 counts as one client, a mapped address as its IPv4 address", async (t) => {
  const { owner, url } = await startTestServer(t, {
    environment: { RATE_LIMITS: "login=2/3600,anonymous=2/3600", TRUST_PROXY: "true" },
  });
  const from = (address: string) => ({ "X-Forwarded-For": address });
  const logIn = async (address: string) =>
    (await owner.anonymous().post("/fetch_api_key", wrong, from(address))).status;
  const look = async (address: string) =>
    (await owner.anonymous().get("/messages", { anchor: "newest", num_before: 1, num_after: 0 }, from(address))).status;
  t.strictSame([await logIn("2001:db8:0:1::1"), await logIn("2001:db8:0:1:ffff::2")], [401, 401]);
  t.equal(await logIn("2001:DB8:0:1:1234:5678:9abc:def0"), 429, "the same network");
  t.equal(await logIn("2001:db8:0:2::1"), 401, "the next network");
  t.strictSame([await logIn("192.0.2.7"), await logIn("::ffff:192.0.2.7")], [401, 401]);
  t.equal(await logIn("::ffff:c000:207"), 429, "the same IPv4 address");
  t.equal(await logIn("192.0.2.8"), 401);
  await look("2001:db8:0:3::1");
  await look("2001:db8:0:3::2");
  t.equal(await look("2001:db8:0:3::3"), 429, "anonymous calls, too");
  t.not(await look("2001:db8:0:4::1"), 429);
  const guess = async (address: string) => {
    const socket = new Socket(url, { headers: from(address) });
    await socket.opened();
    socket.send({ type: "authenticate", email: "owner@localhost", api_key: "wrong" });
    return (await socket.closed).code;
  };
  t.strictSame([await guess("2001:db8:0:5::1"), await guess("2001:db8:0:5::2")], [4401, 4401]);
  t.equal(await guess("2001:db8:0:5::3"), 4429, "sockets, too");
});

t.test("by default forwarding headers are ignored", async (t) => {
  const { owner, url } = await startTestServer(t, { environment: limited });
  const statuses: number[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
    const headers = { "X-Forwarded-For": address, "X-Forwarded-Proto": "https" };
    statuses.push((await owner.anonymous().post("/fetch_api_key", wrong, headers)).status);
  }
  t.strictSame(statuses, [401, 401, 429], "all requests count for the same address");
  const settings = await owner.get("/server_settings", {}, { "X-Forwarded-Proto": "https" });
  t.equal(settings.body.realm_url, url);
});

t.test("a forwarded value that is no address or no scheme is ignored", async (t) => {
  const read = (chain: string, scheme: string) =>
    readForwarded({
      getHeader: () => "",
      forEach(visit) {
        visit("x-forwarded-for", chain);
        visit("x-forwarded-proto", scheme);
      },
    });
  for (const chain of ["", "unknown", "192.0.2.1, evil\r\n", "192.0.2.1:80", ","]) {
    t.equal(read(chain, "").address, null, JSON.stringify(chain));
  }
  for (const [scheme, isSecure] of [
    ["HTTPS", true],
    ["http", false],
    ["ftp", null],
    ["", null],
  ] as const) {
    t.equal(read("", scheme).isSecure, isSecure, scheme);
  }
});
