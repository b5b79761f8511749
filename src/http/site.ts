/** What clients call this server: their word, so that links are made of a scheme and a host and nothing else. */

/** @returns null where it is more than scheme and host */
export function originOf(siteUrl: string): string | null {
  if (!URL.canParse(siteUrl)) return null;
  const { href, origin } = new URL(siteUrl);
  return href === `${origin}/` ? origin : null;
}
