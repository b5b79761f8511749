/**
 * Access to uploaded files (D179, S1, D24): a user can fetch a file while they can read a message that links to it. A
 * temporary URL gives anybody access for a minute.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { fetchFile, linkTo, uploaded } from "../support/attachments.ts";
import { outcome, refusal, success } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { fetchPage } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const clock = new ManualClock(Date.parse("2026-03-01T10:00:00Z"));
const server = await startTestServer(t, { clock });
const { owner } = server;
const [ada, bob, eve] = [await server.user("ada"), await server.user("bob"), await server.user("eve")];
const guest = await server.user("guest", roles.guest);
const nobody = owner.anonymous();
const readers = { ada, bob, eve, guest, nobody } as const;
const notThere = refusal("File not found", "NOT_FOUND", 404);

/**
 * Checks which users can fetch the file, directly and by temporary URL. All others get the answer for a file that does
 * not exist.
 */
async function seenBy(t: Test, url: string, expected: readonly (keyof typeof readers)[], when: string): Promise<void> {
  for (const [name, client] of Object.entries(readers)) {
    const page = await fetchFile(client, url);
    const answer = await client.get(url);
    if (expected.includes(name as keyof typeof readers)) {
      t.equal(page.status, 200, `${when}: ${name}`);
      t.equal(answer.status, 200, `${when}: ${name}, temporary URL`);
    } else {
      t.strictSame({ status: page.status, body: JSON.parse(page.bytes.toString()) }, notThere, `${when}: not ${name}`);
      t.strictSame(outcome(answer), notThere, `${when}: not ${name}, temporary URL`);
    }
  }
}

t.test("[D179] public channel: members may fetch the file, guests while subscribed, spectators never", async (t) => {
  await owner.createChannel("open", [ada]);
  const { url } = await uploaded(ada, "public");
  await seenBy(t, url, ["ada"], "before");
  const id = await ada.say("open", "files", `see ${url} [f](${url})`);
  await seenBy(t, url, ["ada", "bob", "eve"], "after");
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "open" }], principals: [guest.userId] });
  await seenBy(t, url, ["ada", "bob", "eve", "guest"], "the guest joined");
  await guest.delete("/users/me/subscriptions", { subscriptions: ["open"] });
  await seenBy(t, url, ["ada", "bob", "eve"], "the guest left");
  await owner.delete(`/messages/${id}`);
  await seenBy(t, url, ["ada"], "the message is deleted");
});

t.test("[D179] private channel: access follows the message through moves and subscription changes", async (t) => {
  const secret = await owner.createChannel("secret", [owner, ada, bob], {
    invite_only: true,
    history_public_to_subscribers: true,
  });
  const open = await owner.createChannel("plaza", [owner, ada]);
  const file = await uploaded(ada, "private");
  const id = await ada.say("secret", "files", linkTo(file));
  await seenBy(t, file.url, ["ada", "bob"], "in the private channel");
  t.equal((await owner.patch(`/messages/${id}`, { stream_id: open })).status, 200);
  await seenBy(t, file.url, ["ada", "bob", "eve"], "moved to a public one");
  t.equal((await owner.patch(`/messages/${id}`, { stream_id: secret })).status, 200);
  await seenBy(t, file.url, ["ada", "bob"], "moved back");
  await bob.delete("/users/me/subscriptions", { subscriptions: ["secret"] });
  await seenBy(t, file.url, ["ada"], "bob left");
});

t.test("[D179] protected history: a user who subscribed after the message cannot fetch its file", async (t) => {
  await owner.createChannel("guarded", [owner, ada], { invite_only: true, history_public_to_subscribers: false });
  const file = await uploaded(ada, "old");
  await ada.say("guarded", "files", linkTo(file));
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "guarded" }], principals: [bob.userId] });
  await seenBy(t, file.url, ["ada"], "bob subscribed after the message");
  await ada.say("guarded", "files", linkTo(file));
  await seenBy(t, file.url, ["ada", "bob"], "bob receives a new link");
});

t.test("[D179] direct message: its participants can fetch the file, a guest among them", async (t) => {
  const file = await uploaded(ada, "direct");
  await ada.post("/messages", { type: "direct", to: [bob.userId], content: linkTo(file) });
  await seenBy(t, file.url, ["ada", "bob"], "to bob");
  await bob.post("/messages", { type: "direct", to: [ada.userId, guest.userId], content: linkTo(file) });
  await seenBy(t, file.url, ["ada", "bob", "guest"], "passed on");
});

t.test("[D27] web-public channel: anonymous callers can fetch the file while spectator access is on", async (t) => {
  server.setRealm({ enable_spectator_access: true });
  const id = await owner.createChannel("window", [owner, ada]);
  const channel = server.realm.view.channels.get(id);
  if (channel === undefined) throw new Error("no channel");
  const file = await uploaded(ada, "web");
  await ada.say("window", "files", linkTo(file));
  await seenBy(t, file.url, ["ada", "bob", "eve"], "public");
  server.write("channels", id, { ...channel, isWebPublic: true });
  await seenBy(t, file.url, ["ada", "bob", "eve", "guest", "nobody"], "web-public");
  server.setRealm({ enable_spectator_access: false });
  await seenBy(t, file.url, ["ada", "bob", "eve", "guest"], "without spectators");
});

t.test("[S3] attachment_messages_per_pass_max: many unreadable messages do not hide the readable one", async (t) => {
  await owner.createChannel("crowded", [ada, bob], { invite_only: true });
  const file = await uploaded(ada, "many");
  await ada.say("crowded", "files", linkTo(file));
  const { attachments } = (await ada.get("/attachments")).body;
  const { id } = attachments.at(-1);
  const hidden = limits.attachment_messages_per_pass_max + 1;
  // Links in messages that nobody can read are newer than the one that bob can read.
  const { lmdb } = server.realm;
  lmdb.transaction(() => {
    for (let above = 0; above < hidden; above++) lmdb.put("attachmentMessages", [id, 1_000_000 + above], {});
  });
  await seenBy(t, file.url, ["ada", "bob"], "behind a thousand");
});

t.test("a temporary URL gives anybody access to one file for a minute; a modified URL gives none", async (t) => {
  const [file, other] = [await uploaded(ada, "for a minute"), await uploaded(ada, "another")];
  const { body } = await ada.get(file.url);
  t.strictSame(body, success({ url: body.url }).body);
  t.match(body.url, /^\/user_uploads\/temporary\/[^/]+\/notes\.txt$/);
  const get = (url: string) => fetchPage(server.url, url);
  t.equal((await get(body.url)).bytes.toString(), "for a minute");
  const [, id = "", until = "", signature = ""] = /temporary\/(\d+)-(\d+)-([^/]+)\//.exec(body.url) ?? [];
  const forged = [
    `${Number(id) + 1}-${until}-${signature}`,
    `${id}-${Number(until) + 1}-${signature}`,
    `${id}-${until}-${signature.replace(/^./, (first: string) => (first === "A" ? "B" : "A"))}`,
    `${id}-${until}-`,
    `${id}-${until}`,
  ];
  for (const token of forged) t.equal((await get(`/user_uploads/temporary/${token}/notes.txt`)).status, 404, token);
  clock.advance(limits.temporary_url_ms);
  t.equal((await get(body.url)).status, 200, "[S3] temporary_url_ms");
  clock.advance(1);
  t.equal((await get(body.url)).status, 404, "one millisecond too late");
  const late = (await ada.get(other.url)).body.url;
  const attachment = (await ada.get("/attachments")).body.attachments.at(-1);
  await ada.delete(`/attachments/${attachment.id}`);
  t.equal((await get(late)).status, 404, "a deleted file");
});

t.test("[S1] almost correct URLs and URLs of another organization get the answer for a missing file", async (t) => {
  const { url } = await uploaded(owner, "mine", '"a.txt"');
  const wrong = [
    url.replace("/1/", "/2/"),
    url.replace("a.txt", "b.txt"),
    url.replace("a.txt", ""),
    `${url}/x`,
    url.replace("a.txt", "..%2fa.txt"),
    "/user_uploads/",
    "/user_uploads/temporary/",
    "/user_uploads/thumbnail/1/x.png/840x560.webp",
    "/user_uploads/1/__/__proto__/x",
  ];
  for (const path of wrong)
    t.equal((await fetchPage(server.url, path, { Authorization: owner.authorization })).status, 404, path);
});
