/**
 * Pages outside the API that need no API key: uploaded pictures, and small pages behind links in emails. No scripts, no
 * external assets; every answer has headers that keep a browser from sniffing types or running anything.
 */

import { errorBody, errorCodes, type Refusal, refuse } from "../../../schemas/errors.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { SubmittedForm } from "./form.ts";
import type { HttpReply } from "./reply.ts";

export interface PageRequest {
  readonly realm: Realm;
  /** The decoded path after the route's prefix. */
  readonly rest: string;
  readonly siteUrl: string;
  /** HEAD changes nothing: mail clients check links with it. */
  readonly method: "GET" | "HEAD" | "POST";
  /** The submitted form of a POST. */
  readonly form: () => SubmittedForm | Refusal;
  readonly userAgent: string;
  /** Whether a browser says that a page of another site sent the request (D203). */
  readonly isFromForeignPage: boolean;
  /** The browser's statement about the page that sent the request; "" if there is none. */
  readonly fetchSite: string;
  /** Address of the client, for limits. It must be read before the first `await`. */
  readonly address: () => string;
  /** The headers of these names, or "". */
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
  readonly acceptEncoding: string;
  /** The authenticated user; null without credentials or with invalid ones. */
  readonly viewer: () => UserRecord | null;
}

export interface PageRoute {
  /** Starts with a slash, and ends with one if a path may follow. */
  readonly prefix: string;
  /** The prefix is the whole path. */
  readonly isWhole?: true;
  /** Its pages have forms that are submitted to their own URL. */
  readonly takesForms?: true;
  /** Also served for a deactivated organization. */
  readonly servesDeactivated?: true;
  readonly serve: (request: PageRequest) => HttpReply | Promise<HttpReply>;
}

type PageMethod = PageRequest["method"];

function methodsOf({ takesForms }: PageRoute): readonly PageMethod[] {
  return takesForms === true ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
}

export function takesMethod(route: PageRoute, method: string): method is PageMethod {
  return methodsOf(route).some((one) => one === method);
}

/** @param policy the Content-Security-Policy */
export function guardedBy(policy: string): HttpReply["headers"] {
  return [
    ["Content-Security-Policy", policy],
    ["Referrer-Policy", "no-referrer"],
  ];
}

const guards = guardedBy("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");

/** @param html a complete document, with all external input escaped */
export function htmlPage(status: number, html: string): HttpReply {
  const headers: HttpReply["headers"] = [...guards, ["Cache-Control", "no-store"]];
  return { status, body: html, contentType: "text/html; charset=utf-8", headers };
}

/** A file whose name changes with its content, so clients may cache it forever. */
export function filePage(contentType: string, body: Buffer): HttpReply {
  return {
    status: 200,
    body,
    contentType,
    headers: [...guards, ["Cache-Control", "public, max-age=31536000, immutable"]],
  };
}

/** Whether the client already has the content with this tag (If-None-Match). */
export function isKnownTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(",").some((tag) => tag.trim() === etag);
}

/** A temporary redirect: clients must ask here again. */
export function redirectPage(location: string): HttpReply {
  const headers: HttpReply["headers"] = [...guards, ["Location", location], ["Cache-Control", "private, no-cache"]];
  return { status: 302, body: "", headers };
}

/** A rejection in the usual envelope. */
export function errorPage(refused: Refusal): HttpReply {
  return { status: errorCodes[refused.code].status, body: JSON.stringify(errorBody(refused)), headers: guards };
}

export function methodRefusal(route: PageRoute): HttpReply {
  const allowed = methodsOf(route);
  const refused = errorPage(refuse.methodNotAllowed([...allowed]));
  return { ...refused, headers: [...refused.headers, ["Allow", allowed.join(", ")]] };
}
