/**
 * Previews of uploaded pictures and videos (public API, message formatting): what a message shows below its links, and
 * the thumbnails that it refers to.
 */
import sharp from "sharp";
import t, { type Test } from "tap";
import { IMAGE_PREVIEWS_PER_MESSAGE_MAX } from "../../domain/markdown/bounds.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { attachmentsOf, fetchFile, linkTo, type SentFile, uploaded } from "../support/attachments.ts";
import { type Client, expects, outcome, refusal } from "../support/client.ts";
import { animation, lookAt, picture, pngThatSays } from "../support/pictures.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
await owner.createChannel("pictures", [owner]);
const still = "840x560.webp";
const moving = "840x560-anim.webp";

async function posted(content: string, by: Client = owner): Promise<string> {
  const id = await by.say("pictures", "pictures", content);
  return (await by.get(`/messages/${id}`)).body.message.content;
}

function thumbnailOf({ url }: SentFile, format = still): string {
  return `${url.replace("/user_uploads/", "/user_uploads/thumbnail/")}/${format}`;
}

async function refusedWith(t: Test, client: Client, url: string, expected: unknown, name: string): Promise<void> {
  const { status, bytes } = await fetchFile(client, url);
  t.strictSame({ status, body: JSON.parse(bytes.toString()) }, expected, name);
}

const notThere = refusal("File not found", "NOT_FOUND", 404);

t.test("thumbnail formats are published", async (t) => {
  const { body } = await owner.post("/register", { fetch_event_types: ["realm"] });
  t.equal(body.server_inline_image_preview, true);
  const names = body.server_thumbnail_formats.map(({ name }: { readonly name: string }) => name);
  t.strictSame(names, [moving, still]);
});

t.test("a thumbnail fits into its format and keeps the proportions", async (t) => {
  for (const [format, width, height, expected] of [
    ["png", 2000, 1000, [840, 420]],
    ["jpeg", 500, 2000, [140, 560]],
    ["webp", 40, 30, [40, 30]],
    ["gif", 1680, 560, [840, 280]],
  ] as const) {
    const file = await uploaded(owner, await picture(format, width, height), `"a.${format}"`);
    const source = `<img data-original-dimensions="${width}x${height}" data-original-content-type="image/${format}" src="${thumbnailOf(file)}">`;
    t.match(await posted(linkTo(file)), `<a href="${file.url}" title="a.${format}">${source}</a></div>`);
    const answer = await fetchFile(owner, thumbnailOf(file));
    t.equal(answer.status, 200, format);
    t.equal(answer.headers.get("content-type"), "image/webp");
    t.match(await lookAt(answer.bytes), { format: "webp", width: expected[0], height: expected[1], pages: 1 });
  }
});

t.test("a picture is rotated by its metadata, which is then removed", async (t) => {
  const turned = await sharp(await picture("jpeg", 300, 100))
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const file = await uploaded(owner, turned, '"turned.jpg"');
  t.match(await posted(linkTo(file)), 'data-original-dimensions="100x300"');
  t.match(await lookAt((await fetchFile(owner, thumbnailOf(file))).bytes), {
    width: 100,
    height: 300,
    hasMetadata: false,
  });
});

t.test("an animation has a moving and a still thumbnail", async (t) => {
  for (const format of ["gif", "webp"] as const) {
    const file = await uploaded(owner, await animation(format, 3), `"a.${format}"`);
    t.match(await posted(linkTo(file)), `<img data-animated="true" data-original-dimensions="16x16"`);
    t.match(await posted(linkTo(file)), `src="${thumbnailOf(file, moving)}"`);
    t.equal((await lookAt((await fetchFile(owner, thumbnailOf(file, moving))).bytes)).pages, 3, format);
    t.equal((await lookAt((await fetchFile(owner, thumbnailOf(file))).bytes)).pages, 1, format);
  }
  const single = await uploaded(owner, await picture("gif", 20, 20), '"single.gif"');
  t.equal((await lookAt((await fetchFile(owner, thumbnailOf(single, moving))).bytes)).pages, 1, "nothing moves");
});

t.test("a WebP larger than its first 256 KiB is shown, too", async (t) => {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const raw = sharp({ create: { width: 1500, height: 1500, channels: 3, background: "#000", noise } });
  const bytes = await raw.webp({ quality: 100 }).toBuffer();
  t.ok(bytes.length > limits.upload_image_header_bytes);
  t.match(await posted(linkTo(await uploaded(owner, bytes, '"large.webp"'))), 'data-original-dimensions="1500x1500"');
});

t.test("an unknown format gets the nearest one; a malformed one is 404", async (t) => {
  const file = await uploaded(owner, await picture("png", 30, 20), '"a.png"');
  t.equal((await fetchFile(owner, thumbnailOf(file, "300x200.webp"))).status, 200);
  t.equal((await fetchFile(owner, thumbnailOf(file, "300x200-anim.jpg"))).status, 200);
  for (const format of [
    "",
    "840x560",
    "x560.webp",
    "840x560-still.webp",
    "999999x1.webp",
    "840x560.webp/",
    "../a.png",
  ]) {
    await refusedWith(t, owner, thumbnailOf(file, format), notThere, format);
  }
});

t.test("[D24, S1] every request for a thumbnail checks access to its picture", async (t) => {
  const [ada, bob, guest] = [
    await server.user("ada"),
    await server.user("bob"),
    await server.user("guest", roles.guest),
  ];
  const readers = { ada, bob, guest, nobody: owner.anonymous() };
  const file = await uploaded(ada, await picture("png", 900, 900), '"secret.png"');
  const seenBy = async (expected: readonly (keyof typeof readers)[], when: string) => {
    for (const [name, client] of Object.entries(readers)) {
      const url = thumbnailOf(file);
      if (expected.includes(name as keyof typeof readers))
        t.equal((await fetchFile(client, url)).status, 200, when + name);
      else await refusedWith(t, client, url, notThere, `${when}: not ${name}`);
    }
  };
  await seenBy(["ada"], "before a message links to it");
  await owner.createChannel("inner", [owner, ada, bob], { invite_only: true, history_public_to_subscribers: true });
  await ada.say("inner", "files", linkTo(file));
  await seenBy(["ada", "bob"], "in a private channel");
  await bob.delete("/users/me/subscriptions", { subscriptions: ["inner"] });
  await seenBy(["ada"], "bob left");
  server.setRealm({ enable_spectator_access: true });
  const id = await owner.createChannel("front", [owner, ada]);
  const channel = server.realm.view.channels.get(id);
  if (channel === undefined) throw new Error("no channel");
  server.write("channels", id, { ...channel, isWebPublic: true });
  await ada.say("front", "files", linkTo(file));
  await seenBy(["ada", "bob", "guest", "nobody"], "in a web-public channel");
  server.setRealm({ enable_spectator_access: false });
  const [{ id: attachmentId }] = await attachmentsOf(ada);
  await ada.delete(`/attachments/${attachmentId}`);
  await seenBy([], "removed");
  const shown = await posted(linkTo(file), owner);
  t.equal(shown, `<p><a href="${file.url}">secret.png</a></p>\n`, "a link to a deleted file stays a link");
});

t.test("[S1] a picture that the author may not see is shown as a link", async (t) => {
  const eve = await server.user("eve");
  await eve.post("/users/me/subscriptions", { subscriptions: [{ name: "pictures" }] });
  const file = await uploaded(owner, await picture("png", 10, 10), '"own.png"');
  const video = await uploaded(owner, "frames", '"own.mp4"');
  t.notMatch(await posted(linkTo(file), eve), "<img");
  t.notMatch(await posted(linkTo(video), eve), "<video");
});

t.test("[S1] a thumbnail is revalidated at each use, and cannot run or load anything", async (t) => {
  const file = await uploaded(owner, await picture("png", 30, 20), '"a.png"');
  const { headers } = await fetchFile(owner, thumbnailOf(file));
  t.equal(headers.get("cache-control"), "private, no-cache");
  t.equal(headers.get("x-content-type-options"), "nosniff");
  t.match(headers.get("content-security-policy"), /default-src 'none'.*sandbox/);
  const etag = headers.get("etag") ?? "";
  const again = await fetchFile(owner, thumbnailOf(file), { "If-None-Match": etag });
  t.strictSame([again.status, again.bytes.length, again.headers.get("etag")], [304, 0, etag]);
  const outsider = await fetchFile(owner.anonymous(), thumbnailOf(file), { "If-None-Match": etag });
  t.equal(outsider.status, 404, "knowing the ETag grants no access");
  t.equal((await fetchFile(owner, thumbnailOf(file), { "If-None-Match": '"other"' })).status, 200);
});

t.test("[S3] a file that is no picture has no preview and no thumbnail; a corrupt picture is rejected", async (t) => {
  const text = await uploaded(owner, "no picture", '"fake.png"');
  t.notMatch(await posted(linkTo(text)), "<img");
  await refusedWith(t, owner, thumbnailOf(text), notThere, "text");
  const whole = await picture("png", 200, 200);
  const torn = await uploaded(owner, whole.subarray(0, whole.length - 60), '"torn.png"');
  const undecodable = refusal("Could not decode image; did you upload an image file?");
  for (const when of ["torn", "and a second time"]) await refusedWith(t, owner, thumbnailOf(torn), undecodable, when);
  const lying = await uploaded(owner, pngThatSays(3000, 3000, 1), '"lying.png"');
  await refusedWith(t, owner, thumbnailOf(lying), undecodable, "fewer rows than its header says");
});

t.test("[S3] picture_pixels_max: a larger picture stays a link", async (t) => {
  const [at, over] = [pngThatSays(limits.picture_pixels_max / 5000, 5000), pngThatSays(8001, 5000, 1)];
  const largest = await uploaded(owner, at, '"at.png"');
  t.match(await posted(linkTo(largest)), "<img");
  t.equal((await fetchFile(owner, thumbnailOf(largest))).status, 200);
  const larger = await uploaded(owner, over, '"over.png"');
  t.notMatch(await posted(linkTo(larger)), "<img");
  await refusedWith(t, owner, thumbnailOf(larger), notThere, "no thumbnail either");
});

t.test("[S3] IMAGE_PREVIEWS_PER_MESSAGE_MAX: only the first links of a message have previews", async (t) => {
  const bytes = await picture("png", 8, 8);
  const links: string[] = [];
  const max = IMAGE_PREVIEWS_PER_MESSAGE_MAX;
  for (let count = 0; count <= max; count++) links.push(linkTo(await uploaded(owner, bytes, '"a.png"')));
  const shown = async (count: number) => (await posted(links.slice(0, count).join(" "))).split("<img").length - 1;
  t.equal(await shown(max), max);
  t.equal(await shown(max + 1), max);
});

t.test("an uploaded video is shown; other downloads are not", async (t) => {
  const video = await uploaded(owner, "frames", '"später.mp4"');
  const url = encodeURI(video.url);
  t.equal(
    await posted(`[später.mp4](${url})`),
    `<p><a href="${url}">später.mp4</a></p>\n<div class="message_inline_image message_inline_video"><a href="${url}" title="später.mp4"><video preload="metadata" src="${url}"></video></a></div>`,
  );
  t.notMatch(await posted(linkTo(await uploaded(owner, "frames", '"a.avi"'))), "<video");
});

t.test("a rendered draft and an edit show previews like a message", async (t) => {
  const file = await uploaded(owner, await picture("png", 12, 9), '"a.png"');
  const { rendered } = (await owner.post("/messages/render", { content: linkTo(file) })).body;
  t.match(rendered, `src="${thumbnailOf(file)}"`);
  const id = await owner.say("pictures", "pictures", "soon");
  await owner.patch(`/messages/${id}`, { content: linkTo(file) });
  t.equal((await owner.get(`/messages/${id}`)).body.message.content, rendered);
  const address = `http://${new URL(server.url).host}${file.url}`;
  t.match(await posted(address), `<a href="${file.url}" title="${address}"><img`, "a bare address");
  t.match(await posted(`\`\`\`spoiler Look\n${linkTo(file)}\n\`\`\``), /spoiler-content.*<img.*<\/div>/s);
  t.notMatch(await posted(`> ${linkTo(file)}`), "<img", "quoted");
});

t.test("with `inline_image_preview` off, pictures and videos stay links", async (t) => {
  const file = await uploaded(owner, await picture("png", 12, 9), '"a.png"');
  const video = await uploaded(owner, "frames", '"a.mp4"');
  t.equal((await owner.patch("/realm", { inline_image_preview: false })).status, 200);
  t.notMatch(await posted(`${linkTo(file)} ${linkTo(video)}`), "<div");
  t.equal((await owner.patch("/realm", { inline_image_preview: true })).status, 200);
  t.equal((await posted(`${linkTo(file)} ${linkTo(video)}`)).split("<div").length - 1, 2);
});

t.test("[M1] after a restart the message is unchanged and its thumbnail is generated again", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  await first.owner.createChannel("pictures", [first.owner]);
  const file = await uploaded(first.owner, await picture("png", 1000, 1000), '"a.png"');
  const id = await first.owner.say("pictures", "pictures", linkTo(file));
  const before = outcome(await first.owner.get(`/messages/${id}`));
  const thumbnail = await fetchFile(first.owner, thumbnailOf(file));
  await first.stop();
  const second = await startTestServer(t, { dataDir });
  await expects(t, second.owner.get(`/messages/${id}`), before);
  const again = await fetchFile(second.owner, thumbnailOf(file));
  t.strictSame([again.status, again.bytes], [200, thumbnail.bytes]);
});
