// Borders of table cells that are none: inside inline code of a row, `|` is a character of the code (the public server's rule;
// markdown-it would end the cell there and drop what is left over). Hidden for the time of its table rule behind a character
// of the same length that no message holds. `\|` stays a border that is escaped, as everywhere in tables.
import { findCodeSpans } from "./inline-index.ts";

const CODE_BORDER = "\0";
const UNESCAPED_BORDER = /(?<!\\)\|/g;

/** Lines of a message with the borders in code hidden. Linear; lengths and positions stay what they are. */
export function hideCodeBorders(source: string): string {
  if (!source.includes("`") || !source.includes("|")) return source;
  return source.split("\n").map(hideInLine).join("\n");
}

/** A cell as it was typed. */
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
