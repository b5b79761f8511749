/**
 * Pictures that people upload: decoded and re-encoded, never kept as they were sent. Four formats are known, by their content;
 * every other loader of the library is switched off before it sees a byte (no SVG, no PDF). Size in pixels, frames, time and
 * how many at once have bounds (S3); work is on the thread pool. Nothing but the pixels survives: no metadata, no trailing
 * bytes. The library is loaded when the first picture comes: it is tens of megabytes.
 */
import type { Metadata, Sharp, SharpOptions } from "sharp";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { BoundedWork } from "./bounded-work.ts";

export interface AvatarPicture {
  /** PNG, `avatar_size_px` square. */
  readonly small: Buffer;
  /** PNG, `avatar_medium_size_px` square. */
  readonly medium: Buffer;
}

export interface EmojiPicture {
  readonly image: Buffer;
  readonly format: "png" | "gif" | "webp";
  /** PNG, the first frame; null when nothing moves. */
  readonly still: Buffer | null;
}

/** Of a picture that stays as it was sent. */
export interface Measured {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly contentType: string;
  readonly isAnimated: boolean;
}

/** Reads the first bytes of a file, at most so many. */
type ReadHead = (bytesMax: number) => Promise<Buffer>;

/** Formats by how a file begins: of any other file, the library is not asked. */
const stillStart = /^(?:\x89PNG\r\n|\xff\xd8\xff)/;
/** Where the frames lie, and a WebP's size, is known only when the whole file is read. */
const animatedStart = /^(?:GIF8[79]a|RIFF.{4}WEBP)/s;

type Library = (input: Buffer, options: SharpOptions) => Sharp;

const input: SharpOptions = { limitInputPixels: limits.picture_pixels_max, failOn: "error" };
const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** What the library may read, each from memory only. */
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
    // Nobody sends the same picture twice; one thread each, since several may be at work.
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return library;
}

/** Of a picture that is too large in pixels, frames or time. */
const tooLarge = "Image size exceeds limit.";
const undecodable = "Could not decode image; did you upload an image file?";

export class Pictures {
  readonly #work = new BoundedWork(limits.pictures_concurrent_max, limits.pictures_waiting_max);

  /** Cut to a square around the middle, turned as the camera says. */
  avatar(bytes: Buffer): Promise<AvatarPicture | Refusal> {
    return this.#inTurn(async (sharp) => {
      const size = limits.avatar_medium_size_px;
      const medium = await bounded(sharp(bytes, input).autoOrient().resize(size, size, { fit: "cover" }).png());
      const small = await bounded(sharp(medium, input).resize(limits.avatar_size_px, limits.avatar_size_px).png());
      return { small, medium };
    });
  }

  /** Fitted into a square whole. What moves goes on moving, and has a still picture beside. */
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

  /** PNG, cut to a square around the middle. */
  realmIcon(bytes: Buffer): Promise<Buffer | Refusal> {
    return this.#inTurn((sharp) => {
      const size = limits.realm_icon_size_px;
      return bounded(sharp(bytes, input).autoOrient().resize(size, size, { fit: "cover" }).png());
    });
  }

  /** PNG, whole; a large one is made smaller. */
  realmLogo(bytes: Buffer): Promise<Buffer | Refusal> {
    return this.#inTurn((sharp) => {
      const { realm_logo_width_px: width, realm_logo_height_px: height } = limits;
      const small = sharp(bytes, input).autoOrient().resize(width, height, { fit: "inside", withoutEnlargement: true });
      return bounded(small.png());
    });
  }

  /** Fits a picture into the size of thumbnails: its first frame, or its first frames when it shall move. */
  thumbnail(bytes: Buffer, isAnimated: boolean): Promise<Buffer | Refusal> {
    return this.#inTurn(async (sharp) => {
      if (!isAnimated) return bounded(shrunk(sharp(bytes, input).autoOrient()).webp());
      const { width, height, pages = 1 } = await sharp(bytes, input).metadata();
      const framesMax = Math.min(limits.thumbnail_frames_max, Math.floor(limits.picture_pixels_max / (width * height)));
      return bounded(shrunk(sharp(bytes, { ...input, pages: Math.min(pages, framesMax) })).webp());
    });
  }

  /** What a file shows; null: nothing that a client could show in a message. */
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
    // Not "no picture": the row of the upload would say so for ever.
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
      // The library throws at once where there are no bytes at all: inside a promise, whatever the work looks like.
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

/** Whatever the decoder did not like, the picture is at fault: it is refused, and the text names no library. */
function refusalOf(error: unknown): Refusal {
  const isTooLarge = /exceeds pixel limit|timeout/.test(String(error));
  return refuse.badRequest(isTooLarge ? tooLarge : undecodable);
}
