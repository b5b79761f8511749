/**
 * What the server gives outside the API, to anybody: uploaded pictures, and small pages that links in mails lead to. No script,
 * no outside asset; every answer carries headers that keep a browser from guessing or running anything.
 */
import { errorBody, errorCodes, type Refusal } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { Performed, Submitted } from "../runtime/calls.ts";
import type { Realm } from "../runtime/realm.ts";

export interface PageRequest {
  readonly realm: Realm;
  /** The decoded path after the route's prefix. */
  readonly rest: string;
  readonly siteUrl: string;
  /** HEAD changes nothing: mail programs look at links with it. */
  readonly method: "GET" | "HEAD" | "POST";
  /** What was sent with POST. */
  readonly form: () => Submitted | Refusal;
  /** Where the request came from, for limits; asked for before anything is awaited. */
  readonly address: () => string;
  /** Headers of these names, "" without. */
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
  /** Who asks; null when nobody is logged in, or with credentials that are no good. */
  readonly viewer: () => UserRecord | null;
}

export interface PageRoute {
  /** Begins with a slash, and ends with one where something may follow. */
  readonly prefix: string;
  /** Its pages have forms, which are sent to their own address. */
  readonly takesForms?: true;
  /** Served for an organization that is deactivated, too. */
  readonly servesDeactivated?: true;
  readonly serve: (request: PageRequest) => Performed | Promise<Performed>;
}

const guards: Performed["headers"] = [
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"],
  ["Referrer-Policy", "no-referrer"],
];

/** @param html a whole document, with everything from outside escaped */
export function htmlPage(status: number, html: string): Performed {
  const headers: Performed["headers"] = [...guards, ["Cache-Control", "no-store"]];
  return { status, body: html, contentType: "text/html; charset=utf-8", headers };
}

/** A file whose name changes with its content: whoever has it need not ask again. */
export function filePage(contentType: string, body: Buffer): Performed {
  return {
    status: 200,
    body,
    contentType,
    headers: [...guards, ["Cache-Control", "public, max-age=31536000, immutable"]],
  };
}

/** Whether the client has what the tag stands for (If-None-Match). */
export function isKnownTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(",").some((tag) => tag.trim() === etag);
}

/** Elsewhere, for now: whoever asks again asks here. */
export function redirectPage(location: string): Performed {
  const headers: Performed["headers"] = [...guards, ["Location", location], ["Cache-Control", "private, no-cache"]];
  return { status: 302, body: "", headers };
}

/** A refusal in the envelope, as everywhere. */
export function errorPage(refused: Refusal): Performed {
  return { status: errorCodes[refused.code].status, body: JSON.stringify(errorBody(refused)), headers: guards };
}
