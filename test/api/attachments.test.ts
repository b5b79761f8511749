/**
 * Uploaded files (public API: upload-file, get-attachments, remove-attachment; D178 to D186): storage, events to the
 * owner, links from messages, and deletion.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { attachmentsOf, fetchFile, linkTo, sendFile, uploaded } from "../support/attachments.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const clock = new ManualClock(Date.parse("2026-03-01T10:00:00.500Z"));
const server = await startTestServer(t, { clock });
const { owner } = server;
const general = await owner.createChannel("papers", [owner]);
const wholeSecond = Date.parse("2026-03-01T10:00:00Z");

/** Files of attachments, temporary ones included. */
async function filesOf({ dataDir }: TestServer): Promise<string[]> {
  await server.realm.files.idle();
  try {
    return readdirSync(join(dataDir, "realms", "1", "files", "uploads"));
  } catch {
    return [];
  }
}

t.test("the answer has the file name and a URL that cannot be guessed", async (t) => {
  const person = await server.user("uploader");
  const answer = await sendFile(person, "hello", '"zulip.txt"');
  t.equal(answer.status, 200);
  const { url, uri, filename } = answer.body;
  t.match(url, /^\/user_uploads\/1\/[0-9a-f]{2}\/[0-9a-f]{30}\/zulip\.txt$/);
  t.strictSame(answer.body, { result: "success", msg: "", url, uri, filename });
  t.equal(uri, url);
  t.equal(filename, "zulip.txt");
  const again = await uploaded(person, "hello", '"zulip.txt"');
  t.not(again.url, url, "uploading the same file again creates another one");
  const { body } = await person.get("/attachments");
  const [first] = body.attachments;
  t.strictSame(first, {
    id: first.id,
    name: "zulip.txt",
    path_id: url.slice("/user_uploads/".length),
    size: 5,
    create_time: wholeSecond,
    messages: [],
  });
  t.equal(body.attachments.length, 2);
  t.ok(body.upload_space_used >= 10);
  t.strictSame((await fetchFile(person, url)).bytes.toString(), "hello");
});

t.test("users see their own files, and the space used by the whole organization", async (t) => {
  const [ada, bob] = [await server.user("ada"), await server.user("bob")];
  const before = (await ada.get("/attachments")).body.upload_space_used;
  await uploaded(ada, "1234567");
  t.strictSame((await bob.get("/attachments")).body, {
    ...success({ attachments: [], upload_space_used: before + 7 }).body,
  });
  t.equal((await attachmentsOf(ada)).length, 1);
});

t.test("a request must hold exactly one file", async (t) => {
  await expects(t, owner.post("/user_uploads"), "You must specify a file to upload");
});

t.test("[D180] a file is listed with the messages that link to it; edits attach and detach it", async (t) => {
  const ada = await server.user("claimer");
  const bob = await server.user("reader");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "text");
  const follower = await ada.follow({ event_types: ["attachment", "message"] });
  const space = (await ada.get("/attachments")).body.upload_space_used;
  t.equal((await fetchFile(bob, file.url)).status, 404, "before that only the owner can fetch it");
  const id = await ada.say("papers", "files", `see ${linkTo(file)}`);
  t.equal((await fetchFile(bob, file.url)).status, 200);
  const [listed] = await attachmentsOf(ada);
  t.strictSame(listed.messages, [{ id, date_sent: wholeSecond }]);
  await follower.settled();
  t.strictSame(follower.ofType("attachment"), [
    { type: "attachment", op: "update", attachment: listed, upload_space_used: space },
  ]);

  const other = await ada.say("papers", "files", `again http://${new URL(server.url).host}${file.url}`);
  const found = (await attachmentsOf(ada))[0].messages.map((message: { id: number }) => message.id);
  t.strictSame(found, [id, other], "a bare URL of this server links, too");
  const edited = await ada.patch(`/messages/${id}`, { content: "nothing" });
  t.strictSame(outcome(edited), success({ detached_uploads: [] }), "another message links to it");
  const last = await ada.patch(`/messages/${other}`, { content: "nothing either" });
  t.strictSame(outcome(last), success({ detached_uploads: [{ ...listed, messages: [] }] }));
  t.strictSame((await attachmentsOf(ada))[0].messages, []);
  t.equal((await fetchFile(bob, file.url)).status, 404, "only the owner can fetch it again");
  await expects(t, ada.patch(`/messages/${other}`, { content: linkTo(file), topic: "moved" }), {
    ...success({ detached_uploads: [] }),
  });
  t.equal((await fetchFile(bob, file.url)).status, 200, "one request that changes content and topic attaches the file");
  const moved = await ada.patch(`/messages/${other}`, { content: "gone", topic: "moved back" });
  t.strictSame(outcome(moved), success({ detached_uploads: [{ ...listed, messages: [] }] }), "and detaches");
  await follower.settled();
  t.ok(follower.ofType("attachment").every(({ op }) => op === "update"));
});

t.test("[S1] a link claims a file only if its author may see it; an invented URL claims nothing", async (t) => {
  const [ada, eve] = [await server.user("secretive"), await server.user("eve")];
  await eve.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "secret");
  await eve.say("papers", "files", linkTo(file));
  await eve.say(
    "papers",
    "files",
    linkTo({ url: "/user_uploads/1/00/000000000000000000000000000000/x.txt", filename: "x" }),
  );
  await eve.say("papers", "files", linkTo({ url: "/user_uploads/1/%zz/x/x.txt", filename: "x" }));
  t.equal((await fetchFile(eve, file.url)).status, 404);
  t.strictSame((await attachmentsOf(ada))[0].messages, [], "and its owner receives no event");
  await ada.post("/messages", { type: "direct", to: [eve.userId], content: linkTo(file) });
  t.equal((await fetchFile(eve, file.url)).status, 200);
  await eve.say("papers", "files", linkTo(file));
  t.equal((await fetchFile(owner, file.url)).status, 200, "a user who may see it can share it");
});

t.test("only the owner may delete a file; links to it stay as text", async (t) => {
  const ada = await server.user("remover");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "bytes");
  const id = await ada.say("papers", "files", linkTo(file));
  const [{ id: attachmentId }] = await attachmentsOf(ada);
  const space = (await ada.get("/attachments")).body.upload_space_used;
  const invalid = refusal("Invalid attachment");
  await expects(t, owner.delete(`/attachments/${attachmentId}`), invalid, "not even an owner of the organization");
  await expects(t, ada.delete("/attachments/999999"), invalid);
  const before = (await filesOf(server)).length;
  const follower = await ada.follow({ event_types: ["attachment", "message"] });
  await expects(t, ada.delete(`/attachments/${attachmentId}`), success());
  t.strictSame(await attachmentsOf(ada), []);
  t.equal((await filesOf(server)).length, before - 1);
  t.equal((await fetchFile(ada, file.url)).status, 404);
  const shown = await ada.get(`/messages/${id}`, { apply_markdown: false });
  t.equal(shown.body.message.content, linkTo(file));
  await follower.settled();
  t.strictSame(follower.ofType("attachment"), [
    { type: "attachment", op: "remove", attachment: { id: attachmentId }, upload_space_used: space - 5 },
  ]);
  await expects(t, ada.delete(`/attachments/${attachmentId}`), invalid, "once");
  t.equal(server.realm.view.keys("messageAttachments", { start: [id], end: [id + 1], limit: 1 }).length, 0);
});

t.test("[S3] attachment_messages_listed_max: the newest messages that link to a file are listed", async (t) => {
  const [ada, bob] = [await server.user("popular"), await server.user("unpopular")];
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const [file, hidden] = [await uploaded(ada, "popular"), await uploaded(ada, "hidden")];
  const countMax = limits.attachment_messages_listed_max;
  const ids: number[] = [];
  for (let count = 0; count < countMax; count++) ids.push(await ada.say("papers", "popular", linkTo(file)));
  const named = async () => (await attachmentsOf(ada))[0].messages.map(({ id }: { readonly id: number }) => id);
  t.strictSame(await named(), ids);
  ids.push(await ada.say("papers", "popular", linkTo(file)));
  t.strictSame(await named(), ids.slice(1));

  // The message that lets bob see the other file is older than many that he cannot read. When bob links to the file,
  // only the newest messages are checked.
  await ada.post("/messages", { type: "direct", to: [bob.userId], content: linkTo(hidden) });
  const link = () => bob.post("/messages", { type: "direct", to: [owner.userId], content: linkTo(hidden) });
  for (let count = 1; count < countMax; count++) {
    await ada.post("/messages", { type: "direct", to: [ada.userId], content: linkTo(hidden) });
  }
  const last = await link();
  t.equal((await fetchFile(owner, hidden.url)).status, 200, "at the bound");
  await owner.delete(`/messages/${last.body.id}`);
  await ada.post("/messages", { type: "direct", to: [ada.userId], content: linkTo(hidden) });
  await link();
  t.equal((await fetchFile(owner, hidden.url)).status, 404, "one over");
  t.equal((await fetchFile(bob, hidden.url)).status, 200, "a lookup for a reader is not limited");
});

t.test("[D180] deleting a message or a topic detaches its files and sends an event to the owner", async (t) => {
  const ada = await server.user("deleter");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "text");
  const id = await ada.say("papers", "one", linkTo(file));
  await ada.say("papers", "doomed", linkTo(file));
  t.equal((await owner.delete(`/messages/${id}`)).status, 200);
  t.equal((await attachmentsOf(ada))[0].messages.length, 1);
  const follower = await ada.follow({ event_types: ["attachment", "message"] });
  t.equal((await owner.post(`/streams/${general}/delete_topic`, { topic_name: "doomed" })).status, 200);
  t.strictSame((await attachmentsOf(ada))[0].messages, []);
  await follower.settled();
  t.match(follower.ofType("attachment"), [{ op: "update", attachment: { messages: [] } }]);
  t.equal((await fetchFile(owner, file.url)).status, 404);
});

t.test("[behaviour 5.8] an image is shown below the message as a thumbnail; other files stay links", async (t) => {
  const image = await uploaded(owner, await picture("png", 40, 30), '"cat.png"');
  const text = await uploaded(owner, "no image", '"fake.png"');
  const html = async (content: string) =>
    (await owner.get(`/messages/${await owner.say("papers", "images", content)}`)).body.message.content;
  const thumbnail = `${image.url.replace("/user_uploads/", "/user_uploads/thumbnail/")}/840x560.webp`;
  t.equal(
    await html(linkTo(image)),
    `<p><a href="${image.url}">cat.png</a></p>\n<div class="message_inline_image"><a href="${image.url}" title="cat.png"><img data-original-dimensions="40x30" data-original-content-type="image/png" src="${thumbnail}"></a></div>`,
  );
  t.equal(
    await html(linkTo(text)),
    `<p><a href="${text.url}">fake.png</a></p>\n`,
    "the content decides the type, not the name",
  );
});

t.test("[D25, D184] the same key and file upload one file; another name is another request", async (t) => {
  const ada = await server.user("repeater");
  const headers = { "Idempotency-Key": "upload-once" };
  const first = await sendFile(ada, "once", '"a.txt"', headers);
  const before = await filesOf(server);
  await expects(t, sendFile(ada, "once", '"a.txt"', headers), outcome(first));
  t.strictSame(await filesOf(server), before);
  t.equal((await attachmentsOf(ada)).length, 1);
  const reused = refusal("This Idempotency-Key was used for a request with other parameters");
  await expects(t, sendFile(ada, "other", '"a.txt"', headers), reused);
  await expects(t, sendFile(ada, "once", '"b.txt"', headers), reused);
  t.strictSame(await filesOf(server), before);
});

/** Advances time until the file is deleted. Due timers have run when the answers arrive. */
async function gone(client: Client, url: string): Promise<void> {
  while ((await fetchFile(client, url)).status === 200) await client.get("/users/me");
}

t.test("[M8, D183] upload_kept_unclaimed_ms: a file without links goes after five weeks, not earlier", async (t) => {
  const ada = await server.user("forgetful");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const linked = await uploaded(ada, "linked");
  await ada.say("papers", "kept", linkTo(linked));
  const unused = await uploaded(ada, "unused");
  const before = (await filesOf(server)).length;
  clock.jump(limits.upload_kept_unclaimed_ms - 1);
  const detached = await uploaded(ada, "detached");
  const id = await ada.say("papers", "kept", linkTo(detached));
  t.equal((await fetchFile(ada, unused.url)).status, 200, "a moment before");
  clock.jump(1);
  await gone(ada, unused.url);
  t.equal((await fetchFile(ada, linked.url)).status, 200);
  await ada.patch(`/messages/${id}`, { content: "no more" });
  t.ok((await filesOf(server)).length <= before, "its bytes are deleted, too");
  clock.jump(limits.upload_kept_unclaimed_ms - 1);
  await ada.say("papers", "kept", "a fence");
  t.equal((await fetchFile(ada, detached.url)).status, 200, "the five weeks begin when the last link is removed");
  clock.jump(1);
  await gone(ada, detached.url);
  const found = (await attachmentsOf(ada)).map(({ path_id }) => `/user_uploads/${path_id}`);
  t.strictSame(found, [linked.url]);
});

t.test("[M8, D183] a file that is linked in time is kept, and its timer does nothing", async (t) => {
  const ada = await server.user("timely");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "timely");
  const id = await ada.say("papers", "kept", linkTo(file));
  clock.jump(1000);
  await ada.patch(`/messages/${id}`, { content: "no more" });
  clock.jump(limits.upload_kept_unclaimed_ms - 1);
  await ada.say("papers", "kept", "a fence");
  t.equal((await fetchFile(ada, file.url)).status, 200, "the first timer has fired");
  clock.jump(1);
  await gone(ada, file.url);
});

t.test("[D183] a file in a scheduled message is kept until the message is sent", async (t) => {
  const ada = await server.user("planner");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "planned", '"später.txt"');
  const due = Math.floor((clock.now() + 2 * limits.upload_kept_unclaimed_ms) / 1000) + 1;
  const content = `[later](${encodeURI(file.url)})`;
  const params = { type: "channel", to: general, topic: "later", content, scheduled_delivery_timestamp: due };
  const { scheduled_message_id: id } = (await ada.post("/scheduled_messages", params)).body;
  for (let time = 0; time < 2; time++) {
    clock.jump(limits.upload_kept_unclaimed_ms);
    await server.realm.dispatcher.idle();
    t.equal((await fetchFile(ada, file.url)).status, 200, "only the scheduled message links to it");
  }
  await ada.delete(`/scheduled_messages/${id}`);
  t.equal((await fetchFile(ada, file.url)).status, 200, "it is kept as long as any other file");
  clock.jump(limits.upload_kept_unclaimed_ms);
  await gone(ada, file.url);
});
