/**
 * Requests that a page of another site makes a browser send. A browser adds the credentials that it remembers to any of them, so a
 * change is only believed where the page cannot have sent it without asking first (Fetch Metadata; Origin for older browsers).
 */

/** Headers of those names, "" without. */
export interface PageHeaders {
  readonly host: string;
  readonly origin: string;
  readonly fetchSite: string;
  readonly fetchMode: string;
  /**
   * It shows that the page told the browser to add what it remembers: there are cookies, or the header that Fetch Metadata keeps for
   * such requests of other sites (`Sec-Fetch-Storage-Access`). Without it nothing is certain: not every browser sends that header.
   */
  readonly isCredentialed: boolean;
}

/** Programs send neither header, and are no page. */
export function isFromForeignPage({
  host,
  origin,
  fetchSite,
}: Pick<PageHeaders, "host" | "origin" | "fetchSite">): boolean {
  if (fetchSite !== "") return fetchSite === "cross-site" || fetchSite === "same-site";
  return origin !== "" && !isOriginOf(origin, host);
}

/**
 * A form, an image or a script of another site. A script that asks under CORS is let through, as it sets the header itself, which
 * takes a preflight. One that has the browser add the header cannot be meant: the answers allow no credentials, so the browser would
 * not send it after a preflight, nor show it the answer without one.
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
