/** What is pasted into a message: files are uploaded, cells of a spreadsheet become a table, and text stays text. */
import { insertBlock } from "./insertion.ts";
import { addFiles } from "./uploads.ts";

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

/**
 * @param text what the clipboard has as plain text
 * @param html what it has as HTML, or ""
 * @returns null if it is no table
 */
function pastedTable(text: string, html: string): string | null {
  if (!text.includes("\t") || !/<table\b/i.test(html)) return null;
  const rows = cellsOf(text);
  const width = Math.max(...rows.map((row) => row.length));
  if (width < 2 || rows.length > rowsMax) return null;
  const lines = rows.map(
    (row) => `| ${Array.from({ length: width }, (_, at) => escaped(row[at] ?? "")).join(" | ")} |`,
  );
  return [lines[0], `|${" --- |".repeat(width)}`, ...lines.slice(1)].join("\n");
}

export function takePaste(event: ClipboardEvent): void {
  const { clipboardData: data } = event;
  if (data === null) return;
  const [text, html] = [data.getData("text/plain"), data.getData("text/html")];
  const table = pastedTable(text, html);
  // Office programs add a picture of the text.
  const isText = data.files.length === 0 || (text !== "" && html !== "");
  if (table === null && isText) return;
  event.preventDefault();
  if (table === null) addFiles(data.files);
  else insertBlock(table);
}
