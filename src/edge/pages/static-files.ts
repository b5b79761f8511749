/** Files that are the same for every organization: the known emoji, and the picture of the extra emoji. */

import { createHash } from "node:crypto";
import { emojiData, extraEmojiPicture } from "../../../domain/emoji/emoji-data.ts";
import { EXTRA_EMOJI } from "../../../domain/emoji/emoji-table.ts";
import { refuse } from "../../../schemas/errors.ts";
import { type DocumentName, type EncodedDocument, encodedDocument } from "../../api-documents/documents.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import { chooseCoding } from "../http/accepted-encoding.ts";
import { errorPage, filePage, guardedBy, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import { type HttpReply, refused } from "../http/reply.ts";
import { apiPrefix } from "../http/request-head.ts";

const paths: Readonly<Record<DocumentName, string>> = {
  openapi: `${apiPrefix}/openapi.json`,
  asyncapi: `${apiPrefix}/asyncapi.json`,
  page: "/api/docs",
};

function serveDocument(name: DocumentName, rates: RateLimits, request: PageRequest): HttpReply | Promise<HttpReply> {
  if (request.rest !== "") return errorPage(refuse.notFound());
  const state = rates.take("anonymous", request.address());
  if (state !== null && state.retryAfterS > 0) return refused(refuse.rateLimitHit(state.retryAfterS));
  const { ifNoneMatch, acceptEncoding } = request;
  const acceptsGzip = chooseCoding(acceptEncoding, ["gzip"]) !== null;
  return encodedDocument(name).then((document) => replyWith(document, ifNoneMatch, acceptsGzip));
}

function replyWith(document: EncodedDocument, ifNoneMatch: string, acceptsGzip: boolean): HttpReply {
  const { contentType, policy, etag } = document;
  const headers: HttpReply["headers"] = [
    ...guardedBy(policy),
    ["ETag", etag],
    ["Cache-Control", "no-cache"],
    ["Vary", "Accept-Encoding"],
  ];
  if (isKnownTag(ifNoneMatch, etag)) return { status: 304, body: "", headers };
  if (!acceptsGzip) return { status: 200, body: document.plain, contentType, headers };
  return { status: 200, body: document.gzipped, contentType, headers: [...headers, ["Content-Encoding", "gzip"]] };
}

/**
 * The documents of the API and their page (src/api-documents), for everybody: they say nothing about an organization.
 * Requests count against the limit of anonymous callers (D28).
 */
export function apiDocumentPages({ rates }: { readonly rates: RateLimits }): readonly PageRoute[] {
  const entries = Object.entries(paths) as [DocumentName, string][];
  return entries.map(([name, prefix]) => ({
    prefix,
    servesDeactivated: true,
    serve: (request: PageRequest) => serveDocument(name, rates, request),
  }));
}

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
