/**
 * Decodes and re-encodes uploaded pictures, so that only pixels survive: no metadata, no trailing bytes. Formats are
 * detected by content, and all loaders of the library but those for the four formats are disabled (no SVG, no PDF).
 * Pixels, frames, time and concurrency are bounded (S3). The library takes tens of megabytes, so it is loaded with the
 * first picture.
 */
import type { Metadata, Sharp, SharpOptions } from "sharp";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { BoundedWork } from "../../runtime/bounded-work.ts";

export interface AvatarPicture {
  /** PNG, `avatar_size_px` square. */
  readonly small: Buffer;
  /** PNG, `avatar_medium_size_px` square. */
  readonly medium: Buffer;
}

export interface EmojiPicture {
  readonly image: Buffer;
  readonly format: "png" | "gif" | "webp";
  /** PNG of the first frame; null if the picture is not animated. */
  readonly still: Buffer | null;
}

/** Properties of a picture that is stored unchanged. */
export interface Measured {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly contentType: string;
  readonly isAnimated: boolean;
}

/** Reads up to `bytesMax` bytes from the start of a file. */
type ReadHead = (bytesMax: number) => Promise<Buffer>;

/** Formats by their first bytes. The library is not called for any other file. */
const stillStart = /^(?:\x89PNG\r\n|\xff\xd8\xff)/;
/** For these formats the frames, and the size of a WebP, are known only when the whole file was read. */
const animatedStart = /^(?:GIF8[79]a|RIFF.{4}WEBP)/s;

type Library = (input: Buffer, options: SharpOptions) => Sharp;

const input: SharpOptions = { limitInputPixels: limits.picture_pixels_max, failOn: "error" };
const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** The enabled loaders, all from memory. */
const loaders = [
  "VipsForeignLoadJpegBuffer",
  "VipsForeignLoadPngBuffer",
  "VipsForeignLoadWebpBuffer",
  "VipsForeignLoadNsgifBuffer",
];

let library: Promise<Library> | null = null;

function load(): Promise<Library> {
  library ??= import("sharp").then(({ default: sharp }) => {
    sharp.block({ operation: ["VipsForeignLoad"] });
    sharp.unblock({ operation: loaders });
    // Pictures are hardly ever sent twice, so nothing is cached; one thread per picture, because several may be
    // processed at once.
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return library;
}

/** For a picture that has too many pixels or frames, or takes too long. */
const tooLarge = "Image size exceeds limit.";
const undecodable = "Could not decode image; did you upload an image file?";

export class Pictures {
  readonly #work = new BoundedWork(limits.pictures_concurrent_max, limits.pictures_waiting_max);

  /** Cropped to a centered square, and rotated by its EXIF orientation. */
  avatar(bytes: Buffer): Promise<AvatarPicture | Refusal> {
    return this.#inTurn(async (sharp) => {
      const size = limits.avatar_medium_size_px;
      const medium = await bounded(sharp(bytes, input).autoOrient().resize(size, size, { fit: "cover" }).png());
      const small = await bounded(sharp(medium, input).resize(limits.avatar_size_px, limits.avatar_size_px).png());
      return { small, medium };
    });
  }

  /** Fitted into a square without cropping. An animation is kept, with a still picture in addition. */
  emoji(bytes: Buffer): Promise<EmojiPicture | Refusal> {
    return this.#inTurn(async (sharp) => {
      const { format, pages = 1 } = await sharp(bytes, input).metadata();
      if (pages > limits.emoji_frames_max) return refuse.badRequest(tooLarge);
      const still = await bounded(fitted(sharp(bytes, input).autoOrient()).png());
      if (pages === 1 || (format !== "gif" && format !== "webp")) return { image: still, format: "png", still: null };
      const image = await bounded(fitted(sharp(bytes, { ...input, animated: true })).toFormat(format));
      return { image, format, still };
    });
  }

  /** PNG, cropped to a centered square. */
  realmIcon(bytes: Buffer): Promise<Buffer | Refusal> {
    return this.#inTurn((sharp) => {
      const size = limits.realm_icon_size_px;
      return bounded(sharp(bytes, input).autoOrient().resize(size, size, { fit: "cover" }).png());
    });
  }

  /** PNG, not cropped; a large picture is scaled down. */
  realmLogo(bytes: Buffer): Promise<Buffer | Refusal> {
    return this.#inTurn((sharp) => {
      const { realm_logo_width_px: width, realm_logo_height_px: height } = limits;
      const small = sharp(bytes, input).autoOrient().resize(width, height, { fit: "inside", withoutEnlargement: true });
      return bounded(small.png());
    });
  }

  /** Scales a picture to thumbnail size: the first frame, or the first frames if it should be animated. */
  thumbnail(bytes: Buffer, isAnimated: boolean): Promise<Buffer | Refusal> {
    return this.#inTurn(async (sharp) => {
      if (!isAnimated) return bounded(shrunk(sharp(bytes, input).autoOrient()).webp());
      const { width, height, pages = 1 } = await sharp(bytes, input).metadata();
      const framesMax = Math.min(limits.thumbnail_frames_max, Math.floor(limits.picture_pixels_max / (width * height)));
      return bounded(shrunk(sharp(bytes, { ...input, pages: Math.min(pages, framesMax) })).webp());
    });
  }

  /** Measures a picture; null if a client could not show the file in a message. */
  async measure(read: ReadHead): Promise<Measured | Refusal | null> {
    const start = (await read(12)).toString("latin1");
    const mayMove = animatedStart.test(start);
    if (!mayMove && !stillStart.test(start)) return null;
    const measured = await this.#work.run(async () => {
      const sharp = await load();
      const options: SharpOptions = { ...input, failOn: "none" };
      const head = await read(mayMove ? limits.thumbnail_source_bytes_max : limits.upload_image_header_bytes);
      return { metadata: await metadataOf(sharp(head, options)) };
    });
    // Must not be reported as "no picture", because the upload's row would keep that forever.
    if (measured === null) return refuse.overloaded();
    const { metadata } = measured;
    if (metadata === null || metadata.width * metadata.height > limits.picture_pixels_max) return null;
    const { width, height, autoOrient, format, pages = 1 } = metadata;
    return {
      widthPx: autoOrient?.width ?? width,
      heightPx: autoOrient?.height ?? height,
      contentType: `image/${format}`,
      isAnimated: pages > 1 && pages <= limits.animation_frames_max,
    };
  }

  async #inTurn<T>(work: (sharp: Library) => Promise<T | Refusal>): Promise<T | Refusal> {
    const done = await this.#work.run(async () => {
      const sharp = await load();
      // The library throws synchronously for an empty buffer, so the call runs inside an async function.
      return (async () => work(sharp))().catch(refusalOf);
    });
    return done ?? refuse.overloaded();
  }
}

function fitted(picture: Sharp): Sharp {
  const size = limits.emoji_size_px;
  return picture.resize(size, size, { fit: "contain", background: transparent });
}

function metadataOf(picture: Sharp): Promise<Metadata | null> {
  return picture.metadata().catch(() => null);
}

function shrunk(picture: Sharp): Sharp {
  const { thumbnail_width_px_max: width, thumbnail_height_px_max: height } = limits;
  return picture.resize(width, height, { fit: "inside", withoutEnlargement: true });
}

function bounded(picture: Sharp): Promise<Buffer> {
  return picture.timeout({ seconds: limits.picture_seconds_max }).toBuffer();
}

/** Any decoder error is the picture's fault: reject it with a text that does not name the library. */
function refusalOf(error: unknown): Refusal {
  const isTooLarge = /exceeds pixel limit|timeout/.test(String(error));
  return refuse.badRequest(isTooLarge ? tooLarge : undecodable);
}
