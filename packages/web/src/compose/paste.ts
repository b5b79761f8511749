/** What is pasted into a message: files are uploaded, cells of a spreadsheet become a table, and text stays text. */
import { loadLater } from "../views/lazy-views.ts";
import { insertAtCaret } from "./insertion.ts";
import { addFiles } from "./uploads.ts";

async function insertCells(text: string): Promise<void> {
  const isInserted = await loadLater().then(
    ({ insertTable }) => insertTable(text),
    () => false,
  );
  if (!isInserted) insertAtCaret(text);
}

export function takePaste(event: ClipboardEvent): void {
  const { clipboardData: data } = event;
  if (data === null) return;
  const [text, html] = [data.getData("text/plain"), data.getData("text/html")];
  const areCells = text.includes("\t") && /<table\b/i.test(html);
  // Office programs add a picture of the text.
  const isText = data.files.length === 0 || (text !== "" && html !== "");
  if (isText && !areCells) return;
  event.preventDefault();
  if (areCells) void insertCells(text);
  else addFiles(data.files);
}
