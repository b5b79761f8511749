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
}

/** Programs send neither header, and are no page. */
export function isFromForeignPage({ host, origin, fetchSite }: Omit<PageHeaders, "fetchMode">): boolean {
  if (fetchSite !== "") return fetchSite === "cross-site" || fetchSite === "same-site";
  return origin !== "" && !isOriginOf(origin, host);
}

/**
 * A form, an image or a script of another site. A script that asks under CORS is let through: browsers are never asked for
 * credentials (README, Decisions of our own), so it must have set the header itself, which takes a preflight.
 */
export function isForgeable(page: PageHeaders): boolean {
  return page.fetchMode !== "cors" && isFromForeignPage(page);
}

function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const called = `${protocol}//${host}`;
  return URL.canParse(called) && new URL(called).host === named;
}
