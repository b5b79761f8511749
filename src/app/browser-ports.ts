/**
 * Ports that browsers and `fetch` never connect to, because servers of other protocols listen there ("port blocking" of
 * the WHATWG Fetch Standard). A server on such a port looks healthy, but browsers cannot open its page.
 */
import type { Config } from "./config.ts";

const blocked: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);

export function isBlockedPort(port: number): boolean {
  return blocked.has(port);
}

/** @returns null if browsers connect to the address, or it is none; without a port it has the usual one of its scheme */
export function blockedPortOf(address: string): number | null {
  const port = URL.canParse(address) ? Number(new URL(address).port) : 0;
  return isBlockedPort(port) ? port : null;
}

/**
 * The warnings of a start about addresses that people open in a browser. With a proxy in front, only SITE_URL says
 * which.
 * @param url where the server listens
 */
export function blockedPortWarnings(
  { siteUrl, trustsProxy, adminAddress }: Pick<Config, "siteUrl" | "trustsProxy" | "adminAddress">,
  url: string,
): readonly string[] {
  const warnings: string[] = [];
  const site = siteUrl ?? (trustsProxy ? null : url);
  const port = site === null ? null : blockedPortOf(site);
  if (port !== null) warnings.push(warning(port, "the page", siteUrl === null ? "PORT" : "port in SITE_URL"));
  if (adminAddress.kind === "tcp" && isBlockedPort(adminAddress.port)) {
    warnings.push(warning(adminAddress.port, "the operator's page", "port in ADMIN_LISTEN"));
  }
  return warnings;
}

function warning(port: number, page: string, what: string): string {
  const other = "Programs that do not use fetch, such as curl and Python, connect as usual.";
  return `Browsers refuse to connect to port ${port}, so nobody can open ${page}: choose another ${what}. ${other}`;
}
