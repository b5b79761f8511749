// The lines that open and close a fence: three or more backticks or tildes, a language (or quote, spoiler, math), and
// for spoilers a header. A line with further backticks or tildes is inline code and not a fence.

export interface Fence {
  /** The run of backticks or tildes; the closing line must equal it. */
  readonly marks: string;
  readonly indent: number;
  readonly language: string;
  readonly header: string;
  /** Quotes and spoilers contain blocks, so fences nest in them; code does not. */
  readonly isContainer: boolean;
}

const OPENING = /^( {0,3})(`{3,}|~{3,})([^`~]*)$/;
const CONTAINERS: ReadonlySet<string> = new Set(["quote", "spoiler"]);

export function openFence(line: string): Fence | null {
  const match = OPENING.exec(line);
  if (match === null) return null;
  const [, indent = "", marks = "", rest = ""] = match;
  const words = rest.trim();
  const space = words.search(/\s/);
  const first = space === -1 ? words : words.slice(0, space);
  const language = first.replace(/^\{?\.?/, "").replace(/\}$/, "");
  return {
    marks,
    indent: indent.length,
    language,
    header: space === -1 ? "" : words.slice(space).trim(),
    isContainer: CONTAINERS.has(language),
  };
}

export function closesFence(line: string, fence: Fence): boolean {
  return line.trim() === fence.marks;
}
