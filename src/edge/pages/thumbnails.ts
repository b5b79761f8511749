/**
 * Serves thumbnails of uploaded pictures outside the API, to users who may see the picture itself at that moment. A
 * request for a format that the server does not make gets the nearest one (public API, message formatting).
 */

import { hasThumbnail } from "../../../domain/attachments.ts";
import { refuse } from "../../../schemas/errors.ts";
import { thumbnailsPath, uploadName } from "../../../schemas/files.ts";
import { animatedFormat, stillFormat } from "../../../schemas/thumbnails.ts";
import type { Thumbnails } from "../../operations/media/thumbnails.ts";
import { errorPage, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { fileGuards, visibleAt } from "./files.ts";

/** `<path of the picture>/<name of a format>`. */
const shape = /^(.+)\/\d{1,5}x\d{1,5}(-anim)?\.[a-z]{3,4}$/s;

export function thumbnailPages(thumbnails: Thumbnails): readonly PageRoute[] {
  async function serve(request: PageRequest): Promise<HttpReply> {
    const [, path = "", suffix] = shape.exec(request.rest) ?? [];
    const attachment = await visibleAt(request, path);
    if (attachment === undefined || !hasThumbnail(attachment)) return errorPage(refuse.notFound("File not found"));
    const { file, image } = attachment;
    const format = suffix !== undefined && image?.isAnimated === true ? animatedFormat : stillFormat;
    const etag = `"${file}-${format.name}"`;
    const headers: HttpReply["headers"] = [...fileGuards, ["ETag", etag]];
    if (isKnownTag(request.ifNoneMatch, etag)) return { status: 304, body: "", headers };
    const read = () => request.realm.files.read(uploadName(file));
    const made = await thumbnails.get(file, format.animated, read);
    return Buffer.isBuffer(made)
      ? { status: 200, body: made, contentType: `image/${format.format}`, headers }
      : errorPage(made);
  }

  return [{ prefix: thumbnailsPath, serve }];
}
