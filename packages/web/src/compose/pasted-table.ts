/** Cells that were copied in a spreadsheet, as a table of the message. */
import { composing } from "./compose-state.ts";
import { insertAtCaret, textArea } from "./insertion.ts";

/** More lines are a file rather than a message. */
const rowsMax = 200;

/** Rows and cells: separated by tabs; a cell with line breaks or quotes is quoted. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  const part = /(\t|\r?\n)(?:"((?:[^"]|"")*)"(?=\t|\r?\n|$)|([^\t\r\n]*))/g;
  for (const [, separator, quoted, plain = ""] of `\n${text.replace(/\r?\n$/, "")}`.matchAll(part)) {
    if (separator !== "\t") rows.push([]);
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  return rows;
}

const escaped = (cell: string) =>
  cell
    .trim()
    .replace(/\s*\r?\n\s*/g, " ")
    .replaceAll("|", "\\|");

/** @returns null if these are no rows and columns for a message */
function tableOf(text: string): string | null {
  const rows = cellsOf(text);
  const width = Math.max(...rows.map((row) => row.length));
  if (width < 2 || rows.length > rowsMax) return null;
  const lines = rows.map(
    (row) => `| ${Array.from({ length: width }, (_, at) => escaped(row[at] ?? "")).join(" | ")} |`,
  );
  return [lines[0], `|${" --- |".repeat(width)}`, ...lines.slice(1)].join("\n");
}

/**
 * Inserts the table as a block of its own.
 * @returns false if these are no rows and columns for a message
 */
export function insertTable(cells: string): boolean {
  const table = tableOf(cells);
  if (table === null) return false;
  const { text } = composing.peek();
  const before = text.slice(0, textArea()?.selectionEnd ?? text.length);
  const gap = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  insertAtCaret(`${gap}${table}\n`);
  return true;
}
