/**
 * Avatars (spec 2.6, 2.9; D187, D188): upload, removal, events, and hostile pictures. A picture is decoded and
 * re-encoded, never served as it was sent.
 */
import sharp from "sharp";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, outcome, refusal, success } from "../support/client.ts";
import { animation, fetchPage, gravatar, longGif, lookAt, picture, pngThatSays, upload } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";
import { newUsers } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const member = await server.user("member");
const path = "/users/me/avatar";
const png = await picture("png", 120, 80);
const undecodable = refusal("Could not decode image; did you upload an image file?");
const tooLarge = refusal("Image size exceeds limit.");

/** Each test uploads as a new user, so that tests do not affect each other. */
const somebody = newUsers(server);

function emailOf(client: Client): string {
  return client.account?.email ?? "";
}

async function seenBy(viewer: Client, userId: number, clientGravatar: boolean): Promise<Event> {
  const { body } = await viewer.get("/users", { client_gravatar: clientGravatar });
  return body.members.find((user: Event) => user.user_id === userId);
}

function pageOf(address: string) {
  return fetchPage(url, address);
}

t.test("[spec 2.6] an uploaded picture is served re-encoded, in two sizes, at a URL of its own", async (t) => {
  const person = await somebody();
  const { status, body } = await upload(person, path, png);
  t.strictSame({ status, body }, success({ avatar_url: body.avatar_url }));
  t.match(body.avatar_url, /^\/user_avatars\/1\/[0-9a-f]{32}\.png\?version=2$/);
  const small = await pageOf(body.avatar_url);
  const medium = await pageOf(body.avatar_url.replace(".png", "-medium.png"));
  for (const [page, size] of [
    [small, limits.avatar_size_px],
    [medium, limits.avatar_medium_size_px],
  ] as const) {
    t.equal(page.status, 200);
    t.equal(page.headers.get("Content-Type"), "image/png", "the server decides the content type");
    t.equal(page.headers.get("X-Content-Type-Options"), "nosniff");
    t.match(page.headers.get("Content-Security-Policy"), /default-src 'none'/);
    t.match(page.headers.get("Cache-Control"), /max-age=\d{6,}/);
    t.strictSame(await lookAt(page.bytes), { format: "png", width: size, height: size, pages: 1, hasMetadata: false });
  }
  t.notOk(small.bytes.equals(png));
});

t.test("[spec 2.6, 2.9] avatar_url is null only without an uploaded picture, whatever client_gravatar", async (t) => {
  const person = await somebody();
  const email = emailOf(person);
  const channel = { type: "stream", to: "general", topic: "pictures", content: "look" };
  const sent = (await person.post("/users/me/subscriptions", { subscriptions: [{ name: "general" }] })).status;
  t.equal(sent, 200);
  const { id } = (await person.post("/messages", channel)).body;
  const inMessage = async (clientGravatar: boolean) => {
    const { body } = await owner.get("/messages", {
      anchor: id,
      num_before: 0,
      num_after: 0,
      client_gravatar: clientGravatar,
    });
    return body.messages[0].avatar_url;
  };
  t.equal((await seenBy(owner, person.userId, true)).avatar_url, null);
  t.equal((await seenBy(owner, person.userId, false)).avatar_url, gravatar(email, 1));
  t.equal(await inMessage(true), null);
  t.equal(await inMessage(false), gravatar(email, 1));
  server.setUser(person.userId, { email_address_visibility: 4 });
  const hidden = gravatar(`user${person.userId}@colloquy.invalid`, 1);
  for (const isComputedByClient of [true, false]) {
    t.equal((await seenBy(owner, person.userId, isComputedByClient)).avatar_url, hidden, "[S1] not even as a hash");
    t.equal(await inMessage(isComputedByClient), hidden);
  }
  server.setUser(person.userId, { email_address_visibility: 1 });

  const { avatar_url: uploaded } = (await upload(person, path, png)).body;
  for (const visibility of [1, 4]) {
    server.setUser(person.userId, { email_address_visibility: visibility });
    for (const clientGravatar of [true, false]) {
      const user = await seenBy(owner, person.userId, clientGravatar);
      t.match(user, { avatar_url: uploaded, avatar_version: 2 });
      t.equal(await inMessage(clientGravatar), uploaded);
    }
  }
  t.equal((await person.get("/users/me")).body.avatar_url, uploaded);
});

t.test("[behaviour 4.4] every queue receives one event in its form, as a later /register has it", async (t) => {
  const person = await somebody();
  const outsider = await server.user("told-guest", roles.guest);
  const types = { event_types: ["realm_user", "message"], fetch_event_types: ["realm_user"] };
  const plain = await member.follow({ ...types, client_gravatar: false });
  const saving = await member.follow({ ...types, client_gravatar: true });
  const own = await person.follow(types);
  const guest = await outsider.follow(types);
  const uploaded = (await upload(person, path, png)).body.avatar_url;
  const expected = {
    type: "realm_user",
    op: "update",
    person: {
      user_id: person.userId,
      avatar_source: "U",
      avatar_url: uploaded,
      avatar_url_medium: uploaded.replace(".png", "-medium.png"),
      avatar_version: 2,
    },
  };
  for (const follower of [plain, saving, own, guest]) {
    await follower.settled();
    t.strictSame(follower.ofType("realm_user"), [expected]);
  }
  const after = await person.register({ fetch_event_types: ["realm_user"] });
  t.match(after, {
    avatar_source: "U",
    avatar_url: uploaded,
    avatar_url_medium: expected.person.avatar_url_medium,
  });
  const known = (state: Event) => state.realm_users.find((user: Event) => user.user_id === person.userId);
  const { avatar_url, avatar_version } = expected.person;
  t.strictSame(known(after), { ...known(own.state), avatar_url, avatar_version }, "state before + event = state after");

  const removed = await person.delete(path);
  t.strictSame(outcome(removed), success({ avatar_url: gravatar(emailOf(person), 3) }));
  const back = {
    user_id: person.userId,
    avatar_source: "G",
    avatar_url: gravatar(emailOf(person), 3),
    avatar_url_medium: gravatar(emailOf(person), 3, "&s=500"),
    avatar_version: 3,
  };
  await plain.settled();
  await saving.settled();
  t.strictSame(plain.ofType("realm_user").at(-1).person, back);
  t.strictSame(saving.ofType("realm_user").at(-1).person, back, "never null");
});

t.test("[D188, D189] a replaced or removed picture is no longer served; removing none sends no event", async (t) => {
  const person = await somebody();
  const first = (await upload(person, path, png)).body.avatar_url;
  const second = (await upload(person, path, png)).body.avatar_url;
  await server.realm.files.idle();
  t.not(first, second, "every upload gets a name of its own");
  t.equal((await pageOf(first)).status, 404);
  t.equal((await pageOf(first.replace(".png", "-medium.png"))).status, 404);
  t.equal((await pageOf(second)).status, 200);
  t.equal((await person.delete(path)).status, 200);
  await server.realm.files.idle();
  t.equal((await pageOf(second)).status, 404);
  const changes = await owner.watchChanges();
  await expects(t, person.delete(path), success({ avatar_url: gravatar(emailOf(person), 4) }));
  t.strictSame(await changes(), []);
});

t.test("[D188] concurrent uploads of one user leave one picture and no other file", async (t) => {
  const person = await somebody();
  const answers = await Promise.all(
    Array.from({ length: limits.uploads_per_user_max }, () => upload(person, path, png)),
  );
  await server.realm.files.idle();
  const addresses = answers.map(({ body }) => body.avatar_url);
  const statuses = await Promise.all(addresses.map(async (address) => (await pageOf(address)).status));
  t.strictSame(statuses.sort(), [200, 404, 404]);
  const { avatar_url: current } = (await person.get("/users/me")).body;
  t.equal((await pageOf(current)).status, 200);
});

t.test("[D187] four formats are recognized by their content, whatever the client calls them", async (t) => {
  const person = await somebody();
  for (const format of ["png", "jpeg", "gif", "webp"] as const) {
    for (const contentType of [`image/${format}`, "text/html", "x\u00ff"]) {
      const { status, body } = await upload(person, path, await picture(format, 30, 300), { contentType });
      t.equal(status, 200, `${format} as ${contentType}`);
      const { headers, bytes } = await pageOf(body.avatar_url);
      t.equal(headers.get("Content-Type"), "image/png");
      t.match(await lookAt(bytes), { format: "png", width: 100, height: 100 });
    }
  }
  for (const format of ["gif", "webp"] as const) {
    const { body } = await upload(person, path, await animation(format, 3));
    t.match(await lookAt((await pageOf(body.avatar_url)).bytes), { format: "png", pages: 1 }, "the first frame");
  }
});

t.test("[D188] only the pixels survive, turned upright: no metadata, no bytes after the picture", async (t) => {
  const person = await somebody();
  const red = { create: { width: 20, height: 40, channels: 3 as const, background: "red" } };
  const half = await sharp({ create: { width: 20, height: 20, channels: 3, background: "blue" } })
    .png()
    .toBuffer();
  const secret = "taken at home";
  // Stored with blue at the top. Orientation 6 says that the stored top is the right side.
  const tagged = await sharp(red)
    .composite([{ input: half, top: 0, left: 0 }])
    .jpeg({ quality: 100 })
    .withMetadata({ orientation: 6 })
    .withExifMerge({ IFD0: { ImageDescription: secret } })
    .toBuffer();
  t.ok(tagged.includes(secret));
  const { bytes } = await pageOf((await upload(person, path, tagged)).body.avatar_url);
  t.strictSame(await lookAt(bytes), { format: "png", width: 100, height: 100, pages: 1, hasMetadata: false });
  t.notOk(bytes.includes(secret));
  const { data } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const colorAt = (x: number, y: number) => (data[(y * 100 + x) * 3] ?? 0) > 128;
  t.strictSame([colorAt(10, 50), colorAt(90, 50)], [true, false], "red on the left, blue on the right");

  const script = "<script>alert(1)</script>";
  const zip = Buffer.from("PK\x03\x04", "latin1");
  for (const format of ["png", "jpeg", "gif", "webp"] as const) {
    const polyglot = Buffer.concat([await picture(format, 20, 20), Buffer.from(script), zip]);
    const answer = await upload(person, path, polyglot, { filename: '"x.html"', contentType: "text/html" });
    t.equal(answer.status, 200, format);
    const page = await pageOf(answer.body.avatar_url);
    t.equal(page.headers.get("Content-Type"), "image/png");
    t.notOk(page.bytes.includes("<script>") || page.bytes.includes(zip), "no second nature");
  }
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>';

/** Files that are no picture or a malformed one, and the expected rejection. */
async function hostile(): Promise<Readonly<Record<string, readonly [Buffer | string, object]>>> {
  const jpeg = await picture("jpeg", 200, 200);
  const tiff = await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
    .tiff()
    .toBuffer();
  const half = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2));
  return {
    "an empty file": ["", undecodable],
    text: ["no picture at all", undecodable],
    HTML: ["<html><script>alert(1)</script></html>", undecodable],
    SVG: [svg, undecodable],
    "SVG with a prolog": [`<?xml version="1.0"?>${svg}`, undecodable],
    "SVG that wants files": [svg.replace("<rect", '<image href="file:///etc/passwd"/><rect'), undecodable],
    PDF: ["%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>", undecodable],
    TIFF: [tiff, undecodable],
    "a header and nothing else": [png.subarray(0, 33), undecodable],
    "a PNG cut in the middle": [half(png), undecodable],
    "a JPEG cut in the middle": [half(jpeg), undecodable],
    "a GIF cut in the middle": [half(await picture("gif", 50, 50)), undecodable],
    "a WebP cut in the middle": [half(await picture("webp", 200, 200)), undecodable],
    "rows that are missing": [pngThatSays(500, 500, 3), undecodable],
    "a size of zero": [pngThatSays(0, 10), undecodable],
    "more than picture_pixels_max": [pngThatSays(limits.picture_pixels_max / 8000 + 1, 8000, 1), tooLarge],
    "60,000 by 60,000": [pngThatSays(60_000, 60_000, 1), tooLarge],
    "the largest numbers": [pngThatSays(0x7fffffff, 0x7fffffff, 0), undecodable],
    "the words of another format": [Buffer.concat([Buffer.from("GIF89a"), png]), undecodable],
  };
}

t.test("[D187] files that are no picture, truncated or of a false size are rejected", async (t) => {
  const person = await somebody();
  const changes = await owner.watchChanges();
  for (const [what, [bytes, expected]] of Object.entries(await hostile())) {
    await expects(t, upload(person, path, bytes), expected, what);
  }
  t.strictSame(await changes(), []);
  t.equal((await seenBy(owner, person.userId, true)).avatar_url, null);
  const many = await upload(person, path, longGif(10_000));
  t.equal(many.status, 200, "of 10,000 frames the first one is used");
});

t.test("[S3] picture_pixels_max: a picture with this many pixels is decoded", async (t) => {
  const person = await somebody();
  const { status } = await upload(person, path, pngThatSays(limits.picture_pixels_max / 5000, 5000));
  t.equal(status, 200);
});

t.test("[S3] pictures_waiting_max: pictures over the limit get 503, the others are processed", async (t) => {
  const crowd = limits.pictures_concurrent_max + limits.pictures_waiting_max + 4;
  const people = await Promise.all(Array.from({ length: crowd }, somebody));
  const large = pngThatSays(4000, 4000);
  const answers = await Promise.all(people.map((person) => upload(person, path, large)));
  const statuses = answers.map(({ status }) => status);
  t.ok(statuses.includes(200));
  const found = statuses.filter((status) => status !== 200 && status !== 503);
  t.strictSame(found, []);
  const refused = answers.find(({ status }) => status === 503);
  t.match(refused?.body ?? { code: "OVERLOADED" }, { code: "OVERLOADED" });
  t.equal((await upload(owner, path, png)).status, 200, "afterwards the queue has room");
});

t.test("[D188] only generated names lead to files: all else is 404, and no path leaves the folder", async (t) => {
  const { avatar_url: address } = (await upload(await somebody(), path, png)).body;
  const [name = ""] = /[0-9a-f]{32}\.png/.exec(address) ?? [];
  const unknown = [
    "/user_avatars/",
    "/user_avatars/1",
    "/user_avatars/1/",
    `/user_avatars/2/${name}`,
    `/user_avatars//${name}`,
    `/user_avatars/1/${"0".repeat(32)}.png`,
    `/user_avatars/1/${name.toUpperCase()}`,
    `/user_avatars/1/emoji/images/${name}`,
    `/user_avatars/1/${name.replace("png", "gif")}`,
    `/user_avatars/1/${name.replace("png", "html")}`,
    `/user_avatars/1/${name}%00`,
    `/user_avatars/1/${name}%0a`,
    `/user_avatars/1/${name}/`,
    "/user_avatars/1/..%2f..%2fdata.mdb",
    "/user_avatars/1/%2e%2e/%2e%2e/data.mdb",
    "/user_avatars/1/..%5c..%5cdata.mdb",
    "/user_avatars/..%2f1%2ffiles%2favatars",
    "/user_avatars/%2fetc%2fpasswd",
    "/user_avatars/1/.",
  ];
  for (const one of unknown) {
    const page = await pageOf(one);
    t.equal(page.status, 404, one);
    t.match(JSON.parse(page.bytes.toString()), { result: "error", code: "NOT_FOUND" });
  }
  t.equal((await pageOf(address)).status, 200);
  const posted = await fetch(`${url}${address}`, { method: "POST" });
  t.equal(posted.status, 405);
});

t.test("bots have pictures, too; a deactivated user cannot change theirs", async (t) => {
  const bot = await server.bot("painter", owner);
  t.equal((await upload(bot, path, png)).status, 200);
  const former = await somebody();
  const { avatar_url: kept } = (await upload(former, path, png)).body;
  t.equal((await owner.delete(`/users/${former.userId}`)).status, 200);
  t.match(outcome(await upload(former, path, png)), { status: 401, body: { code: "USER_DEACTIVATED" } });
  t.equal((await pageOf(kept)).status, 200, "the picture is shown with their messages");
});

t.test("[M2, E2] after a restart the picture is served, and a queue from before receives the change", async (t) => {
  const first = await startTestServer(t);
  const { avatar_url: before } = (await upload(first.owner, path, png)).body;
  const queue = await first.owner.register({ event_types: ["realm_user"], fetch_event_types: [] });
  const { avatar_url: after } = (await upload(first.owner, path, png)).body;
  await first.stop();
  const second = await startTestServer(t, { dataDir: first.dataDir });
  t.equal((await fetchPage(second.url, after)).status, 200);
  t.equal((await fetchPage(second.url, before)).status, 404);
  const { body } = await second.owner.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  t.match(body.events, [{ op: "update", person: { user_id: 2, avatar_url: after, avatar_version: 3 } }]);
});
