/**
 * Uploaded files (issue "Conversations", Files; public API: upload-file, get-attachments, remove-attachment): what is kept, what its
 * owner is told, which messages link to it, and when it goes.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { attachmentsOf, fetchFile, linkTo, sendFile, uploaded } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { createChannel, Follower, outcome, personOf, realmOf, refusal, success } from "../support/conversation.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { picture } from "../support/pictures.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const clock = new ManualClock(Date.parse("2026-03-01T10:00:00.500Z"));
const server = await startTestServer(t, { clock });
t.teardown(() => clock.release());
const { owner } = server;
const general = await createChannel(owner, "papers", [owner]);
const wholeSecond = Date.parse("2026-03-01T10:00:00Z");

/** Files of attachments, drafts too. */
async function filesOf({ dataDir }: TestServer): Promise<string[]> {
  await realmOf(server).files.idle();
  try {
    return readdirSync(join(dataDir, "realms", "1", "files", "uploads"));
  } catch {
    return [];
  }
}

t.test("[public API, upload-file] answers with an address that nobody guesses, and the name", async (t) => {
  const person = await personOf(server, "uploader");
  const answer = await sendFile(person, "hello", '"zulip.txt"');
  t.equal(answer.status, 200);
  const { url, uri, filename } = answer.body;
  t.match(url, /^\/user_uploads\/1\/[0-9a-f]{2}\/[0-9a-f]{30}\/zulip\.txt$/);
  t.strictSame(answer.body, { result: "success", msg: "", url, uri, filename });
  t.equal(uri, url);
  t.equal(filename, "zulip.txt");
  const again = await uploaded(person, "hello", '"zulip.txt"');
  t.not(again.url, url, "the same file again is another one");
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

t.test("[public API, get-attachments] each sees their own files; the space is the organization's", async (t) => {
  const [ada, bob] = [await personOf(server, "ada"), await personOf(server, "bob")];
  const before = (await ada.get("/attachments")).body.upload_space_used;
  await uploaded(ada, "1234567");
  t.strictSame((await bob.get("/attachments")).body, {
    ...success({ attachments: [], upload_space_used: before + 7 }).body,
  });
  t.equal((await attachmentsOf(ada)).length, 1);
});

t.test("[public API, upload-file] exactly one file", async (t) => {
  t.strictSame(outcome(await owner.post("/user_uploads")), refusal("You must specify a file to upload"));
});

t.test("[issue, claims] messages that link to a file are listed with it; edits attach and detach", async (t) => {
  const ada = await personOf(server, "claimer");
  const bob = await personOf(server, "reader");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "text");
  const follower = await Follower.of(ada, { event_types: ["attachment", "message"] });
  const space = (await ada.get("/attachments")).body.upload_space_used;
  t.equal((await fetchFile(bob, file.url)).status, 404, "nobody but the owner sees it before");
  const id = await ada.say("papers", "files", `see ${linkTo(file)}`);
  t.equal((await fetchFile(bob, file.url)).status, 200);
  const [listed] = await attachmentsOf(ada);
  t.strictSame(listed.messages, [{ id, date_sent: wholeSecond }]);
  await follower.settled();
  t.strictSame(follower.ofType("attachment"), [
    { type: "attachment", op: "update", attachment: listed, upload_space_used: space },
  ]);

  const other = await ada.say("papers", "files", `again http://${new URL(server.url).host}${file.url}`);
  t.strictSame(
    (await attachmentsOf(ada))[0].messages.map((message: { id: number }) => message.id),
    [id, other],
    "a bare link to this server, too",
  );
  const edited = await ada.patch(`/messages/${id}`, { content: "nothing" });
  t.strictSame(outcome(edited), success({ detached_uploads: [] }), "another message links to it");
  const last = await ada.patch(`/messages/${other}`, { content: "nothing either" });
  t.strictSame(outcome(last), success({ detached_uploads: [{ ...listed, messages: [] }] }));
  t.strictSame((await attachmentsOf(ada))[0].messages, []);
  t.equal((await fetchFile(bob, file.url)).status, 404, "nobody but the owner sees it any more");
  t.strictSame(outcome(await ada.patch(`/messages/${other}`, { content: linkTo(file), topic: "moved" })), {
    ...success({ detached_uploads: [] }),
  });
  t.equal(
    (await fetchFile(bob, file.url)).status,
    200,
    "[issue] a change of content and topic in one request attaches",
  );
  const moved = await ada.patch(`/messages/${other}`, { content: "gone", topic: "moved back" });
  t.strictSame(outcome(moved), success({ detached_uploads: [{ ...listed, messages: [] }] }), "and detaches");
  await follower.settled();
  t.ok(follower.ofType("attachment").every(({ op }) => op === "update"));
});

t.test("[S1] a link claims only what its writer may see, and a made-up address claims nothing", async (t) => {
  const [ada, eve] = [await personOf(server, "secretive"), await personOf(server, "eve")];
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
  t.strictSame((await attachmentsOf(ada))[0].messages, [], "and its owner hears nothing of it");
  await ada.post("/messages", { type: "direct", to: [eve.userId], content: linkTo(file) });
  t.equal((await fetchFile(eve, file.url)).status, 200);
  await eve.say("papers", "files", linkTo(file));
  t.equal((await fetchFile(owner, file.url)).status, 200, "who may see it can share it");
});

t.test("[public API, remove-attachment] the owner's alone; the file is gone, links stay as text", async (t) => {
  const ada = await personOf(server, "remover");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "bytes");
  const id = await ada.say("papers", "files", linkTo(file));
  const [{ id: attachmentId }] = await attachmentsOf(ada);
  const space = (await ada.get("/attachments")).body.upload_space_used;
  const invalid = refusal("Invalid attachment");
  t.strictSame(
    outcome(await owner.delete(`/attachments/${attachmentId}`)),
    invalid,
    "not even an owner's of the place",
  );
  t.strictSame(outcome(await ada.delete("/attachments/999999")), invalid);
  const before = (await filesOf(server)).length;
  const follower = await Follower.of(ada, { event_types: ["attachment", "message"] });
  t.strictSame(outcome(await ada.delete(`/attachments/${attachmentId}`)), success());
  t.strictSame(await attachmentsOf(ada), []);
  t.equal((await filesOf(server)).length, before - 1);
  t.equal((await fetchFile(ada, file.url)).status, 404);
  const shown = await ada.get(`/messages/${id}`, { apply_markdown: false });
  t.equal(shown.body.message.content, linkTo(file));
  await follower.settled();
  t.strictSame(follower.ofType("attachment"), [
    { type: "attachment", op: "remove", attachment: { id: attachmentId }, upload_space_used: space - 5 },
  ]);
  t.strictSame(outcome(await ada.delete(`/attachments/${attachmentId}`)), invalid, "once");
  t.equal(realmOf(server).view.keys("messageAttachments", { start: [id], end: [id + 1], limit: 1 }).length, 0);
});

t.test(
  "[S3] attachment_messages_told_max: of a file that very many messages link to, the newest are named",
  async (t) => {
    const [ada, bob] = [await personOf(server, "popular"), await personOf(server, "unpopular")];
    await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
    const [file, hidden] = [await uploaded(ada, "popular"), await uploaded(ada, "hidden")];
    const countMax = limits.attachment_messages_told_max;
    const ids: number[] = [];
    for (let count = 0; count < countMax; count++) ids.push(await ada.say("papers", "popular", linkTo(file)));
    const named = async () => (await attachmentsOf(ada))[0].messages.map(({ id }: { readonly id: number }) => id);
    t.strictSame(await named(), ids);
    ids.push(await ada.say("papers", "popular", linkTo(file)));
    t.strictSame(await named(), ids.slice(1));

    // What bob can see of the other file lies below others that he cannot: as many are looked at for a link of his.
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
    t.equal((await fetchFile(bob, hidden.url)).status, 200, "a reader's look goes on");
  },
);

t.test("[issue] deleting a message or a topic detaches, and tells the owner", async (t) => {
  const ada = await personOf(server, "deleter");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "text");
  const id = await ada.say("papers", "one", linkTo(file));
  await ada.say("papers", "doomed", linkTo(file));
  t.equal((await owner.delete(`/messages/${id}`)).status, 200);
  t.equal((await attachmentsOf(ada))[0].messages.length, 1);
  const follower = await Follower.of(ada, { event_types: ["attachment", "message"] });
  t.equal((await owner.post(`/streams/${general}/delete_topic`, { topic_name: "doomed" })).status, 200);
  t.strictSame((await attachmentsOf(ada))[0].messages, []);
  await follower.settled();
  t.match(follower.ofType("attachment"), [{ op: "update", attachment: { messages: [] } }]);
  t.equal((await fetchFile(owner, file.url)).status, 404);
});

t.test(
  "[behaviour 5.8, pair 40] an image is shown below the message by its thumbnail; other files are links",
  async (t) => {
    const image = await uploaded(owner, await picture("png", 40, 30), '"cat.png"');
    const text = await uploaded(owner, "no image", '"fake.png"');
    const html = async (content: string) =>
      (await owner.get(`/messages/${await owner.say("papers", "images", content)}`)).body.message.content;
    const thumbnail = `${image.url.replace("/user_uploads/", "/user_uploads/thumbnail/")}/840x560.webp`;
    t.equal(
      await html(linkTo(image)),
      `<p><a href="${image.url}">cat.png</a></p>\n<div class="message_inline_image"><a href="${image.url}" title="cat.png"><img data-original-dimensions="40x30" data-original-content-type="image/png" src="${thumbnail}"></a></div>`,
    );
    t.equal(await html(linkTo(text)), `<p><a href="${text.url}">fake.png</a></p>\n`, "by its content, not its name");
  },
);

t.test("[D25] the same key and file make one file; another name is another request", async (t) => {
  const ada = await personOf(server, "repeater");
  const headers = { "Idempotency-Key": "upload-once" };
  const first = await sendFile(ada, "once", '"a.txt"', headers);
  const before = await filesOf(server);
  t.strictSame(outcome(await sendFile(ada, "once", '"a.txt"', headers)), outcome(first));
  t.strictSame(await filesOf(server), before);
  t.equal((await attachmentsOf(ada)).length, 1);
  const reused = refusal("This Idempotency-Key was used for a request with other parameters");
  t.strictSame(outcome(await sendFile(ada, "other", '"a.txt"', headers)), reused);
  t.strictSame(outcome(await sendFile(ada, "once", '"b.txt"', headers)), reused);
  t.strictSame(await filesOf(server), before);
});

/** Time passes at once; what fell due has been carried out when the answers say so. */
async function gone(client: Client, url: string): Promise<void> {
  while ((await fetchFile(client, url)).status === 200) await client.get("/users/me");
}

t.test(
  "[M8] upload_kept_unclaimed_ms: without a link a file goes after five weeks, not before; others stay",
  async (t) => {
    const ada = await personOf(server, "forgetful");
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
    t.ok((await filesOf(server)).length <= before, "its bytes are gone, too");
    clock.jump(limits.upload_kept_unclaimed_ms - 1);
    await ada.say("papers", "kept", "a fence");
    t.equal((await fetchFile(ada, detached.url)).status, 200, "five weeks begin when the last link goes");
    clock.jump(1);
    await gone(ada, detached.url);
    t.strictSame(
      (await attachmentsOf(ada)).map(({ path_id }) => `/user_uploads/${path_id}`),
      [linked.url],
    );
  },
);

t.test("[M8, public API] a file that is linked in time is kept, and its timer is void", async (t) => {
  const ada = await personOf(server, "timely");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "timely");
  const id = await ada.say("papers", "kept", linkTo(file));
  clock.jump(1000);
  await ada.patch(`/messages/${id}`, { content: "no more" });
  clock.jump(limits.upload_kept_unclaimed_ms - 1);
  await ada.say("papers", "kept", "a fence");
  t.equal((await fetchFile(ada, file.url)).status, 200, "the first timer has come and gone");
  clock.jump(1);
  await gone(ada, file.url);
});

t.test("[public API, scheduled messages] a file waits with the message that its owner scheduled", async (t) => {
  const ada = await personOf(server, "planner");
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "papers" }] });
  const file = await uploaded(ada, "planned", '"später.txt"');
  const due = Math.floor((clock.now() + 2 * limits.upload_kept_unclaimed_ms) / 1000) + 1;
  const content = `[later](${encodeURI(file.url)})`;
  const params = { type: "channel", to: general, topic: "later", content, scheduled_delivery_timestamp: due };
  const { scheduled_message_id: id } = (await ada.post("/scheduled_messages", params)).body;
  for (let time = 0; time < 2; time++) {
    clock.jump(limits.upload_kept_unclaimed_ms);
    await realmOf(server).dispatcher.idle();
    t.equal((await fetchFile(ada, file.url)).status, 200, "nothing links to it but what is to be sent");
  }
  await ada.delete(`/scheduled_messages/${id}`);
  t.equal((await fetchFile(ada, file.url)).status, 200, "it is kept for the time of any file");
  clock.jump(limits.upload_kept_unclaimed_ms);
  await gone(ada, file.url);
});
