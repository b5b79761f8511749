/**
 * Authentication (spec 5, D2) and how a client gets a key (POST /fetch_api_key, behaviour 11). Secrets are stored as
 * hashes only and appear nowhere (S2). Limits on failed logins are tested in rate-limits.test.ts.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { limits } from "../../schemas/limits.ts";
import { Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const ownerPassword = "an owner's very own words";
const server = await startTestServer(t, { environment: { OWNER_PASSWORD: ownerPassword } });
const { owner } = server;
const anonymous = owner.anonymous();

const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);
const malformed = refusal("Invalid authorization header for basic auth", "UNAUTHORIZED", 401);
const notBasic = refusal("This endpoint requires HTTP basic authentication.", "UNAUTHORIZED", 401);
const invalidKey = refusal("Invalid API key", "INVALID_API_KEY", 401);
const deactivated = refusal("Account is deactivated", "USER_DEACTIVATED", 401);
const wrongPassword = refusal("Your username or password is incorrect", "AUTHENTICATION_FAILED", 401);

const guarded = endpoints.filter((endpoint) => endpoint.authentication === "user");

/** Calls an operation without parameters. */
function call(endpoint: Endpoint, headers: Record<string, string> = {}) {
  return anonymous.send(endpoint.method, endpoint.path.replaceAll(/\{\w+\*?\}/g, "7"), null, headers);
}

function basic(text: string | Buffer): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(text).toString("base64")}` };
}

function keyOf(client: Client): string {
  return client.account?.key ?? "";
}

function emailOf(client: Client): string {
  return client.account?.email ?? "";
}

/** A user whose account is deactivated; the server still stores their keys. */
async function former(t: Test, name: string): Promise<Client> {
  const person = await server.user(name);
  t.equal((await owner.delete(`/users/${person.userId}`)).status, 200);
  return person;
}

t.test("[D2] every operation that needs a caller answers 401 with the exact code and changes nothing", async (t) => {
  const gone = await former(t, "gone");
  const changes = await owner.watchChanges();
  const cases: readonly (readonly [string, Record<string, string>, object])[] = [
    ["no credentials", {}, notLoggedIn],
    ["malformed ones", basic("no colon"), malformed],
    ["a wrong key", basic(`${emailOf(owner)}:${"x".repeat(32)}`), invalidKey],
    ["a deactivated account", { Authorization: gone.authorization }, deactivated],
  ];
  t.ok(guarded.length > 10);
  for (const endpoint of guarded) {
    for (const [what, headers, expected] of cases) {
      const answer = await call(endpoint, headers);
      t.strictSame(outcome(answer), expected, `${endpoint.operationId}: ${what}`);
      t.match(answer.headers.get("WWW-Authenticate"), /^Basic\b/, "[D2] WWW-Authenticate: Basic");
    }
  }
  t.strictSame(await changes(), []);
});

t.test("[D2] malformed credentials are rejected with UNAUTHORIZED, whatever is wrong with them", async (t) => {
  const cases: readonly (readonly [string, object])[] = [
    ["Basic", notBasic],
    ["Bearer abc", notBasic],
    ["Basicabc", notBasic],
    [keyOf(owner), notBasic],
    ["Basic !!!", malformed],
    ["Basic YWJj ZGVm", malformed],
    ["Basic YWJj===", malformed],
    [basic("a:b:c")["Authorization"] ?? "", malformed],
    [basic("nothing")["Authorization"] ?? "", malformed],
    [basic(Buffer.from([0x61, 0x3a, 0xff]))["Authorization"] ?? "", malformed],
  ];
  for (const [header, expected] of cases) {
    const answer = await anonymous.get("/users/me", {}, { Authorization: header });
    t.strictSame(outcome(answer), expected, header);
    t.match(answer.headers.get("WWW-Authenticate"), /^Basic\b/);
  }
});

t.test("[S3] header_value_bytes_max: a longer Authorization header is not read", async (t) => {
  // Without padding, this many bytes fill the header exactly; one more exceeds it.
  const bytes = Math.floor(((limits.header_value_bytes_max - "Basic ".length) * 3) / 4);
  const headerOf = (length: number) =>
    `Basic ${Buffer.from("a:".padEnd(length, "k")).toString("base64").replaceAll("=", "")}`;
  t.equal(headerOf(bytes).length, limits.header_value_bytes_max);
  const atBound = await anonymous.get("/users/me", {}, { Authorization: headerOf(bytes) });
  t.strictSame(outcome(atBound), invalidKey);
  t.equal(headerOf(bytes + 1).length, limits.header_value_bytes_max + 1);
  const over = await anonymous.get("/users/me", {}, { Authorization: headerOf(bytes + 1) });
  t.strictSame(outcome(over), malformed);
});

t.test("[spec 5] a key is accepted only with the email of its own account", async (t) => {
  const ann = await server.user("ann");
  const ben = await server.user("ben");
  const me = (email: string, key: string) => anonymous.get("/users/me", {}, basic(`${email}:${key}`));
  t.equal((await me(emailOf(ann), keyOf(ann))).body.user_id, ann.userId);
  t.equal((await me(emailOf(ann).toUpperCase(), keyOf(ann))).body.user_id, ann.userId, "addresses ignore case");
  t.equal((await me(emailOf(ann), keyOf(ann))).headers.get("WWW-Authenticate"), null);
  for (const [email, key] of [
    [emailOf(ben), keyOf(ann)],
    [emailOf(ann), keyOf(ben)],
    [emailOf(ann), keyOf(ann).toUpperCase()],
    [emailOf(ann), `${keyOf(ann)}x`],
    [emailOf(ann), keyOf(ann).slice(1)],
    [emailOf(ann), ""],
    ["", keyOf(ann)],
    ["", ""],
    [String(ann.userId), keyOf(ann)],
    ["nobody@example.com", keyOf(ann)],
    [emailOf(ann), createHash("sha256").update(keyOf(ann)).digest("hex")],
  ] as const) {
    await expects(t, me(email, key), invalidKey, `${email}:${key}`);
  }
  const lowerCase = { Authorization: ann.authorization.replace("Basic", "bAsIc") };
  t.equal((await anonymous.get("/users/me", {}, lowerCase)).status, 200, "the name of the scheme is case-insensitive");
});

t.test("[D2] where credentials are optional, wrong credentials are rejected", async (t) => {
  const gone = await former(t, "left");
  const wrong = basic(`${emailOf(owner)}:${"x".repeat(32)}`);
  const check = async (what: string) => {
    await expects(t, anonymous.get("/users", {}, wrong), invalidKey, what);
    await expects(t, anonymous.get("/users", {}, basic("?")), malformed, what);
    const left = await anonymous.get("/users", {}, { Authorization: gone.authorization });
    t.strictSame(outcome(left), deactivated, what);
  };
  const none = await anonymous.get("/users");
  t.strictSame(outcome(none), notLoggedIn);
  t.match(none.headers.get("WWW-Authenticate"), /^Basic\b/, "[D2] WWW-Authenticate: Basic");
  await check("without spectators");
  server.setRealm({ enable_spectator_access: true });
  t.equal((await anonymous.get("/users")).status, 200);
  await check("a typo does not make a user a spectator");
  server.setRealm({ enable_spectator_access: false });
});

t.test("[D2] GET /server_settings ignores credentials", async (t) => {
  for (const headers of [{}, basic("?"), basic(`${emailOf(owner)}:x`)]) {
    t.equal((await anonymous.get("/server_settings", {}, headers)).status, 200);
  }
});

t.test("[behaviour 11] a correct password returns a key, another one on each call", async (t) => {
  const person = await server.person("Carla");
  const fetchKey = (username: string) =>
    anonymous.post("/fetch_api_key", { username, password: "correct horse battery" });
  const first = await fetchKey("carla@example.com");
  t.strictSame(
    outcome(first),
    success({ api_key: first.body.api_key, email: "carla@example.com", user_id: person.userId }),
  );
  t.match(first.body.api_key, /^[A-Za-z0-9]{32}$/, "[S2] 32 characters from 62: over 160 bits");
  const second = await fetchKey(" CARLA@example.com ");
  t.equal(second.body.email, "carla@example.com", "the email as it is stored");
  t.not(second.body.api_key, first.body.api_key);
  for (const key of [keyOf(person), first.body.api_key, second.body.api_key]) {
    const me = await anonymous.get("/users/me", {}, basic(`carla@example.com:${key}`));
    t.equal(me.body.user_id, person.userId, "[S2] several keys of one user are valid at the same time");
  }
});

t.test("[behaviour 11] the password of the owner is the value of OWNER_PASSWORD", async (t) => {
  const got = await anonymous.post("/fetch_api_key", { username: emailOf(owner), password: ownerPassword });
  t.equal(got.body.user_id, owner.userId);
});

t.test("[behaviour 11] a wrong password, an unknown email and no password get the same answer", async (t) => {
  await server.person("Dora");
  const changes = await owner.watchChanges();
  for (const [username, password] of [
    ["dora@example.com", "correct horse batterY"],
    ["dora@example.com", "correct horse battery "],
    ["dora@example.com", ""],
    ["nobody@example.com", "correct horse battery"],
    ["", "correct horse battery"],
    ["notification-bot@colloquy.invalid", ""],
    ["toString", "x"],
  ] as const) {
    const answer = await anonymous.post("/fetch_api_key", { username, password });
    t.strictSame(outcome(answer), wrongPassword, username);
  }
  t.strictSame(await changes(), []);
});

t.test("[behaviour 11] a deactivated user gets no key, and the reason only with the correct password", async (t) => {
  const person = await server.person("Edgar");
  await owner.delete(`/users/${person.userId}`);
  const fetchKey = (password: string) => anonymous.post("/fetch_api_key", { username: "edgar@example.com", password });
  await expects(t, fetchKey("correct horse battery"), deactivated);
  await expects(t, fetchKey("a guess"), wrongPassword);
  await expects(t, person.get("/users/me"), deactivated, "the old key is found, but not accepted");
});

t.test("[spec 4] POST /fetch_api_key needs both parameters, within their bounds", async (t) => {
  const missing = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  await expects(t, anonymous.post("/fetch_api_key", { password: "x" }), missing("username"));
  await expects(t, anonymous.post("/fetch_api_key", { username: "x" }), missing("password"));
  const ask = async (username: number, password: number) =>
    outcome(await anonymous.post("/fetch_api_key", { username: "u".repeat(username), password: "p".repeat(password) }));
  const { email_code_points_max: emailMax, password_bytes_max: passwordMax } = limits;
  t.strictSame(await ask(emailMax, passwordMax), wrongPassword, "at both bounds");
  t.strictSame(await ask(emailMax + 1, 1), refusal(`username is too long (limit: ${emailMax} characters)`));
  t.strictSame(await ask(1, passwordMax + 1), refusal(`password is too long (limit: ${passwordMax} characters)`));
});

t.test("[S3] api_keys_per_user_max: one more login revokes the oldest key and no other", async (t) => {
  const person = await server.user("keyring");
  const { dispatcher } = server.realm;
  const hash = (key: string) => createHash("sha256").update(key).digest("hex");
  const add = (key: string) =>
    dispatcher.ask(
      command({ actor: "user", id: person.userId }, "user.api-key.add", { hash: hash(key) }, person.userId),
    );
  const keys = Array.from({ length: limits.api_keys_per_user_max }, (_, index) => `key${index}`);
  const works = async (key: string) =>
    (await anonymous.get("/users/me", {}, basic(`${emailOf(person)}:${key}`))).status === 200;
  for (const key of keys.slice(1)) t.equal((await add(key)).kind, "ok");
  t.ok(await works(keyOf(person)), "the limit is reached");
  t.equal((await add("one more")).kind, "ok");
  t.notOk(await works(keyOf(person)), "the oldest one");
  for (const key of [...keys.slice(1), "one more"]) t.ok(await works(key), key);
});

/** The bytes of all files in a data directory except the files that hold credentials. */
function bytesOf(folder: string): Buffer {
  const files = (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !/zuliprc|reserved-space/.test(path));
  return Buffer.concat(files.map((path) => readFileSync(path)));
}

t.test("[S2] the data directory contains hashes of keys and passwords, but no keys and passwords", async (t) => {
  const password = "never to be seen again";
  const keyed = { "Idempotency-Key": "secret-keeper" };
  const made = await owner.post("/users", { email: "vera@example.com", password, full_name: "Vera" }, keyed);
  const fetched = await anonymous.post("/fetch_api_key", { username: "vera@example.com", password });
  const key: string = fetched.body.api_key;
  t.strictSame([made.status, fetched.status], [200, 200]);
  await anonymous.get("/users/me", {}, basic(`vera@example.com:${key}x`));
  await anonymous.post("/fetch_api_key", { username: "vera@example.com", password: `${password}!` });
  const bytes = bytesOf(server.dataDir);
  t.ok(bytes.includes("vera@example.com"), "the search covers the right bytes");
  t.ok(bytes.includes(createHash("sha256").update(key).digest("hex")), "keys are stored as SHA-256");
  t.ok(bytes.includes("$argon2id$"), "passwords are stored by a memory-hard function");
  for (const secret of [key, keyOf(owner), password, ownerPassword]) {
    t.notOk(bytes.includes(secret), "as it is");
    t.notOk(bytes.includes(Buffer.from(secret).toString("base64").replaceAll("=", "")), "in base64");
    t.notOk(bytes.includes(Buffer.from(secret).toString("hex")), "in hex");
  }
});

t.test("[S2] neither events nor error messages contain a secret", async (t) => {
  const changes = await owner.watchChanges();
  const password = "whispered in the dark";
  const made = await owner.post("/users", { email: "wim@example.com", password, full_name: "Wim" });
  t.equal(made.status, 200);
  const events = JSON.stringify(await changes());
  t.match(events, /wim@example\.com/);
  t.notMatch(events, /whispered|argon2/);
  const refused = [
    await owner.post("/users", { email: "wim@example.com", password, full_name: "Wim" }),
    await owner.post("/users", { email: "no address", password, full_name: "Wim" }),
    await owner.post("/users", { email: "w2@example.com", password: "whisper", full_name: "Wim" }),
    await owner.send("POST", "/users", `email=w3@example.com&full_name=W&password=whispered&password=whispered`),
    await anonymous.post("/fetch_api_key", { username: "wim@example.com", password: "whispered?" }),
    await anonymous.get("/users/me", {}, basic("wim@example.com:whispered")),
  ];
  for (const { status, body } of refused) {
    t.ok(status >= 400);
    t.notMatch(JSON.stringify(body), /whisper/);
  }
});

t.test("[S2] no secret is printed or logged, at any level", async (t) => {
  // Words that every encoding leaves unchanged.
  const environment = { LOG_LEVEL: "trace", OWNER_PASSWORD: "ownersOwnPassword" };
  const { program, url, owner: first } = await startProgram(t, join(temporaryFolder(t), "data"), environment);
  const password = "aPasswordForTheLog";
  await first.post("/users", { email: "log@example.com", password, full_name: "Log" }, { "Idempotency-Key": "abc" });
  const nobody = new Client(url, null);
  const fetched = await nobody.post("/fetch_api_key", { username: "log@example.com", password });
  const key: string = fetched.body.api_key;
  t.equal(fetched.status, 200);
  t.equal((await nobody.get("/users/me", {}, basic(`log@example.com:${key}`))).status, 200);
  t.equal((await nobody.get("/users/me", {}, basic(`log@example.com:${key}x`))).status, 401);
  await nobody.post("/fetch_api_key", { username: "log@example.com", password: `${password}2` });
  const { code, stdout, stderr } = await program.end("SIGTERM");
  t.equal(code, 0);
  t.match(stderr, /stopping/, "the log is where the test reads it");
  const credentials = [first.authorization, basic(`log@example.com:${key}`)["Authorization"] ?? ""];
  for (const secret of [key, keyOf(first), password, environment.OWNER_PASSWORD, ...credentials]) {
    t.notOk((stdout + stderr).includes(secret.replace("Basic ", "")));
  }
});
