/**
 * The cost of a wrong key, password or signature reveals nothing about the right one (S2). No time is measured: the
 * tests check how the comparison is made.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { verifyKey } from "../../src/operations/identity/authentication.ts";
import { Passwords } from "../../src/operations/identity/passwords.ts";
import { checkout } from "../support/process.ts";
import { startTestServer } from "../support/server.ts";

t.test("[S2] a key is looked up once by its hash, however much of it is right", async (t) => {
  const server = await startTestServer(t);
  const { view } = server.realm;
  const { email, key } = server.owner.account ?? { email: "", key: "" };
  const hashes: string[] = [];
  const apiKey = view.apiKey.bind(view);
  view.apiKey = (hash) => {
    hashes.push(hash);
    return apiKey(hash);
  };
  const shown = ["", key.slice(0, 1), key.slice(0, -1), `${key.slice(0, -1)}!`, `${key}a`, key];
  for (const each of shown) verifyKey(view, email, each);
  view.apiKey = apiKey;
  t.strictSame(
    hashes,
    shown.map((each) => createHash("sha256").update(each).digest("hex")),
  );
  t.match(verifyKey(view, email, `${key.slice(0, -1)}!`), { code: "INVALID_API_KEY" });
  t.match(verifyKey(view, email, key), { caller: { id: server.owner.userId } });
});

/** CPU milliseconds of all threads of the process; waiting for a processor does not count. */
async function workOf(attempt: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < 5; count++) await attempt();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

t.test("[S2] an unknown email costs as much work as a wrong password", async (t) => {
  const passwords = new Passwords();
  const stored = await passwords.hash("the right one");
  t.equal(await passwords.verify(stored, "the right one"), true);
  // The first lookup of an unknown email creates the hash to compare with.
  t.equal(await passwords.verify(null, "a wrong one"), false);
  let [wrong, unknown] = [0, 0];
  // In turn, so that what else the machine does falls on both.
  for (let round = 0; round < 4; round++) {
    wrong += await workOf(() => passwords.verify(stored, "a wrong one"));
    unknown += await workOf(() => passwords.verify(null, "a wrong one"));
  }
  t.ok(unknown > wrong / 3 && unknown < wrong * 3, `${unknown} ms of work, ${wrong} for a wrong password`);
});

t.test("[S2] every source file that signs with HMAC compares with timingSafeEqual", async (t) => {
  const signing = ["src", "domain"]
    .flatMap((folder) =>
      readdirSync(join(checkout, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
    )
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(join(checkout, path), "utf8") }))
    .filter(({ text }) => text.includes("createHmac("));
  t.ok(signing.length > 0);
  for (const { path, text } of signing) {
    t.match(text, /\btimingSafeEqual\(/, path);
    t.notMatch(text, /\.(?:equals|compare|localeCompare)\(|\b(?:signature|shown|expected) [!=]== /, path);
  }
});
