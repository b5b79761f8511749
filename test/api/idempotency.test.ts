/**
 * Idempotency-Key (D25): a repeated request is executed once and gets the first answer, also after a restart; which
 * answers are stored, and the limits. HTTP requests and the socket's `call` frames share the keys.
 */
import { createHash } from "node:crypto";
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;
const otherParameters = refusal("This Idempotency-Key was used for a request with other parameters");

function post(client: Client, key: string, content = "once", more: Params = {}) {
  const params = { type: "direct", to: [client.userId], content, ...more };
  return client.post("/messages", params, { "Idempotency-Key": key });
}

function hashed(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

t.test("[D25] a repeated key gets the first answer, and one message is stored", async (t) => {
  const changes = await owner.watchChanges();
  const first = await post(owner, "k1");
  t.strictSame(outcome(first), success({ id: first.body.id }));
  for (let repeat = 0; repeat < 3; repeat++) await expects(t, post(owner, "k1"), outcome(first));
  t.equal((await changes()).length, 1);
  const another = await post(owner, "k2");
  t.not(another.body.id, first.body.id, "another key is another request");
});

t.test("[D25] a repeat gets the first answer even if the same request would be rejected now", async (t) => {
  const ann = await server.user("lateann");
  const channel = await owner.createChannel("soon renamed", [ann, owner]);
  const headers = { "Idempotency-Key": "late" };
  const params = { type: "channel", to: "soon renamed", topic: "t", content: "once" };
  const send = () => ann.post("/messages", params, headers);
  const first = await send();
  t.equal(first.status, 200);
  t.equal((await owner.patch(`/streams/${channel}`, { new_name: "renamed" })).status, 200);
  await expects(t, send(), outcome(first), "no channel has this name any more");
  await expects(t, ann.post("/messages", { ...params, content: "other" }, headers), otherParameters);
  // Counts every email ever queued: the row of one is removed as soon as its file is written.
  const mails = () => server.realm.view.counter("mail");
  const before = mails();
  await owner.patch("/settings", { email: "elsewhere@example.com" }, { "Idempotency-Key": "address" });
  t.equal(mails(), before + 1);
  await owner.patch("/settings", { email: "elsewhere@example.com" }, { "Idempotency-Key": "address" });
  t.equal(mails(), before + 1, "no second mail is sent");
});

t.test("[D25] without a key, or with an empty one, each request is executed", async (t) => {
  const ids = [
    (await owner.post("/messages", { type: "direct", to: [2], content: "x" })).body.id,
    (await post(owner, "")).body.id,
    (await post(owner, "")).body.id,
  ];
  t.equal(new Set(ids).size, 3);
});

t.test("[D25] the same key with other parameters or for another operation is rejected", async (t) => {
  const first = await post(owner, "changed");
  const changes = await owner.watchChanges();
  await expects(t, post(owner, "changed", "twice"), otherParameters);
  await expects(t, post(owner, "changed", "once", { local_id: "1" }), otherParameters);
  const made = await owner.post(
    "/channels/create",
    { name: "keyed", subscribers: [] },
    { "Idempotency-Key": "changed" },
  );
  t.strictSame(outcome(made), otherParameters);
  t.strictSame(await changes(), []);
  await expects(t, post(owner, "changed"), outcome(first), "the first answer is unchanged");
});

t.test("[D25] parameters are compared by value, not by spelling", async (t) => {
  const headers = { "Idempotency-Key": "spelling" };
  const first = await owner.send("POST", "/messages", "type=direct&to=[2]&content=a b", headers);
  const again = await owner.send("POST", "/messages", "content=a+b&to=%5B%202%20%5D&type=direct", headers);
  t.strictSame(outcome(again), outcome(first));
});

t.test("[D25] concurrent repeats wait for the first request and get its answer", async (t) => {
  const changes = await owner.watchChanges();
  const answers = await Promise.all(Array.from({ length: 16 }, () => post(owner, "together")));
  t.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  t.ok(answers.every(({ status }) => status === 200));
  t.equal((await changes()).length, 1);
  const account = { email: "slow@example.com", password: "12345678", full_name: "Slow" };
  const made = await Promise.all(
    Array.from({ length: 3 }, () => owner.post("/users", account, { "Idempotency-Key": "slow" })),
  );
  t.strictSame(
    made.map(outcome),
    [0, 1, 2].map(() => success({ user_id: made[0]?.body.user_id })),
    "although each hashed its password",
  );
});

t.test("[D25] of two concurrent requests with one key and different parameters, one is rejected", async (t) => {
  const answers = await Promise.all([post(owner, "rivals", "a"), post(owner, "rivals", "b")]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400]);
  t.strictSame(answers.filter(({ status }) => status === 400).map(outcome), [otherParameters]);
});

t.test("[S3] idempotency_waiters_max: if so many repeats wait, one more is rejected with OVERLOADED", async (t) => {
  const params = { email: "crowded@example.com", fullName: "C", passwordHash: "", role: roles.member };
  const request: Command = command({ actor: "realm" }, "user.create", params, owner.userId);
  const idempotencyKey = { userId: owner.userId, keyHash: hashed("crowded"), paramsHash: hashed("same") };
  const { dispatcher } = server.realm;
  // All requests are sent in one pass of the event loop, so the others arrive while the first one runs.
  const results = await Promise.all(
    Array.from({ length: limits.idempotency_waiters_max + 2 }, () => dispatcher.ask(request, idempotencyKey)),
  );
  const over = results.pop();
  t.match(over, { kind: "refused", code: "OVERLOADED" });
  t.ok(results.every((result) => result.kind === "ok"));
});

t.test("[D25] keys belong to a user: another user's keys are unknown", async (t) => {
  const [ann, ben] = [await server.user("ann"), await server.user("ben")];
  const send = (client: Client) =>
    client.post("/messages", { type: "direct", to: [2], content: "x" }, { "Idempotency-Key": "shared" });
  const [first, second] = [await send(ann), await send(ben)];
  t.not(first.body.id, second.body.id);
  t.equal((await send(ann)).body.id, first.body.id);
  t.equal((await send(ben)).body.id, second.body.id);
});

t.test("[D25] a rejection by the actor is stored, even if the request would succeed now", async (t) => {
  const remove = (key: string) => owner.delete(`/users/${owner.userId}`, {}, { "Idempotency-Key": key });
  const onlyOwner = refusal("Cannot deactivate the only organization owner");
  await expects(t, remove("resign"), onlyOwner);
  const second = await server.user("second", roles.owner);
  await expects(t, remove("resign"), onlyOwner, "the same request gets the same answer");
  const demoted = await second.delete(`/users/${second.userId}`, {}, { "Idempotency-Key": "resign" });
  t.strictSame(outcome(demoted), success(), "a key of the other owner");
});

t.test("[D25] a rejection before the decision is not stored, so the corrected request may use the key", async (t) => {
  const headers = { "Idempotency-Key": "corrected" };
  const missing = await owner.post("/messages", { type: "direct", to: [2] }, headers);
  t.equal(missing.body.code, "REQUEST_VARIABLE_MISSING");
  t.equal((await owner.post("/messages", { type: "direct", to: [2], content: "x" }, headers)).status, 200);
});

t.test("[D25] a 429 is not stored: after the wait, the repeat is executed", async (t) => {
  const { server: limited, clock } = await startClockedServer(t, { environment: { RATE_LIMITS: "api=1/60" } });
  t.equal((await limited.owner.get("/users/me")).status, 200);
  t.equal((await post(limited.owner, "patient")).status, 429);
  clock.advance(60_000);
  t.equal((await post(limited.owner, "patient")).status, 200);
});

t.test("[D25, M5] a 503 is not stored, but stored answers are returned even while writes are rejected", async (t) => {
  const dataDir = temporaryFolder(t);
  const roomy = await startTestServer(t, { dataDir });
  const first = await post(roomy.owner, "before");
  await roomy.stop();
  const full = await startTestServer(t, {
    dataDir,
    environment: { STORE_FREE_BYTES_MIN: String(Number.MAX_SAFE_INTEGER) },
  });
  const refused = await post(full.owner, "during");
  t.match(outcome(refused), { status: 503, body: { result: "error", code: "STORE_REFUSES_WRITES" } });
  await expects(t, post(full.owner, "before"), outcome(first));
  await full.stop();
  const again = await startTestServer(t, { dataDir });
  const sent = await post(again.owner, "during");
  t.strictSame(outcome(sent), success({ id: first.body.id + 1 }), "executed now, for the first time");
});

t.test("[D25] the first answer survives a restart on the same data directory", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const first = await post(before.owner, "durable");
  const taken = { email: "owner@localhost", password: "12345678", full_name: "X" };
  const refused = await before.owner.post("/users", taken, { "Idempotency-Key": "refused" });
  t.equal(refused.status, 400);
  await before.stop();
  const after = await startTestServer(t, { dataDir });
  await expects(t, post(after.owner, "durable"), outcome(first));
  await expects(t, post(after.owner, "durable", "other"), otherParameters);
  await expects(t, after.owner.post("/users", taken, { "Idempotency-Key": "refused" }), outcome(refused));
  t.equal((await after.owner.get("/users/me")).body.max_message_id, first.body.id, "there is no second message");
});

t.test("[D25] idempotency_kept_ms: within 24 h a key means the same request, later a new one", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const first = await post(clocked.owner, "yesterday");
  clock.stride(limits.idempotency_kept_ms);
  t.equal((await post(clocked.owner, "yesterday")).body.id, first.body.id);
  clock.advance(1);
  const second = await post(clocked.owner, "yesterday", "with other words");
  t.equal(second.body.id, first.body.id + 1);
  await expects(t, post(clocked.owner, "yesterday"), otherParameters, "the key belongs to the new request now");
});

t.test("[S3] idempotency_keys_per_user_max: one more evicts the oldest key", async (t) => {
  const person = await server.user("busy");
  const { lmdb, view } = server.realm;
  const paramsHash = hashed(JSON.stringify(["send-message", { type: "direct", to: [person.userId], content: "once" }]));
  const body = JSON.stringify({ kind: "ok", answer: { id: 12_345 } });
  lmdb.transaction(() => {
    for (let index = 0; index < limits.idempotency_keys_per_user_max; index++) {
      const keyHash = hashed(`old${index}`);
      const at = view.now - limits.idempotency_keys_per_user_max + index;
      lmdb.put("idempotency", [person.userId, keyHash], { paramsHash, status: 200, body, at });
      lmdb.put("idempotencyAges", [person.userId, at, keyHash], { bytes: body.length });
    }
  });
  t.equal((await post(person, "old0")).body.id, 12_345, "the limit is reached");
  const added = await post(person, "new");
  t.equal((await post(person, "new")).body.id, added.body.id);
  t.equal((await post(person, "old1")).body.id, 12_345);
  t.not((await post(person, "old0")).body.id, 12_345, "the oldest request is executed again");
  t.ok(
    lmdb.keys("idempotencyAges", { start: [person.userId], end: [person.userId + 1], limit: 20_000 }).length <=
      limits.idempotency_keys_per_user_max,
  );
});

t.test("[S3] idempotency_key_bytes_max: a longer key is rejected", async (t) => {
  const longest = "k".repeat(limits.idempotency_key_bytes_max);
  const first = await post(owner, longest);
  t.equal((await post(owner, longest)).body.id, first.body.id);
  const changes = await owner.watchChanges();
  const over = await post(owner, `${longest}k`);
  t.strictSame(outcome(over), refusal(`Idempotency-Key must have 1 to ${limits.idempotency_key_bytes_max} characters`));
  t.strictSame(await changes(), []);
});

t.test("[D25] operations that change nothing durable ignore the key", async (t) => {
  const headers = { "Idempotency-Key": "volatile" };
  const queues = [
    await owner.post("/register", { fetch_event_types: [] }, headers),
    await owner.post("/register", { fetch_event_types: [] }, headers),
  ];
  t.not(queues[0]?.body.queue_id, queues[1]?.body.queue_id, "register");
  for (const status of ["active", "idle"]) {
    t.equal((await owner.post("/users/me/presence", { status }, headers)).status, 200, "presence");
  }
  for (const op of ["start", "stop"]) {
    const typing = await owner.post("/typing", { type: "direct", op, to: [2] }, headers);
    t.equal(typing.status, 200, "typing");
  }
  t.equal((await owner.get("/users/me", {}, { "Idempotency-Key": "k".repeat(1000) })).status, 200, "reads");
});

t.test("[D70] a repeated topic deletion deletes again instead of returning a stored answer", async (t) => {
  const headers = { "Idempotency-Key": "deletion" };
  const remove = () => owner.post("/streams/1/delete_topic", { topic_name: "short-lived" }, headers);
  await owner.say("general", "short-lived", "one");
  await expects(t, remove(), success({ complete: true }));
  const later = await owner.say("general", "short-lived", "two");
  await expects(t, remove(), success({ complete: true }));
  t.equal((await owner.get(`/messages/${later}`)).status, 400, "the second message is deleted, too");
});

t.test("answers that contain keys are not stored: each POST /fetch_api_key creates another key", async (t) => {
  await server.person("Keyed");
  const params = { username: "keyed@example.com", password: "correct horse battery" };
  const fetchKey = () => owner.anonymous().post("/fetch_api_key", params, { "Idempotency-Key": "fetch" });
  t.not((await fetchKey()).body.api_key, (await fetchKey()).body.api_key);
});

t.test("[D25] a call on a socket and an HTTP request with one key are the same request", async (t) => {
  const socket = new Socket(server.url, { as: owner });
  await socket.opened();
  const first = await post(owner, "both ways");
  const params = { type: "direct", to: [2], content: "once" };
  const call = { type: "call", method: "POST", path: "/messages", params, idempotency_key: "both ways" };
  t.match(await socket.ask(call), { result: "success", id: first.body.id });
  t.match(await socket.ask({ ...call, params: { ...params, content: "other" } }), otherParameters.body);
  socket.close();
  await socket.closed;
});

t.test("[S2] a password is not part of the stored parameter hash, which is fast", async (t) => {
  const account = { email: "hashed@example.com", password: "eight or more", full_name: "Hashed" };
  const { status } = await owner.post("/users", account, { "Idempotency-Key": "with a password" });
  t.equal(status, 200);
  const row = server.realm.lmdb.get("idempotency", [owner.userId, hashed("with a password")]);
  t.ok(row !== undefined, "it is remembered");
  const guessable = hashed(JSON.stringify(["create-user", account]));
  t.not(row?.paramsHash, guessable);
  t.notMatch(JSON.stringify(row), /eight or more/);
});
