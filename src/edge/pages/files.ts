/**
 * Serves uploaded files outside the API: to users who may see them now, and for a minute to anyone with a temporary
 * URL. The content type follows from the extension and a short allowlist, never from the content or the uploader, and
 * files are sandboxed: anything not on the list is a download.
 */

import { attachmentAt } from "../../../domain/attachments.ts";
import { ownProperty } from "../../../domain/own-property.ts";
import type { AttachmentRecord } from "../../../schemas/attachments.ts";
import { refuse } from "../../../schemas/errors.ts";
import { uploadName, uploadsPath } from "../../../schemas/files.ts";
import { limits } from "../../../schemas/limits.ts";
import { type TemporaryUrls, temporaryPrefix } from "../../operations/media/temporary-urls.ts";
import { maySee } from "../../queries/attachments.ts";
import type { Realm } from "../../runtime/realm.ts";
import { descriptors } from "../../store/descriptors.ts";
import { errorPage, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { FileSlice, HttpReply } from "../http/reply.ts";

/**
 * The Range header (RFC 9110, section 14): one part of a file, or all of it. A request for several parts gets the whole
 * file.
 */

type ByteRange =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly start: number; readonly length: number }
  | { readonly kind: "unsatisfiable" };

const shape = /^bytes=(\d{0,15})-(\d{0,15})$/;
const whole: ByteRange = { kind: "whole" };

/** @param size of the file. A header that cannot be parsed is ignored. */
export function readRange(header: string, size: number): ByteRange {
  const [, first, last] = shape.exec(header.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === "") return whole;
  if (first === "")
    return Number(last) === 0 ? { kind: "unsatisfiable" } : part(Math.max(0, size - Number(last)), size - 1);
  if (last !== "" && Number(last) < Number(first)) return whole;
  return part(Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1));
}

function part(start: number, end: number): ByteRange {
  return start > end ? { kind: "unsatisfiable" } : { kind: "part", start, length: end - start + 1 };
}

/** Types that a browser may show inline: images, audio, video, plain text. None of them can contain a script. */
const shownTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  mp3: "audio/mpeg",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  wav: "audio/wav",
  flac: "audio/flac",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  webm: "video/webm",
  txt: "text/plain; charset=utf-8",
};

/** @param sandbox what the file may do that others may not */
function guardsOf(sandbox: string): HttpReply["headers"] {
  const policy = "default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'; sandbox";
  return [
    ["Content-Security-Policy", `${policy}${sandbox}`],
    ["Referrer-Policy", "no-referrer"],
    // Permissions change: a client may cache the file, but must revalidate it each time.
    ["Cache-Control", "private, no-cache"],
  ];
}

export const fileGuards = guardsOf("");

/** A browser's player requests the file once more, with a cookie only from the same origin. No script can run in it. */
const playerGuards = guardsOf(" allow-same-origin");

const downloadPrefix = "download/";

/** @param most maximum number of files that are sent at a time */
export function filePages(
  temporaryUrls: TemporaryUrls,
  most: number = limits.downloads_concurrent_max,
): readonly PageRoute[] {
  let sending = 0;

  async function serve(request: PageRequest): Promise<HttpReply> {
    const { realm, rest } = request;
    const isDownload = rest.startsWith(downloadPrefix);
    const path = isDownload ? rest.slice(downloadPrefix.length) : rest;
    const attachment = path.startsWith(temporaryPrefix)
      ? temporaryUrls.open(realm, path)
      : await visibleAt(request, path);
    if (attachment === undefined) return errorPage(refuse.notFound("File not found"));
    if (sending >= most || !descriptors.hasRoom()) return errorPage(refuse.overloaded());
    sending++;
    let isFileSent = false;
    const release = () => {
      sending--;
    };
    try {
      const answer = await answerWith(request, attachment, isDownload, release);
      isFileSent = answer.file !== undefined;
      return answer;
    } finally {
      if (!isFileSent) release();
    }
  }

  return [{ prefix: uploadsPath, serve }];
}

/** A user who may not see a file gets the same answer as if it did not exist. */
export async function visibleAt({ realm, viewer }: PageRequest, path: string): Promise<AttachmentRecord | undefined> {
  const reader = viewer();
  const attachment = attachmentAt(realm.view, path);
  if (attachment === undefined) return undefined;
  return (await maySee(realm.view, reader, attachment)) ? attachment : undefined;
}

/** @param release called when the file of the answer, if any, was sent */
async function answerWith(
  { realm, ifNoneMatch, range, ifRange }: PageRequest,
  attachment: AttachmentRecord,
  isDownload: boolean,
  release: () => void,
): Promise<HttpReply> {
  const { file, size } = attachment;
  const etag = `"${file}"`;
  const extension = /\.([^.]+)$/.exec(attachment.pathName)?.[1]?.toLowerCase() ?? "";
  const shown = isDownload ? undefined : ownProperty(shownTypes, extension);
  const guards = /^(?:audio|video)\//.test(shown ?? "") ? playerGuards : fileGuards;
  const headers: HttpReply["headers"] = [...guards, ["Accept-Ranges", "bytes"], ["ETag", etag]];
  if (isKnownTag(ifNoneMatch, etag)) return { status: 304, body: "", headers };
  const wanted: ByteRange = ifRange === "" || ifRange === etag ? readRange(range, size) : { kind: "whole" };
  if (wanted.kind === "unsatisfiable") {
    return { status: 416, body: "", headers: [...headers, ["Content-Range", `bytes */${size}`]] };
  }
  const { start, length } = wanted.kind === "part" ? wanted : { start: 0, length: size };
  const slice = await openSlice(realm, file, start, length, release);
  if (slice === null) return errorPage(refuse.notFound("File not found"));
  const described: HttpReply["headers"] = [
    ...headers,
    ["Content-Disposition", disposition(shown === undefined ? "attachment" : "inline", attachment.name)],
    ...(wanted.kind === "part" ? ([["Content-Range", `bytes ${start}-${start + length - 1}/${size}`]] as const) : []),
  ];
  return {
    status: wanted.kind === "part" ? 206 : 200,
    body: "",
    contentType: shown ?? "application/octet-stream",
    headers: described,
    file: slice,
  };
}

async function openSlice(
  realm: Realm,
  file: string,
  start: number,
  length: number,
  release: () => void,
): Promise<FileSlice | null> {
  const handle = await realm.files.open(uploadName(file));
  if (handle === null) return null;
  return {
    start,
    length,
    async read(position, bytesMax) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesMax), 0, bytesMax, position);
      return buffer.subarray(0, bytesRead);
    },
    async close() {
      release();
      await handle.close();
    },
  };
}

/** RFC 6266: the name in ASCII for old clients, and in UTF-8. */
function disposition(kind: "attachment" | "inline", name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const whole = encodeURIComponent(name).replace(/['()*!]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${whole}`;
}
