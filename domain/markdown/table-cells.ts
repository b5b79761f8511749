// Hides `|` inside inline code of a table row, which belongs to the code (as in Zulip; markdown-it would end the cell
// there and drop the rest). While its table rule runs, they are replaced by a character of the same length that no
// message contains. `\|` stays an escaped border, as everywhere in tables.
import { findCodeSpans } from "./inline-index.ts";

const CODE_BORDER = "\0";
const UNESCAPED_BORDER = /(?<!\\)\|/g;

/** The lines of a message with borders in code hidden. Linear; lengths and positions do not change. */
export function hideCodeBorders(source: string): string {
  if (!source.includes("`") || !source.includes("|")) return source;
  return source.split("\n").map(hideInLine).join("\n");
}

/** Restores a cell as it was typed. */
export function showCodeBorders(cell: string): string {
  return cell.replaceAll(CODE_BORDER, "|");
}

function hideInLine(line: string): string {
  if (!line.includes("|")) return line;
  const parts: string[] = [];
  let taken = 0;
  for (const { contentStart, contentEnd } of findCodeSpans(line).values()) {
    const code = line.slice(contentStart, contentEnd).replace(UNESCAPED_BORDER, CODE_BORDER);
    parts.push(line.slice(taken, contentStart), code);
    taken = contentEnd;
  }
  return parts.join("") + line.slice(taken);
}
