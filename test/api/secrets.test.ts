/**
 * Secrets on every path (S2): keys, passwords, links and tokens appear neither in the log, at any level, nor in the
 * output, nor in clear text in the data directory. Pages behind secret links have protective headers.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { uploaded } from "../support/attachments.ts";
import { makeBot } from "../support/bots.ts";
import { Client } from "../support/client.ts";
import { inviteLink, submit } from "../support/join.ts";
import { picture } from "../support/pictures.ts";
import { startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

/** The bytes of all files of the realms and the root, except emails in the outbox, which must contain links. */
function storeOf(dataDir: string): string {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === "data.mdb")
    .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name), "latin1"))
    .join("");
}

t.test("[S2] no secret is logged, printed or stored in clear text on any path", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  // Words that every encoding leaves unchanged.
  const ownerPassword = "theOwnersOwnPassword";
  const { program, url, owner } = await startProgram(t, dataDir, {
    LOG_LEVEL: "trace",
    OWNER_PASSWORD: ownerPassword,
    OWNER_EMAIL: "owner@example.com",
  });
  const [oldPassword, newPassword, wrongPassword] = [
    "thePasswordOfBefore",
    "thePasswordOfToday",
    "aPasswordThatIsNone",
  ];
  const nobody = new Client(url, null);
  await owner.post("/users", { email: "vera@example.com", password: oldPassword, full_name: "Vera" });
  const logIn = (password: string) => nobody.post("/fetch_api_key", { username: "vera@example.com", password });
  const first: string = (await logIn(oldPassword)).body.api_key;
  const vera = new Client(url, { email: "vera@example.com", key: first, userId: 0 });
  const keyed = { "Idempotency-Key": "change" };
  const changed = await vera.patch("/settings", { old_password: oldPassword, new_password: newPassword }, keyed);
  const second: string = (await logIn(newPassword)).body.api_key;
  t.strictSame([changed.status, (await logIn(wrongPassword)).status], [200, 401]);
  const regenerated: string = (await owner.post("/users/me/api_key/regenerate")).body.api_key;
  const again = new Client(url, { email: "owner@example.com", key: regenerated, userId: 2 });
  const { answer } = await makeBot(again, "hook", { bot_type: 3, payload_url: "http://127.0.0.1:9/" });
  const botKey: string = (await again.post(`/bots/${answer.body.user_id}/api_key/regenerate`)).body.api_key;
  const link = await inviteLink(again);
  const joinPassword = "thePasswordOfTheForm";
  const joined = await submit(link, { email: "new@example.com", password: joinPassword });
  t.equal(joined.status, 200);
  await nobody.get("/users/me", {}, { Authorization: `Basic ${btoa("vera@example.com:aKeyThatIsNoneAtAll")}` });
  await nobody.get("/users/me", { api_key: second });
  const socket = new Socket(url);
  await socket.opened();
  const account = { email: "vera@example.com", api_key: second };
  t.equal((await socket.ask({ type: "authenticate", ...account })).result, "success");
  const call = { type: "call", method: "POST", path: "/fetch_api_key" };
  const overSocket = { username: "vera@example.com", password: newPassword };
  const third: string = (await socket.ask({ ...call, params: overSocket })).api_key;
  await socket.ask({ ...call, params: { ...overSocket, password: wrongPassword } });
  socket.terminate();
  const { code, stdout, stderr } = await program.end("SIGTERM");
  t.equal(code, 0);
  t.match(stderr, /stopping/, "the log is where the test reads it");
  const passwords = { ownerPassword, oldPassword, newPassword, wrongPassword, joinPassword };
  const keys = {
    first,
    second,
    third,
    regenerated,
    botKey,
    of: answer.body.api_key,
    ownerKey: owner.account?.key ?? "",
  };
  const linkKey = link.split("/").filter(Boolean).at(-1) ?? "";
  const store = storeOf(dataDir);
  t.match(store, /vera@example\.com/, "the search covers the right bytes");
  for (const [name, secret] of Object.entries({ ...passwords, ...keys, linkKey, wrongKey: "aKeyThatIsNoneAtAll" })) {
    t.ok(secret.length > 8, name);
    t.notOk((stdout + stderr).includes(secret), `${name} is not logged`);
    // The list of invitations shows a link again, so its key is stored. It grants nothing but an invitation.
    if (name !== "linkKey") t.notOk(store.includes(secret), `${name} is not stored`);
  }
});

// test/web/serving.test.ts covers the page at /, which has scripts and a policy of its own.
t.test("[S2] every page has headers against scripts, sniffing, framing and referrers", async (t) => {
  const server = await startTestServer(t);
  const link = await inviteLink(server.owner);
  const { owner, url } = server;
  const file = await uploaded(owner, "<script>alert(1)</script>", '"a.html"');
  const temporary: string = (await owner.get(file.url)).body.url;
  const form = new FormData();
  form.set("file", new Blob([await picture("png", 20, 20)]), "me.png");
  const { authorization } = owner;
  const avatar = await fetch(`${url}/api/v1/users/me/avatar`, {
    method: "POST",
    body: form,
    headers: { authorization },
  });
  const { avatar_url: picturePath } = (await avatar.json()) as { avatar_url: string };
  const pages: readonly (readonly [address: string, status: number, method?: string, referrer?: string])[] = [
    // A page with a form must tell the server, and only it, which page it comes from (D203).
    [link, 200, "GET", "same-origin"],
    [`${url}/accounts/password/reset/`, 200, "GET", "same-origin"],
    [`${url}/accounts/password/reset/unknown`, 404],
    [`${link}x`, 404],
    [`${url}/accounts/confirm_new_email/unknown`, 404],
    [`${url}/avatar/2`, 302],
    [new URL(picturePath, url).href, 200],
    [`${url}/user_uploads/1/no/file.html`, 404],
    [url + file.url, 404],
    [url + temporary, 200],
    [`${url}/no/page`, 404],
    [`${url}/%zz`, 400],
    [`${url}/avatar/2`, 405, "PUT"],
    [link, 405, "DELETE"],
  ];
  for (const [address, status, method = "GET", referrer = "no-referrer"] of pages) {
    const { headers, status: answered } = await fetch(address, { redirect: "manual", method });
    t.equal(answered, status, address);
    t.equal(headers.get("x-content-type-options"), "nosniff", address);
    t.equal(headers.get("referrer-policy"), referrer, address);
    t.match(headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/, address);
    t.notMatch(headers.get("content-security-policy"), /unsafe-eval|script-src/, address);
  }
});
