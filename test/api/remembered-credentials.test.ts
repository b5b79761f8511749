/**
 * Verified credentials are remembered by their Authorization header (S2): each change after which they are invalid, or
 * say something else of their user, counts at the next request. One bound (S3), and both transports (TRANSPORT).
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { RememberedCredentials } from "../../src/edge/http/credentials.ts";
import { makeBot } from "../support/bots.ts";
import { Client, expects, refusal } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const environments = [{}, { TRANSPORT: "node" }] as const;
const invalidKey = refusal("Invalid API key", "INVALID_API_KEY", 401);
const deactivated = refusal("Account is deactivated", "USER_DEACTIVATED", 401);

/** Requests twice, so that the second one finds the credentials remembered. */
async function remember(t: Test, client: Client): Promise<void> {
  for (const _ of [1, 2]) t.equal((await client.get("/users/me")).status, 200);
}

for (const environment of environments) {
  t.test(`by the transport ${JSON.stringify(environment)}`, async (t) => {
    const server = await startTestServer(t, { environment });
    const { owner } = server;

    t.test("[S2] a revoked key stops working at once although it was remembered", async (t) => {
      const person = await server.user("rotating");
      await remember(t, person);
      const { body } = await person.post("/users/me/api_key/regenerate");
      await expects(t, person.get("/users/me"), invalidKey);
      await expects(t, person.get("/users/me"), invalidKey);
      const renewed = new Client(person.url, { ...identity(person), key: body.api_key });
      await remember(t, renewed);
    });

    t.test("[S2, D274] a deactivation counts at once, a reactivation revokes a remembered key", async (t) => {
      const person = await server.user("leaving");
      await remember(t, person);
      t.equal((await owner.delete(`/users/${person.userId}`)).status, 200);
      for (const _ of [1, 2]) await expects(t, person.get("/users/me"), deactivated);
      t.equal((await owner.post(`/users/${person.userId}/reactivate`)).status, 200);
      for (const _ of [1, 2]) await expects(t, person.get("/users/me"), invalidKey);
    });

    t.test("[S1] a new role counts at once, up and down", async (t) => {
      const person = await server.user("climbing");
      await remember(t, person);
      const mayRename = async () => (await person.patch("/realm", { description: `by ${person.userId}` })).status;
      t.equal(await mayRename(), 400);
      t.equal((await owner.patch(`/users/${person.userId}`, { role: roles.administrator })).status, 200);
      t.equal((await person.get("/users/me")).body.is_admin, true);
      t.equal(await mayRename(), 200);
      t.equal((await owner.patch(`/users/${person.userId}`, { role: roles.guest })).status, 200);
      t.match((await person.get("/users/me")).body, { is_admin: false, is_guest: true });
      t.equal(await mayRename(), 400);
    });

    t.test("[S2] a bot's new owner and a new key count at once", async (t) => {
      const { bot } = await makeBot(owner, "handed");
      const id = bot.userId;
      const other = await server.user("other owner", roles.administrator);
      await remember(t, bot);
      t.equal((await owner.patch(`/bots/${id}`, { bot_owner_id: other.userId })).status, 200);
      t.equal((await bot.get("/users/me")).body.bot_owner_id, other.userId);
      t.equal((await other.post(`/bots/${id}/api_key/regenerate`)).status, 200);
      await expects(t, bot.get("/users/me"), invalidKey);
    });

    t.test("[D28] a wrong key is counted, also when the right one is remembered", async (t) => {
      const limited = await startTestServer(t, { environment: { ...environment, RATE_LIMITS: "login=2/3600" } });
      await remember(t, limited.owner);
      const guess = new Client(limited.url, { ...identity(limited.owner), key: "a".repeat(32) });
      const statuses = [];
      for (let count = 0; count < 4; count++) statuses.push((await guess.get("/users/me")).status);
      t.strictSame(statuses, [401, 401, 429, 429]);
      await remember(t, limited.owner);
    });

    t.test("[S1] a deactivated organization rejects remembered credentials", async (t) => {
      const closing = await startTestServer(t, { environment });
      await remember(t, closing.owner);
      t.equal((await closing.owner.post("/realm/deactivate")).status, 200);
      t.match((await closing.owner.get("/users/me")).body, { code: "REALM_DEACTIVATED" });
    });
  });
}

function identity({ account, userId }: Client) {
  return { email: account?.email ?? "", key: account?.key ?? "", userId };
}

t.test("[S3] remembered headers are bounded in bytes over all organizations; the oldest used goes", async (t) => {
  const server = await startTestServer(t);
  const { view } = server.realm;
  const header = server.owner.authorization;
  // Spaces before the credentials do not count (RFC 9110), so there are many headers with the same credentials.
  const spaced = (count: number) => header.replace(" ", " ".repeat(count));
  const each = header.length + 4 + limits.credentials_remembered_overhead_bytes;
  const remembered = new RememberedCredentials(3 * each);
  for (const count of [1, 2, 3]) remembered.authenticate(view, spaced(count));
  t.equal(remembered.count, 3);
  remembered.authenticate(view, spaced(1));
  remembered.authenticate(view, spaced(4));
  t.equal(remembered.count, 3);
  t.match(remembered.authenticate(view, spaced(2)), { caller: { id: server.owner.userId } });
  t.equal(remembered.count, 3);
  remembered.authenticate(view, "Basic nonsense");
  t.equal(remembered.count, 3, "invalid credentials are not remembered");
});

t.test("[S1] an organization does not accept what another one remembers", async (t) => {
  const [one, other] = [await startTestServer(t), await startTestServer(t)];
  const remembered = new RememberedCredentials();
  const { authorization } = one.owner;
  t.match(remembered.authenticate(one.realm.view, authorization), { caller: {} });
  t.match(remembered.authenticate(other.realm.view, authorization), { code: "INVALID_API_KEY" });
  t.equal(remembered.count, 0, "what counts nowhere is dropped");
});
