/**
 * Limits for uploaded files (S3): links claimed by a message, files listed, files checked in one command, and
 * concurrent downloads.
 */
import sharp from "sharp";
import t from "tap";
import { recheckAttachments } from "../../actors/rules/attachment-events.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import { pathIdOf } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { PageRequest } from "../../src/edge/http/pages.ts";
import { filePages } from "../../src/edge/pages/files.ts";
import { TemporaryUrls } from "../../src/operations/media/temporary-urls.ts";
import { attachmentsOf, linkTo, uploaded } from "../support/attachments.ts";
import { multipartType, picture } from "../support/pictures.ts";
import { rowsFor } from "../support/rows.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

/** Empty files of one user. */
function fillAttachments(ownerId: number, count: number, first: number): AttachmentRecord[] {
  const rows = rowsFor<"attachments">(
    count,
    (id) => {
      const file = id.toString(16).padStart(32, "0");
      const image = null;
      return [
        id,
        { id, ownerId, file, name: "f", pathName: "f", size: 0, createdAt: id, image, unclaimedSince: 1, sha256: null },
      ];
    },
    first,
  );
  server.writeMany("attachments", rows);
  server.writeMany(
    "attachmentFiles",
    rows.map(([id, { file }]) => [file, { id }] as const),
  );
  server.writeMany(
    "userAttachments",
    rows.map(([id]) => [[ownerId, id], {}] as const),
  );
  return rows.map(([, row]) => row);
}

t.test("[S3] attachments_per_message_max: the first links of a message claim their files, others do not", async (t) => {
  const ada = await server.user("ada");
  const max = limits.attachments_per_message_max;
  const files = fillAttachments(ada.userId, max + 1, 1000);
  const links = (count: number) =>
    files.slice(0, count).map((file) => linkTo({ filename: "f", url: `/user_uploads/${pathIdOf(1, file)}` }));
  const claimed = async () => (await attachmentsOf(ada)).filter(({ messages }) => messages.length > 0).length;
  await ada.post("/users/me/subscriptions", { subscriptions: [{ name: "general" }] });
  const id = await ada.say("general", "files", links(max).join(""));
  t.equal(await claimed(), max, "at the bound");
  await ada.patch(`/messages/${id}`, { content: "none" });
  t.equal(await claimed(), 0, "editing the message releases all of them");
  await ada.say("general", "files", links(max + 1).join(""));
  const listed = await attachmentsOf(ada);
  t.equal(listed.filter(({ messages }) => messages.length > 0).length, max, "one over");
  t.strictSame(listed.at(-1).messages, [], "the last link claims no file");
});

t.test("[S3] attachments_listed_max: the list holds the newest files", async (t) => {
  const bob = await server.user("bob");
  const max = limits.attachments_listed_max;
  fillAttachments(bob.userId, max, 100_000);
  const ids = async () => {
    const listed = await attachmentsOf(bob);
    return [listed.length, listed[0].id, listed.at(-1).id];
  };
  t.strictSame(await ids(), [max, 100_000, 99_999 + max], "at the bound");
  fillAttachments(bob.userId, 1, 100_000 + max);
  t.strictSame(await ids(), [max, 100_001, 100_000 + max], "one over");
});

t.test(
  "[S3] attachments_per_command_max: one command processes that many files, and the next one the rest",
  async (t) => {
    const max = limits.attachments_per_command_max;
    const sizes = (count: number) =>
      recheckAttachments(Array.from({ length: count }, (_, at) => at)).map((effect) => {
        if (effect.kind !== "send") throw new Error("no command was sent");
        return (effect.command.params as { attachmentIds: readonly number[] }).attachmentIds.length;
      });
    t.strictSame([sizes(max), sizes(max + 1)], [[max], [max, 1]]);
  },
);

t.test("[S3] downloads_concurrent_max: one more download is rejected with 503 until one has finished", async (t) => {
  const { url } = await uploaded(owner, "0123456789");
  const realm = server.realm;
  const [route] = filePages(new TemporaryUrls(), 1);
  const viewer = () => realm.view.users.get(owner.userId) ?? null;
  const ask = async (more: Partial<PageRequest> = {}) => {
    const rest = url.slice("/user_uploads/".length);
    const request = { realm, rest, ifNoneMatch: "", range: "", ifRange: "", viewer, ...more };
    const answer = await route?.serve(request as PageRequest);
    if (answer === undefined) throw new Error("no route");
    return answer;
  };
  const first = await ask();
  t.equal(first.status, 200, "at the bound");
  const refused = await ask();
  t.match(
    { status: refused.status, body: JSON.parse(String(refused.body)) },
    { status: 503, body: { code: "OVERLOADED" } },
  );
  t.equal((await ask({ viewer: () => null })).status, 404, "[S1] access is checked first");
  await first.file?.close();
  // None of these answers sends a file, so each frees its download slot at once.
  const etag = first.headers.find(([name]) => name === "ETag")?.[1] ?? "";
  t.equal((await ask({ ifNoneMatch: etag })).status, 304);
  t.equal((await ask({ range: "bytes=99-" })).status, 416);
  realm.files.discard(`uploads/${etag.replaceAll('"', "")}.bin`);
  await realm.files.idle();
  t.equal((await ask()).status, 404, "the bytes are missing");
  t.equal((await ask()).status, 404, "no download slot is held");
});

t.test("[S3] upload_part_headers_bytes_max: the headers of a part are read up to this size", async (t) => {
  const last = 'Content-Disposition: form-data; name="filename"; filename=notes.txt';
  const send = async (bytes: number) => {
    const padding = `X-Padding: ${"x".repeat(bytes - last.length - "\r\nX-Padding: \r\n".length)}`;
    const boundary = multipartType.slice(multipartType.indexOf("=") + 1);
    const body = `--${boundary}\r\n${padding}\r\n${last}\r\n\r\ntext\r\n--${boundary}--\r\n`;
    return (await owner.send("POST", "/user_uploads", Buffer.from(body), { "Content-Type": multipartType })).body;
  };
  t.equal((await send(limits.upload_part_headers_bytes_max)).filename, "notes.txt", "at the bound");
  t.equal(
    (await send(limits.upload_part_headers_bytes_max + 1)).filename,
    "notes.tx",
    "one byte over: the rest of the header is ignored",
  );
});

t.test("[S3] upload_image_header_bytes: an image is recognized if its header ends within these bytes", async (t) => {
  const jpeg = await picture("jpeg", 30, 20);
  const headEnd = await bytesNeeded(jpeg);
  /** Inserts comments after the first marker until the header has this length. */
  const withHead = (bytes: number) => {
    const comments: Buffer[] = [];
    for (let left = bytes - headEnd; left > 0; ) {
      const size = left > 65_537 ? Math.min(65_537, left - 4) : left;
      const comment = Buffer.alloc(size, "x");
      comment.set([0xff, 0xfe]);
      comment.writeUInt16BE(size - 2, 2);
      comments.push(comment);
      left -= size;
    }
    return Buffer.concat([jpeg.subarray(0, 2), ...comments, jpeg.subarray(2)]);
  };
  const isShown = async (bytes: number) => {
    const file = await uploaded(owner, withHead(bytes), '"p.jpg"');
    const id = await owner.say("general", "pictures", linkTo(file));
    return (await owner.get(`/messages/${id}`)).body.message.content.includes("30x20");
  };
  t.equal(await isShown(limits.upload_image_header_bytes), true, "at the bound");
  t.equal(await isShown(limits.upload_image_header_bytes + 1), false, "one over");
});

/** The number of bytes that the image library needs before it reports the dimensions. */
async function bytesNeeded(jpeg: Buffer): Promise<number> {
  const isEnough = (bytes: number) =>
    sharp(jpeg.subarray(0, bytes), { failOn: "none" })
      .metadata()
      .then(() => true)
      .catch(() => false);
  let bytes = 100;
  while (!(await isEnough(bytes))) bytes++;
  return bytes;
}
