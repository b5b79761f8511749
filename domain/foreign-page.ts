/**
 * Detects requests that a page of another site makes a browser send. A browser adds stored credentials to any request,
 * so a change is accepted only if the page cannot have sent it without a preflight (Fetch Metadata; Origin for older
 * browsers).
 */

/** The headers of these names, or "". */
export interface PageHeaders {
  readonly host: string;
  readonly origin: string;
  readonly fetchSite: string;
  readonly fetchMode: string;
  /**
   * Whether the browser may have added stored credentials: there are cookies, or the Fetch Metadata header of such
   * cross-site requests (`Sec-Fetch-Storage-Access`). False proves nothing, because not every browser sends that
   * header.
   */
  readonly isCredentialed: boolean;
}

/** The headers of these names, or "". */
export interface PageRequestHeaders extends Pick<PageHeaders, "host" | "origin" | "fetchSite"> {
  readonly method: string;
  readonly referer: string;
}

/**
 * Whether the server's own page sent the request: only then does a cookie count. Fetch Metadata says so. Older browsers,
 * and all browsers that reach the server by plain HTTP under another name than localhost, do not send it: there the
 * origin must be named, by `Origin`, or in a read by `Referer`. Neither can be forged by a page.
 * @param isSecure the connection is encrypted, so the page must have been, too
 */
export function isFromOwnPage({ method, host, origin, referer, fetchSite }: PageRequestHeaders, isSecure: boolean) {
  if (fetchSite !== "") return fetchSite === "same-origin";
  const isRead = method === "GET" || method === "HEAD";
  return isOwnOrigin(origin === "" && isRead ? referer : origin, host, isSecure);
}

/** @param named an origin, or the URL of a page */
export function isOwnOrigin(named: string, host: string, isSecure: boolean): boolean {
  return isOriginOf(named, host) && (!isSecure || named.startsWith("https:"));
}

/** Clients that are not browsers send neither header. */
export function isFromForeignPage({
  host,
  origin,
  fetchSite,
}: Pick<PageHeaders, "host" | "origin" | "fetchSite">): boolean {
  if (fetchSite !== "") return fetchSite === "cross-site" || fetchSite === "same-site";
  return origin !== "" && !isOriginOf(origin, host);
}

/**
 * Whether a form, an image or a script of another site may have sent the request. A CORS script may not: it must set
 * the header itself, which requires a preflight. A script that lets the browser add the header is rejected as well,
 * because our answers do not allow credentials.
 */
export function isForgeable(page: PageHeaders): boolean {
  return isFromForeignPage(page) && (page.fetchMode !== "cors" || page.isCredentialed);
}

function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const called = `${protocol}//${host}`;
  return URL.canParse(called) && new URL(called).host === named;
}
