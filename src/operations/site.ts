/**
 * The server's address as the client wrote it. It is not trusted, so links consist of a scheme and a host and nothing
 * else.
 */

/** @returns null if the URL has more than a scheme and a host */
export function originOf(siteUrl: string): string | null {
  if (!URL.canParse(siteUrl)) return null;
  const { href, origin } = new URL(siteUrl);
  return href === `${origin}/` ? origin : null;
}

/** The host name of a Host header, without the port. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}
