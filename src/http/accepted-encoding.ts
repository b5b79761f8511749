/** Whether an Accept-Encoding header names a coding. Clients that allow any coding get the plain content. */
type Coding = "br" | "gzip";

const patterns: Readonly<Record<Coding, RegExp>> = { br: patternOf("br"), gzip: patternOf("gzip") };

/** The name, alone or with a weight above zero. */
function patternOf(coding: Coding): RegExp {
  return new RegExp(`^\\s*${coding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*$)[\\d.]+\\s*)?$`, "i");
}

export function accepts(header: string, coding: Coding): boolean {
  return header.split(",").some((item) => patterns[coding].test(item));
}
