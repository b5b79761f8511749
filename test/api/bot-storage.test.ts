/** Bot storage: PUT, GET and DELETE /bot_storage (D227). */
import { createHash } from "node:crypto";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { newUsers, oneOfEachKind } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const newUser = newUsers(server);
const missing = refusal("Key does not exist.");

const stored = (storage: Readonly<Record<string, string>>) => success({ storage });

async function storageOf(client: Client) {
  return outcome(await client.get("/bot_storage"));
}

t.test("[D227] a bot stores texts, reads some or all of them, replaces and removes them", async (t) => {
  const bot = await server.bot("keeper", server.owner);
  t.strictSame(await storageOf(bot), stored({}));
  await expects(t, bot.put("/bot_storage", { storage: { one: "1", two: "" } }), success());
  await expects(t, bot.put("/bot_storage", { storage: { one: "uno", three: "3" } }), success());
  t.strictSame(await storageOf(bot), stored({ one: "uno", two: "", three: "3" }));
  await expects(t, bot.get("/bot_storage", { keys: ["two", "one", "one"] }), stored({ two: "", one: "uno" }));
  t.strictSame(await outcome(await bot.get("/bot_storage", { keys: [] })), stored({ one: "uno", two: "", three: "3" }));
  await expects(t, bot.get("/bot_storage", { keys: ["one", "none"] }), missing);
  await expects(t, bot.delete("/bot_storage", { keys: ["one", "none"] }), missing, "all or nothing");
  await expects(t, bot.delete("/bot_storage", { keys: ["one", "one"] }), success());
  t.strictSame(await storageOf(bot), stored({ two: "", three: "3" }));
  await expects(t, bot.delete("/bot_storage"), success(), "without keys, everything");
  await expects(t, bot.delete("/bot_storage"), success(), "an empty list returns nothing");
  t.strictSame(await storageOf(bot), stored({}));
});

t.test("[S1] no other user can read or change a bot's storage, and no events are sent", async (t) => {
  const clients = await oneOfEachKind(server);
  const [first, second] = [await newUser(), await newUser()];
  const changes = await server.owner.watchChanges();
  for (const client of clients) {
    t.strictSame(await storageOf(client), stored({}), `${client.userId}`);
    await client.put("/bot_storage", { storage: { shared: `of ${client.userId}` } });
    t.strictSame(await storageOf(client), stored({ shared: `of ${client.userId}` }));
  }
  await first.put("/bot_storage", { storage: { key: "x" } });
  await expects(t, second.delete("/bot_storage", { keys: ["key"] }), missing);
  t.strictSame(await storageOf(first), stored({ key: "x" }));
  const found = (await changes()).filter((event) => (event as { type: string }).type !== "realm_user");
  t.strictSame(found, []);
});

t.test("[D227] input that is not a dict of strings or a list of strings is rejected", async (t) => {
  const bot = await newUser();
  const bad: readonly (readonly [unknown, string])[] = [
    [[], "storage is not a dict"],
    ["text", "storage is not valid JSON"],
    [{ key: 1 }, 'storage["key"] is not a string'],
    [{ key: null }, 'storage["key"] is not a string'],
  ];
  for (const [storage, msg] of bad) await expects(t, bot.put("/bot_storage", { storage }), msg);
  await expects(t, bot.get("/bot_storage", { keys: "one" }), "keys is not valid JSON");
  await expects(t, bot.delete("/bot_storage", { keys: [1] }), "keys[0] is not a string");
  t.equal((await bot.put("/bot_storage")).body.code, "REQUEST_VARIABLE_MISSING");
  t.strictSame(await storageOf(bot), stored({}));
});

t.test("[S3] keys may be any text of any length", async (t) => {
  const bot = await newUser();
  const keys = ["", "🍎".repeat(3000), "a\u0000b", "constructor", "x'\"%/"];
  const storage = Object.fromEntries(keys.map((key) => [key, `${key.length}`]));
  t.equal((await bot.put("/bot_storage", { storage })).status, 200);
  t.strictSame(await storageOf(bot), stored(storage));
  t.equal((await bot.send("PUT", "/bot_storage", 'storage={"__proto__":"x"}')).status, 200);
  const { body } = await bot.get("/bot_storage", { keys: ["__proto__"] });
  t.ok(Object.hasOwn(body.storage, "__proto__"));
  await expects(t, bot.delete("/bot_storage", { keys: ["__proto__", ...keys] }), success());
});

t.test("[S3] bot_storage_code_points_max counts keys and values together; one more is rejected", async (t) => {
  const bot = await newUser();
  const sumMax = limits.bot_storage_code_points_max;
  const part = "x".repeat(sumMax / 5 - 1);
  for (const key of ["a", "b", "c", "d"]) await bot.put("/bot_storage", { storage: { [key]: part } });
  const left = sumMax / 5 - 1;
  const over = refusal(`Request exceeds storage limit by 1 characters. The limit is ${sumMax} characters.`);
  const before = await storageOf(bot);
  const wide = (count: number) => "🍎".repeat(1000) + "x".repeat(count - 1000);
  await expects(t, bot.put("/bot_storage", { storage: { e: wide(left + 1) } }), over);
  t.strictSame(await storageOf(bot), before, "nothing is stored");
  await expects(t, bot.put("/bot_storage", { storage: { e: wide(left) } }), success());
  await expects(t, bot.put("/bot_storage", { storage: { f: "" } }), over);
  await expects(t, bot.put("/bot_storage", { storage: { e: "y".repeat(left) } }), success(), "replaced");
  await expects(t, bot.delete("/bot_storage", { keys: ["a"] }), success());
  await expects(t, bot.put("/bot_storage", { storage: { f: "" } }), success(), "there is room again");
});

t.test("[S3] bot_storage_entries_max: one more key is rejected", async (t) => {
  const bot = await newUser();
  const entriesMax = limits.bot_storage_entries_max;
  const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url");
  const names = Array.from({ length: entriesMax - 1 }, (_, index) => `k${index}`);
  server.writeMany(
    "botStorage",
    names.map((key) => [[bot.userId, hashOf(key)], { key, value: "" }] as const),
  );
  const codePoints = names.join("").length;
  server.writeMany("botStorageUse", [[bot.userId, { entries: names.length, codePoints }]]);
  await expects(t, bot.put("/bot_storage", { storage: { last: "x" } }), success());
  const full = refusal(`Request exceeds storage limit of ${entriesMax} keys.`);
  await expects(t, bot.put("/bot_storage", { storage: { more: "x" } }), full);
  t.equal(Object.keys((await bot.get("/bot_storage")).body.storage).length, entriesMax);
  t.equal((await bot.delete("/bot_storage")).status, 200);
  t.strictSame(await storageOf(bot), stored({}));
});

t.test("[D25] a repeat under its Idempotency-Key leaves later values", async (t) => {
  const bot = await newUser();
  const headers = { "Idempotency-Key": "once" };
  await bot.put("/bot_storage", { storage: { key: "first" } }, headers);
  await bot.put("/bot_storage", { storage: { key: "second" } });
  await expects(t, bot.put("/bot_storage", { storage: { key: "first" } }, headers), success());
  t.strictSame(await storageOf(bot), stored({ key: "second" }));
});
