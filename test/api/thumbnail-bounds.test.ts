/** Limits of thumbnails (S3): the queue, the cache, and the frames of an animation. */
import t from "tap";
import { hasThumbnail } from "../../domain/attachments.ts";
import { limits } from "../../schemas/limits.ts";
import { Pictures } from "../../src/operations/media/pictures.ts";
import { Thumbnails } from "../../src/operations/media/thumbnails.ts";
import { animation, longGif, lookAt, picture } from "../support/pictures.ts";

const pictures = new Pictures();
const entryBytes = 512;
const { thumbnail_animation_bytes_max: animationBytesMax, thumbnails_cached_bytes_max: cachedBytesMax } = limits;

async function made(thumbnail: ReturnType<Thumbnails["get"]>): Promise<Buffer> {
  const bytes = await thumbnail;
  if (!Buffer.isBuffer(bytes)) throw new Error(bytes.msg);
  return bytes;
}

t.test("[S3] animation_frames_max: a picture with more frames is shown as a still", async (t) => {
  const max = limits.animation_frames_max;
  for (const frames of [1, 2, max, max + 1]) {
    const measured = await pictures.measure(async (bytesMax) => longGif(frames).subarray(0, bytesMax));
    t.match(measured, { widthPx: 1, isAnimated: frames > 1 && frames <= max }, `${frames} frames`);
  }
});

t.test("[S3] pictures_waiting_max: a picture that is rejected under load is not remembered as invalid", async (t) => {
  const busy = new Pictures();
  const bytes = await picture("png", 4, 4);
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const read = async (bytesMax: number) => {
    if (bytesMax > 12) await gate;
    return bytes;
  };
  const fits = limits.pictures_concurrent_max + limits.pictures_waiting_max;
  const measured = Array.from({ length: fits }, () => busy.measure(read));
  t.match(await busy.measure(read), { code: "OVERLOADED" });
  open();
  for (const one of await Promise.all(measured)) t.match(one, { widthPx: 4, heightPx: 4, contentType: "image/png" });
});

t.test("[S3] thumbnail_source_bytes_max: a larger picture is shown in full size", async (t) => {
  const image = { widthPx: 1, heightPx: 1, contentType: "image/png" };
  t.equal(hasThumbnail({ image, size: limits.thumbnail_source_bytes_max }), true);
  t.equal(hasThumbnail({ image, size: limits.thumbnail_source_bytes_max + 1 }), false);
  t.equal(hasThumbnail({ image: null, size: 1 }), false);
});

t.test("[S3] thumbnails_waiting_max: further ones are rejected, and the same ones share the work", async (t) => {
  const thumbnails = new Thumbnails(pictures);
  const bytes = await picture("png", 4, 4);
  let reads = 0;
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const read = async () => {
    reads++;
    await gate;
    return bytes;
  };
  const pending = Array.from({ length: 1 + limits.thumbnails_waiting_max }, (_, index) =>
    thumbnails.get(`file ${index}`, false, read),
  );
  t.match(await thumbnails.get("one more", false, read), { code: "OVERLOADED" });
  const shared = thumbnails.get("file 0", false, read);
  open();
  t.ok((await Promise.all(pending)).every(Buffer.isBuffer));
  t.equal(await shared, await pending[0]);
  t.equal(reads, pending.length);
  t.ok(Buffer.isBuffer(await thumbnails.get("one more", false, read)), "a rejection under load is not remembered");
});

t.test("[S3] thumbnails_cached_bytes_max: the least recently used thumbnails go and are generated again", async (t) => {
  const bytes = await picture("png", 64, 64);
  const { length } = await made(new Thumbnails(pictures).get("a", false, async () => bytes));
  for (const [room, expected] of [
    [2 * (length + entryBytes), 2],
    [2 * (length + entryBytes) - 1, 3],
  ] as const) {
    const thumbnails = new Thumbnails(pictures, { cachedBytesMax: room, animationBytesMax });
    let reads = 0;
    const read = async () => {
      reads++;
      return bytes;
    };
    for (const file of ["a", "b", "a"]) await made(thumbnails.get(file, false, read));
    t.equal(reads, expected, `${room} bytes`);
  }
});

t.test("[S3] a picture that cannot be decoded is tried once; a missing file is not remembered", async (t) => {
  const thumbnails = new Thumbnails(pictures);
  let reads = 0;
  const read = async () => (++reads === 1 ? null : Buffer.from("\x89PNG\r\n\x1a\n and no more", "latin1"));
  t.match(await thumbnails.get("a", false, read), { code: "NOT_FOUND" });
  for (let time = 0; time < 3; time++) t.match(await thumbnails.get("a", false, read), { code: "BAD_REQUEST" });
  t.equal(reads, 2);
});

t.test("[S3] thumbnail_animation_bytes_max: a larger animation has a still thumbnail", async (t) => {
  const bytes = await animation("gif", 5);
  const read = async () => bytes;
  const { length } = await made(new Thumbnails(pictures).get("a", true, read));
  for (const [bound, pages] of [
    [length, 5],
    [length - 1, 1],
  ] as const) {
    const thumbnails = new Thumbnails(pictures, { cachedBytesMax, animationBytesMax: bound });
    t.equal((await lookAt(await made(thumbnails.get("a", true, read)))).pages, pages, `${bound} bytes`);
  }
});

t.test("[S3] thumbnail_frames_max: only the first frames of an animation move", async (t) => {
  const max = limits.thumbnail_frames_max;
  for (const frames of [max, max + 1]) {
    const bytes = await animation("gif", frames);
    const thumbnail = await made(new Thumbnails(pictures).get("a", true, async () => bytes));
    t.equal((await lookAt(thumbnail)).pages, max, `of ${frames}`);
  }
});
