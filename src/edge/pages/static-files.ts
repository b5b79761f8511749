/** Files that are the same for every organization: the known emoji, and the picture of the extra emoji. */

import { createHash } from "node:crypto";
import { emojiData } from "../../../domain/emoji/emoji-data.ts";
import { EXTRA_EMOJI } from "../../../domain/emoji/emoji-table.ts";
import { extraEmojiPicture } from "../../../domain/emoji/extra-emoji.ts";
import { refuse } from "../../../schemas/errors.ts";
import { errorPage, filePage, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";

const prefix = "/static/";

interface StaticFile {
  readonly contentType: string;
  readonly body: Buffer;
  readonly etag: string;
}

let files: ReadonlyMap<string, StaticFile> | null = null;

function load(): ReadonlyMap<string, StaticFile> {
  const emoji = emojiData();
  return new Map([
    [emoji.path, fileOf("application/json", emoji.body)],
    [EXTRA_EMOJI.url, fileOf("image/png", extraEmojiPicture())],
  ]);
}

function fileOf(contentType: string, body: Buffer): StaticFile {
  return { contentType, body, etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"` };
}

function serve({ rest, ifNoneMatch }: PageRequest): HttpReply {
  files ??= load();
  const file = files.get(prefix + rest);
  if (file === undefined) return errorPage(refuse.notFound());
  const page = filePage(file.contentType, file.body);
  const headers: HttpReply["headers"] = [...page.headers, ["ETag", file.etag]];
  return isKnownTag(ifNoneMatch, file.etag) ? { status: 304, body: "", headers } : { ...page, headers };
}

export const staticPages: readonly PageRoute[] = [{ prefix, serve }];
