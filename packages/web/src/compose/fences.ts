/** Fences of a text, as the server reads them: code, quotes, spoilers and formulas between lines of backticks or tildes. */

const opening = /^ {0,3}(`{3,}|~{3,})([^`~]*)$/;

interface Fence {
  readonly marks: string;
  /** Quotes and spoilers have fences inside; code has none. */
  readonly isContainer: boolean;
}

/** @returns the fences that are open at the end, the innermost last */
export function openFences(text: string): readonly Fence[] {
  const open: Fence[] = [];
  for (const line of text.split("\n")) {
    const inner = open.at(-1);
    if (line.trim() === inner?.marks) {
      open.pop();
      continue;
    }
    const [, marks, words = ""] = inner?.isContainer === false ? [] : (opening.exec(line) ?? []);
    if (marks !== undefined) open.push({ marks, isContainer: /^[{.\s]*(?:quote|spoiler)\b/.test(words) });
  }
  return open;
}

/** Whether nothing at the end of a text is markup. */
export function endsInCode(text: string): boolean {
  return openFences(text).at(-1)?.isContainer === false;
}

/** A text between fences of its own; those that it leaves open end before it does. */
export function fenced(kind: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const closing = openFences(text).map(({ marks }) => `${marks}\n`);
  return `${fence}${kind}\n${text}\n${closing.reverse().join("")}${fence}`;
}
