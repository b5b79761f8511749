/**
 * API keys (behaviour 11, S2): regenerating, evicting and keeping them. Connections that a revoked key opened are
 * tested in realtime/key-end.
 */
import { randomBytes } from "node:crypto";
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import { makeBot } from "../support/bots.ts";
import { Client, expects, refusal } from "../support/client.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const invalidKey = refusal("Invalid API key", "INVALID_API_KEY", 401);

/** The same user with another key. */
function withKey(client: Client, key: string): Client {
  return new Client(client.url, { email: client.account?.email ?? "", key, userId: client.userId });
}

async function works(client: Client): Promise<boolean> {
  return (await client.get("/users/me")).status === 200;
}

/** Adds a key like POST /fetch_api_key, without the cost of a password hash. */
async function logIn(person: Client): Promise<Client> {
  const key = randomBytes(16).toString("hex");
  const { userId } = person;
  const added = command({ actor: "user", id: userId }, "user.api-key.add", { hash: hashApiKey(key) }, userId);
  t.equal((await server.realm.dispatcher.ask(added)).kind, "ok");
  return withKey(person, key);
}

t.test("[behaviour 11] regenerating returns a key that works and revokes all earlier keys at once", async (t) => {
  const person = await server.user("changer");
  const elsewhere = await logIn(person);
  const neighbour = await server.user("neighbour");
  const { status, body } = await person.post("/users/me/api_key/regenerate");
  t.equal(status, 200);
  t.strictSame(body, { result: "success", msg: "", api_key: body.api_key });
  t.match(body.api_key, /^[A-Za-z0-9]{32}$/);
  await expects(t, person.get("/users/me"), invalidKey);
  await expects(t, elsewhere.get("/users/me"), invalidKey);
  t.ok(await works(withKey(person, body.api_key)));
  t.ok(await works(neighbour), "the keys of other users stay valid");
});

t.test("[behaviour 11] all users and bots may regenerate their key, but not incoming webhook bots", async (t) => {
  for (const [name, role] of Object.entries(roles)) {
    const person = await server.user(`role ${name}`, role);
    const { body } = await person.post("/users/me/api_key/regenerate");
    t.ok(await works(withKey(person, body.api_key)), name);
  }
  const { bot } = await makeBot(owner, "self");
  const { body } = await bot.post("/users/me/api_key/regenerate");
  t.ok(await works(withKey(bot, body.api_key)));
  const { bot: writer } = await makeBot(owner, "writer", { bot_type: 2 });
  t.equal((await writer.post("/users/me/api_key/regenerate")).status, 401);
  t.equal((await owner.anonymous().post("/users/me/api_key/regenerate")).status, 401);
});

t.test("[S2] a new key is in no event, in no stored answer of an Idempotency-Key, nor in clear text", async (t) => {
  const person = await server.user("quiet");
  const changes = await owner.watchChanges();
  const key = { "Idempotency-Key": "again" };
  const first = (await person.post("/users/me/api_key/regenerate", {}, key)).body.api_key;
  const second = (await withKey(person, first).post("/users/me/api_key/regenerate", {}, key)).body.api_key;
  t.not(first, second);
  t.ok(await works(withKey(person, second)), "the repeat was executed");
  t.strictSame(await changes(), []);
  const { lmdb } = server.realm;
  const rows = lmdb.keys("idempotency", { start: [person.userId], end: [person.userId + 1], limit: 10 });
  t.strictSame(rows, []);
  t.match(lmdb.get("apiKeys", hashApiKey(second)), { userId: person.userId, isKept: true });
});

t.test("[M7] two concurrent regenerations leave one valid key: that of the later one", async (t) => {
  const person = await server.user("hasty");
  const both = await Promise.all([1, 2].map(() => person.post("/users/me/api_key/regenerate")));
  const good = both.filter(({ status }) => status === 200).map(({ body }) => withKey(person, body.api_key));
  const working = await Promise.all(good.map(works));
  t.equal(working.filter(Boolean).length, 1);
});

t.test("[S3] logins evict the key of the oldest login, never a key that the user may have written down", async (t) => {
  const first = await logIn(owner);
  for (let count = 2; count < limits.api_keys_per_user_max; count++) await logIn(owner);
  t.equal(server.realm.view.apiKeysOf(owner.userId).length, limits.api_keys_per_user_max);
  t.ok(await works(first), "the limit is reached");
  const last = await logIn(owner);
  t.notOk(await works(first), "the oldest login");
  t.ok(await works(owner), "the key in zuliprc is older and is kept");
  t.ok(await works(last));
  t.equal(server.realm.view.apiKeysOf(owner.userId).length, limits.api_keys_per_user_max);
  const person = await server.user("writer down");
  const { body } = await person.post("/users/me/api_key/regenerate");
  const kept = withKey(person, body.api_key);
  for (let count = 0; count < limits.api_keys_per_user_max + 1; count++) await logIn(person);
  t.ok(await works(kept), "so is a regenerated key");
});

t.test("[M1] a regenerated key survives a restart, and the old one stays revoked", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const { body } = await before.owner.post("/users/me/api_key/regenerate");
  await before.stop();
  const after = await startTestServer(t, { dataDir });
  const old = new Client(after.url, before.owner.account);
  await expects(t, old.get("/users/me"), invalidKey);
  t.ok(await works(withKey(old, body.api_key)));
});
