/**
 * Chooses the coding of a content by the Accept-Encoding header. Clients that allow any coding get the plain content.
 */
export type Coding = "br" | "gzip";

const patterns: Readonly<Record<Coding, RegExp>> = { br: patternOf("br"), gzip: patternOf("gzip") };

/** The name, alone or with a weight. */
function patternOf(coding: Coding): RegExp {
  return new RegExp(`^\\s*${coding}\\s*(?:;\\s*q=([01](?:\\.\\d{0,3})?)\\s*)?$`, "i");
}

/** 0: the client cannot read it. */
function weightOf(header: string, coding: Coding): number {
  const weights = header.split(",").flatMap((item) => {
    const match = patterns[coding].exec(item);
    return match === null ? [] : [Number(match[1] ?? "1")];
  });
  return Math.max(0, ...weights);
}

/**
 * @param offered in the server's order, which decides between codings that the client likes equally
 * @returns null if the client gets the plain content
 */
export function chooseCoding(header: string, offered: readonly Coding[]): Coding | null {
  let best: { readonly coding: Coding | null; readonly weight: number } = { coding: null, weight: 0 };
  for (const coding of offered) {
    const weight = weightOf(header, coding);
    if (weight > best.weight) best = { coding, weight };
  }
  return best.coding;
}
