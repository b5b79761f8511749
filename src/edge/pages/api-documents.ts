/**
 * The documents of the API and their page (src/api-documents), for everybody: they say nothing about an organization.
 * Requests count against the limit of anonymous callers (D28).
 */

import { refuse } from "../../../schemas/errors.ts";
import { type DocumentName, type EncodedDocument, encodedDocument } from "../../api-documents/documents.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import { chooseCoding } from "../http/accepted-encoding.ts";
import { errorPage, guardedBy, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import { type HttpReply, refused } from "../http/reply.ts";
import { apiPrefix } from "../http/request-head.ts";

const paths: Readonly<Record<DocumentName, string>> = {
  openapi: `${apiPrefix}/openapi.json`,
  asyncapi: `${apiPrefix}/asyncapi.json`,
  page: "/api/docs",
};

function serve(name: DocumentName, rates: RateLimits, request: PageRequest): HttpReply | Promise<HttpReply> {
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

export function apiDocumentPages({ rates }: { readonly rates: RateLimits }): readonly PageRoute[] {
  const entries = Object.entries(paths) as [DocumentName, string][];
  return entries.map(([name, prefix]) => ({
    prefix,
    servesDeactivated: true,
    serve: (request: PageRequest) => serve(name, rates, request),
  }));
}
