/** Devices for push notifications: tokens, tests, and the errors without a push service (OpenAPI, mobile). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";
import { newUsers } from "../support/server-with-users.ts";

const { server, clock } = await startClockedServer(t);
const newUser = newUsers(server);
const done = success();
const badLength = refusal("Empty or invalid length token");
const absent = refusal("Token does not exist");
const notConfigured = refusal(
  "Server is not configured to use push notification service.",
  "PUSH_SERVICE_NOT_CONFIGURED",
);
const paths = { apns: "/users/me/apns_device_token", fcm: "/users/me/android_gcm_reg_id" } as const;
const params = { apns: { appid: "org.example.app" }, fcm: {} } as const;
const longest = "a".repeat(limits.push_token_characters_max);

function tokensOf(client: Client, on: TestServer = server) {
  const range = { start: [client.userId], end: [client.userId + 1], limit: 1000 };
  return on.realm.view
    .rows("pushTokens", range)
    .map(({ row }) => row.token)
    .sort();
}

for (const kind of ["apns", "fcm"] as const) {
  const add = (by: Client, token: string) => by.post(paths[kind], { token, ...params[kind] });
  const remove = (by: Client, token: string) => by.delete(paths[kind], { token });

  t.test(`${kind}: a token is stored once, for its user alone, and can be removed`, async (t) => {
    const [person, other] = [await newUser(), await newUser()];
    for (let count = 0; count < 2; count++) await expects(t, add(person, "abcd"), done);
    await expects(t, add(person, longest), done);
    await expects(t, add(other, "abcd"), done);
    t.strictSame(tokensOf(person), [longest, "abcd"].sort());
    await expects(t, remove(person, "abcd"), done);
    await expects(t, remove(person, "abcd"), absent);
    t.strictSame(tokensOf(other), ["abcd"]);
    for (const token of ["", `${longest}aaaa`]) {
      await expects(t, add(person, token), badLength);
      await expects(t, remove(person, token), badLength);
    }
    t.equal((await person.post(paths[kind], params[kind])).body.code, "REQUEST_VARIABLE_MISSING");
  });

  t.test(`[S3] push_tokens_per_user_max: one more evicts the oldest (${kind})`, async (t) => {
    const person = await newUser();
    const token = (index: number) => Buffer.from(String(index).padStart(6, "0")).toString("base64");
    for (let index = 0; index <= limits.push_tokens_per_user_max; index++) {
      await add(person, token(index));
      // Of two tokens of one millisecond, neither is the older one.
      clock.advance(1);
    }
    const kept = tokensOf(person);
    t.equal(kept.length, limits.push_tokens_per_user_max);
    t.notOk(kept.includes(token(0)));
    t.ok(kept.includes(token(limits.push_tokens_per_user_max)));
  });
}

t.test("a token that is not base64 is rejected", async (t) => {
  const person = await newUser();
  for (const token of ["abc", "a b=", "äöüß", "===="]) {
    await expects(t, person.post(paths.apns, { token, ...params.apns }), "Invalid APNS token");
  }
  t.equal((await person.post(paths.apns, { token: "abcd" })).body.code, "REQUEST_VARIABLE_MISSING", "appid");
});

t.test("bots cannot register devices", async (t) => {
  const bot = await server.bot("phoneless", server.owner);
  const noBots = refusal("This endpoint does not accept bot requests.");
  await expects(t, bot.post(paths.fcm, { token: "abcd" }), noBots);
  await expects(t, bot.post("/register_client_device"), noBots);
});

t.test("without a push service a registered device gets an error", async (t) => {
  const person = await newUser();
  const path = "/mobile_push/test_notification";
  await expects(t, person.post(path), done, "to no device");
  const unknown = refusal("Device not recognized", "INVALID_PUSH_DEVICE_TOKEN");
  await expects(t, person.post(path, { token: "abcd" }), unknown);
  await person.post(paths.fcm, { token: "abcd" });
  await expects(t, person.post(path, { token: "abcd" }), notConfigured);
  await expects(t, person.post(path), notConfigured);
  await expects(t, (await newUser()).post(path, { token: "abcd" }), unknown, "[S1] a token of another user");
});

t.test("registering a device for encrypted notifications is rejected", async (t) => {
  const person = await newUser();
  const device = {
    token_kind: "fcm",
    push_account_id: 1111,
    push_public_key: "key",
    bouncer_public_key: "key",
    encrypted_push_registration: "text",
  };
  await expects(t, person.post("/mobile_push/register", device), notConfigured);
  t.equal((await person.post("/mobile_push/register", { ...device, token_kind: "x" })).body.code, "BAD_REQUEST");
  await expects(
    t,
    person.post("/mobile_push/e2ee/test_notification", { push_account_id: 1111 }),
    refusal("No active registered push device", "NO_ACTIVE_PUSH_DEVICE"),
  );
});

t.test("each device gets an id; beyond the limit the oldest is evicted", async (t) => {
  const [person, other] = [await newUser(), await newUser()];
  const register = async (by: Client) => (await by.post("/register_client_device")).body.device_id as number;
  const [first, second] = [await register(person), await register(person)];
  t.ok(second > first);
  const missing = refusal("Device does not exist");
  await expects(t, other.post("/remove_client_device", { device_id: first }), missing, "[S1]");
  for (let count = 2; count < limits.devices_per_user_max; count++) await register(person);
  await expects(t, person.post("/remove_client_device", { device_id: first }), done, "kept at the limit");
  await register(person);
  await register(person);
  await expects(t, person.post("/remove_client_device", { device_id: second }), missing, "and made room");
});

t.test("[M1, D25] tokens and devices survive a restart, and a repeat registers no second device", async (t) => {
  const before = await startTestServer(t, { dataDir: temporaryFolder(t) });
  const person = await before.user("person");
  await person.post(paths.fcm, { token: "abcd" });
  const headers = { "Idempotency-Key": "one device" };
  const made = await person.post("/register_client_device", {}, headers);
  await expects(t, person.post("/register_client_device", {}, headers), outcome(made));
  const after = await restart(t, before);
  t.strictSame(tokensOf(person, after.server), ["abcd"]);
  await expects(t, after.as(person).post("/remove_client_device", made.body), {
    ...done,
    body: { ...done.body, ignored_parameters_unsupported: ["msg", "result"] },
  });
});
