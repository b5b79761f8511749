/**
 * Request limits (D28, behaviour 1.7): buckets per user, and per address for failed logins and anonymous calls; the 429
 * with its headers; RATE_LIMITS. The clock is manual. test/realtime tests that sockets count against the same limits.
 */
import fc from "fast-check";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { defaultRates, noRates, parseRates, RateLimits } from "../../src/operations/rate-limits.ts";
import { clientNetwork } from "../../src/runtime/client-network.ts";
import { type Answer, type Client, expects, outcome, refusal } from "../support/client.ts";
import { firstMoment, startClockedServer } from "../support/realtime-clock.ts";

const password = "correct horse battery";
const wrongPassword = refusal("Your username or password is incorrect", "AUTHENTICATION_FAILED", 401);

function start(t: Test, rates: string) {
  return startClockedServer(t, { environment: { RATE_LIMITS: rates, OWNER_PASSWORD: password } });
}

function tooMany(seconds: number) {
  return refusal("API usage exceeded rate limit", "RATE_LIMIT_HIT", 429, { "retry-after": seconds });
}

/** Limit, remaining and reset from the headers of an answer; null where absent. */
function rateHeaders({ headers }: Answer): (number | null)[] {
  return ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map((name) => {
    const value = headers.get(name);
    return value === null ? null : Number(value);
  });
}

function logIn(client: Client, username: string, secret: string): Promise<Answer> {
  return client.anonymous().post("/fetch_api_key", { username, password: secret });
}

t.test("[D28] counted answers say how many requests remain; one too many gets 429 with Retry-After", async (t) => {
  const { server, clock } = await start(t, "api=3/60");
  const { owner } = server;
  const startS = Math.ceil(firstMoment / 1000);
  t.strictSame(rateHeaders(await owner.get("/users/me")), [3, 2, startS + 20]);
  t.strictSame(rateHeaders(await owner.get("/messages/999")), [3, 1, startS + 40], "refusals count, too");
  t.strictSame(rateHeaders(await owner.post("/messages", { type: "direct", to: [2], content: "x" })), [
    3,
    0,
    startS + 60,
  ]);
  const over = await owner.get("/users/me");
  t.strictSame(outcome(over), tooMany(20));
  t.equal(over.headers.get("Retry-After"), "20");
  t.strictSame(rateHeaders(over), [3, 0, startS + 60]);
  clock.advance(19_000);
  await expects(t, owner.get("/users/me"), tooMany(1), "rejected requests do not extend the wait");
  clock.advance(1000);
  t.equal((await owner.get("/users/me")).status, 200, "after the announced time");
  t.equal((await owner.get("/users/me")).status, 429);
  clock.advance(3_600_000);
  t.strictSame(rateHeaders(await owner.get("/users/me")).slice(0, 2), [3, 2], "never more than the burst");
});

t.test("[D28] limits count an IPv6 /64 as one client, and a mapped address as its IPv4 address", async (t) => {
  for (const [address, network] of [
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0db8:0000:0000:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::", "2001:db8:0:1::/64"],
    ["0000:0000:0000:0000:0000:ffff:7f00:0001", "127.0.0.1"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["127.0.0.1", "127.0.0.1"],
    ["0123456789ab:2", "0123456789ab:2"],
    ["", ""],
  ] as const) {
    t.equal(clientNetwork(address), network, address);
  }
});

t.test("[D28] a request over the limit is not executed", async (t) => {
  const { server, clock } = await start(t, "api=3/60");
  const { owner } = server;
  const changes = await owner.watchChanges();
  const post = () => owner.post("/messages", { type: "direct", to: [2], content: "x" });
  t.strictSame([(await post()).status, (await post()).status, (await post()).status], [200, 200, 429]);
  t.equal((await owner.send("POST", "/messages", "%zz")).status, 429, "whatever it holds");
  clock.advance(60_000);
  t.equal((await changes()).length, 2);
});

t.test("[D28] each user has one bucket, however many keys and connections", async (t) => {
  const { server } = await start(t, "api=2/60");
  const { owner } = server;
  const other = await server.user("other");
  const key = (await logIn(owner, "owner@localhost", password)).body.api_key;
  const Authorization = `Basic ${Buffer.from(`owner@localhost:${key}`).toString("base64")}`;
  t.equal((await owner.get("/users/me")).status, 200);
  t.equal((await owner.anonymous().get("/users/me", {}, { Authorization })).status, 200);
  t.equal((await owner.get("/users/me")).status, 429);
  t.equal((await owner.anonymous().get("/users/me", {}, { Authorization })).status, 429);
  t.equal((await other.get("/users/me")).status, 200);
});

t.test("[D28] anonymous calls are limited per address, independently of users", async (t) => {
  const { server, clock } = await start(t, "anonymous=2/60");
  const { owner } = server;
  const nobody = owner.anonymous();
  t.strictSame(rateHeaders(await nobody.get("/server_settings")).slice(0, 2), [2, 1]);
  t.equal((await nobody.get("/server_settings")).status, 200);
  const over = await nobody.get("/server_settings");
  t.strictSame(outcome(over), tooMany(30));
  t.equal(over.headers.get("Retry-After"), "30");
  t.equal((await owner.get("/server_settings")).status, 200, "a caller with a key has their own bucket");
  t.strictSame(rateHeaders(await owner.get("/users/me")).slice(0, 2), [
    limits.rate_api_burst,
    limits.rate_api_burst - 2,
  ]);
  clock.advance(30_000);
  t.equal((await nobody.get("/server_settings")).status, 200);
});

t.test("[D28] failed logins have their own limit; successes do not count, others are unaffected", async (t) => {
  const { server, clock } = await start(t, "login=3/60");
  const { owner } = server;
  for (const name of ["owner@localhost", "nobody@example.com", "owner@localhost"]) {
    t.equal((await logIn(owner, "owner@localhost", password)).status, 200, "right");
    await expects(t, logIn(owner, name, "a wrong one"), wrongPassword);
  }
  const over = await logIn(owner, "owner@localhost", "a wrong one");
  t.strictSame(outcome(over), tooMany(20));
  t.equal(over.headers.get("Retry-After"), "20");
  await expects(
    t,
    logIn(owner, "owner@localhost", password),
    tooMany(20),
    "the answer does not reveal whether the password is right",
  );
  t.equal((await owner.get("/users/me")).status, 200, "keys work on");
  clock.advance(20_000);
  t.equal((await logIn(owner, "owner@localhost", password)).status, 200);
  await expects(t, logIn(owner, "owner@localhost", "a wrong one"), wrongPassword);
  t.equal((await logIn(owner, "owner@localhost", "a wrong one")).status, 429);
});

t.test("[D28] concurrent attempts do not bypass the limit", async (t) => {
  const { server } = await start(t, "login=3/3600");
  const attempts = Array.from({ length: 12 }, (_, index) => logIn(server.owner, "owner@localhost", `guess ${index}`));
  const statuses = (await Promise.all(attempts)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 401).length, 3);
  t.equal(statuses.filter((status) => status === 429).length, 9);
});

t.test("[D28] wrong API keys count as failed logins of their address, for every operation", async (t) => {
  const { server } = await start(t, "login=2/60");
  const { owner } = server;
  const nobody = owner.anonymous();
  const headers = { Authorization: `Basic ${Buffer.from("owner@localhost:wrong").toString("base64")}` };
  t.equal((await nobody.get("/users/me", {}, headers)).status, 401);
  t.equal((await nobody.get("/users", {}, headers)).status, 401, "also for operations with optional credentials");
  const over = await nobody.get("/users/me", {}, headers);
  t.strictSame(outcome(over), tooMany(30));
  t.equal(over.headers.get("Retry-After"), "30");
  t.equal(over.headers.get("WWW-Authenticate"), null, "no other credentials would help now");
  t.equal((await logIn(owner, "owner@localhost", "a wrong one")).status, 429);
  t.equal((await owner.get("/users/me")).status, 200, "the owner at the same address is unaffected");
  t.equal((await nobody.get("/users/me")).status, 401, "missing credentials are not wrong ones");
});

t.test("[D28] wrong keys sent to a page with optional credentials count as failed logins, too", async (t) => {
  const { server } = await start(t, "login=2/60");
  const { owner, url } = server;
  const headers = { Authorization: `Basic ${Buffer.from("owner@localhost:wrong").toString("base64")}` };
  for (let count = 0; count < 2; count++) {
    t.equal(
      (await fetch(`${url}/avatar/2`, { headers, redirect: "manual" })).status,
      302,
      "as for an anonymous caller",
    );
  }
  t.equal((await owner.anonymous().get("/users/me", {}, headers)).status, 429);
});

t.test("RATE_LIMITS=off disables request limits", async (t) => {
  const { server } = await start(t, "off");
  const { owner } = server;
  const answers: Answer[] = [];
  for (let count = 0; count <= limits.rate_failed_logins_per_minute; count++) {
    answers.push(await owner.anonymous().get("/users/me", {}, { Authorization: "Basic YTpi" }));
  }
  t.ok(answers.every(({ status }) => status === 401));
  t.strictSame(rateHeaders(await owner.get("/users/me")), [null, null, null], "and there are no rate limit headers");
});

t.test(
  "[D28] defaults: 200 requests a minute with bursts of 1,000, 10 failed logins, 100 anonymous calls",
  async (t) => {
    t.strictSame(defaultRates, {
      api: { perSecond: 200 / 60, burst: 1000 },
      login: { perSecond: 10 / 60, burst: 10 },
      anonymous: { perSecond: 100 / 60, burst: 100 },
    });
    t.strictSame(parseRates(""), defaultRates);
  },
);

t.test("[D28] RATE_LIMITS is off, or rules of count per seconds; anything else is rejected", async (t) => {
  t.strictSame(parseRates("off"), noRates);
  t.strictSame(parseRates("api=600/60"), { ...defaultRates, api: { perSecond: 10, burst: 600 } });
  t.strictSame(parseRates(" login=1/2 , anonymous=3/1 "), {
    ...defaultRates,
    login: { perSecond: 0.5, burst: 1 },
    anonymous: { perSecond: 3, burst: 3 },
  });
  const refused = ["on", "OFF", "api", "api=", "api=1", "api=1/", "api=/1", "api=0/60", "api=1/0", "api=-1/60"];
  for (const text of [...refused, "api=1.5/60", "api=1/60;login=1/1", "api=1/60,", "all=1/1", "api=1e3/60"]) {
    t.equal(parseRates(text), null, text);
  }
});

t.test("[S3] rate_buckets_max: beyond it the bucket that was not used for longest is evicted", async (t) => {
  const rates = new RateLimits({ ...noRates, login: { perSecond: 1, burst: 1 } }, () => 0);
  t.equal(rates.take("login", "first")?.retryAfterS, 0);
  t.equal(rates.take("login", "first")?.retryAfterS, 1, "it is remembered");
  for (let index = 1; index < limits.rate_buckets_max; index++) rates.take("login", `other${index}`);
  t.equal(rates.take("login", "other1")?.retryAfterS, 1, "all buckets are kept at the limit");
  rates.take("login", "one more");
  t.equal(rates.take("login", "other2")?.retryAfterS, 1, "one over evicts one");
  t.equal(rates.take("login", "first")?.retryAfterS, 0, "the one that was not used for longest");
});

t.test("[D28] a client that waits for the announced time is accepted, at any rate", async (t) => {
  const milliseconds = fc.integer({ min: 0, max: 5000 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 3600 }),
        fc.array(milliseconds, { maxLength: 5 }),
        (count, seconds, pauses) => {
          let now = 0;
          const rates = new RateLimits({ ...noRates, api: { perSecond: count / seconds, burst: count } }, () => now);
          for (let taken = 0; taken < count; taken++) rates.take("api", "who");
          for (const pause of pauses) {
            now += pause;
            rates.take("api", "who");
          }
          const wait = rates.take("api", "who")?.retryAfterS ?? 0;
          if (wait === 0) return true;
          now += wait * 1000;
          return rates.take("api", "who")?.retryAfterS === 0;
        },
      ),
      { numRuns: 300, seed: 1 },
    ),
  );
});
