/**
 * new_password of PATCH /settings (spec 2.3; behaviour 2.1; S2): verified, strong enough, rate limited, safe against
 * concurrent changes.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";
import { settingsOf } from "../support/settings.ts";

const server = await startTestServer(t);
/** The password that `server.person` sets. */
const first = "correct horse battery";
const wrong = refusal("Wrong password!");

function change(client: Client, oldPassword: string | undefined, newPassword: string, more: Params = {}) {
  return client.patch("/settings", { old_password: oldPassword, new_password: newPassword, ...more });
}

/** Whether the user can log in with the password. */
async function opens(client: Client, password: string): Promise<boolean> {
  const { status } = await client.anonymous().post("/fetch_api_key", { username: client.account?.email, password });
  return status === 200;
}

t.test("[spec 2.3] the former password is verified and replaced by the new one; keys stay valid", async (t) => {
  const person = await server.person("Changer");
  for (const old of [undefined, "", "wrong", `${first} `])
    await expects(t, change(person, old, "a new password"), wrong);
  t.ok(await opens(person, first));
  await expects(t, change(person, first, "a new password", { color_scheme: 2 }), success());
  t.strictSame([await opens(person, first), await opens(person, "a new password")], [false, true]);
  t.equal((await settingsOf(person)).color_scheme, 2, "the existing key still works, and the other settings changed");
  await expects(t, change(person, first, "another password"), wrong, "the former one is invalid");
});

t.test("[behaviour 2.1] old_password alone does nothing, right or wrong", async (t) => {
  const person = await server.person("Half");
  for (const old of [first, "wrong"]) {
    await expects(t, person.patch("/settings", { old_password: old }), success());
  }
  t.ok(await opens(person, first));
});

t.test("[behaviour 2.1] a weak new password is reported only if the old one is right", async (t) => {
  const person = await server.person("Weak");
  const shortest = "🔑".repeat(limits.password_code_points_min);
  const tooShort = "🔑".repeat(limits.password_code_points_min - 1);
  await expects(t, change(person, "wrong", tooShort), wrong);
  for (const weak of ["", tooShort]) {
    await expects(t, change(person, first, weak), "New password is too weak!");
  }
  await expects(t, change(person, first, shortest), success());
  const longest = "p".repeat(limits.password_bytes_max);
  const tooLong = (name: string) => refusal(`${name} is too long (limit: ${limits.password_bytes_max} characters)`);
  await expects(t, change(person, shortest, `${longest}p`), tooLong("new_password"));
  await expects(t, change(person, `${longest}p`, longest), tooLong("old_password"));
  await expects(t, change(person, shortest, longest), success());
  t.ok(await opens(person, longest));
});

t.test("[spec 4.1] a wrong password is reported before an invalid name or email, and nothing changes", async (t) => {
  const person = await server.person("Ordered");
  const more = { full_name: "", email: "no address" };
  await expects(t, change(person, "wrong", "a new password", more), wrong);
  await expects(t, change(person, first, "a new password", { full_name: "" }), "Name too short!");
  t.ok(await opens(person, first), "an invalid name rejects the password, too");
});

t.test("[M7] of two changes verified against the same password, the later one does not win", async (t) => {
  const person = await server.person("Raced");
  const answers = await Promise.all(
    ["first new password", "second new password"].map((wanted) => change(person, first, wanted)),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400]);
  const winner = answers[0]?.status === 200 ? "first" : "second";
  const found = answers.map(outcome).find(({ status }) => status === 400);
  t.strictSame(found, wrong);
  t.ok(await opens(person, `${winner} new password`));
  const stale = { settings: {}, fullName: null, password: { formerHash: "of before", hash: "stolen" } };
  const request = command({ actor: "user", id: person.userId }, "user.change-settings", stale, person.userId);
  t.match(await server.realm.dispatcher.ask(request), { kind: "refused", msg: "Wrong password!" });
});

t.test("[D25] a repeated change of password under its Idempotency-Key gets the first answer", async (t) => {
  const person = await server.person("Repeater");
  const send = () =>
    person.patch("/settings", { old_password: first, new_password: "a new password" }, { "Idempotency-Key": "once" });
  for (let repeat = 0; repeat < 2; repeat++) await expects(t, send(), success());
  t.ok(await opens(person, "a new password"));
});

t.test("[D138] wrong passwords are limited per user, and the answer has the time to wait", async (t) => {
  const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
  const strict = await startTestServer(t, {
    clock,
    environment: { RATE_LIMITS: "login=2/60,api=1000/1,anonymous=1000/1" },
  });
  const [person, other] = [await strict.person("Guesser"), await strict.person("Other")];
  await expects(t, change(person, first, "a new password"), success(), "correct ones do not count");
  for (let guess = 0; guess < 2; guess++) await expects(t, change(person, "wrong", "yet another one"), wrong);
  const limited = refusal("You're making too many attempts! Try again in 30 seconds.");
  await expects(t, change(person, "wrong", "yet another one"), limited);
  await expects(t, change(person, "a new password", "yet another one"), limited, "a correct one has to wait, too");
  await expects(t, person.patch("/settings", { color_scheme: 2 }), success(), "other settings do not");
  await expects(t, change(other, first, "a new password"), success(), "nor do other users");
  clock.advance(30_000);
  await expects(t, change(person, "a new password", "yet another one"), success());
});

t.test("[S2] no password is in the store, in events or in answers stored for repeats", async (t) => {
  const person = await server.person("Secretive");
  const secrets = [first, "my very secret password"];
  const queue = await person.register({ fetch_event_types: [] });
  await person.patch("/settings", { old_password: secrets[0], new_password: secrets[1] }, { "Idempotency-Key": "s" });
  const { lmdb } = server.realm;
  const stored: unknown[] = [];
  for (const table of ["credentials", "events", "idempotency", "mailbox", "users"] as const) {
    lmdb.each(table, (row) => stored.push(row));
  }
  const { body } = await person.get("/events", { ...queue, dont_block: true });
  const text = JSON.stringify([stored, body]);
  t.notOk(secrets.some((secret) => text.includes(secret)));
  t.match(lmdb.get("credentials", person.userId)?.passwordHash, /^\$argon2id\$/);
});
