/** Uploads files, with progress. Each file is a link in the text when it has arrived. */
import { signal } from "@preact/signals";
import { chat } from "../store.ts";
import { addLine } from "./insertion.ts";

export interface Upload {
  readonly id: number;
  readonly name: string;
  /** From 0 to 1. */
  readonly progress: number;
  readonly problem: string | null;
  readonly file: File;
  /** The same until an answer arrives, so that an attempt whose answer was lost is stored once. */
  readonly key: string;
}

export const uploads = signal<readonly Upload[]>([]);

/** Whether files are above the page that would be uploaded. */
export const isDropping = signal(false);

/** Further ones wait for a free place. */
const uploadsAtOnceMax = 3;
const requests = new Map<number, XMLHttpRequest>();
/** Links to files that have arrived, by id, while others are on their way: files stand in the order of choice. */
const links = new Map<number, string>();
let count = 0;

function change(id: number, change: Partial<Upload>): void {
  uploads.value = uploads.peek().map((one) => (one.id === id ? { ...one, ...change } : one));
}

export function dropUpload(id: number): void {
  requests.get(id)?.abort();
  requests.delete(id);
  uploads.value = uploads.peek().filter((one) => one.id !== id);
  if (uploads.peek().length === 0) links.clear();
  startNext();
}

export function retryUpload(id: number): void {
  change(id, { problem: null, progress: 0 });
  startNext();
}

export function addFiles(files: Iterable<File>): void {
  const mib = chat.peek()?.max_file_upload_size_mib ?? 25;
  const added = [...files].map((file) => {
    const isTooLarge = file.size > mib * 1024 * 1024;
    const problem = isTooLarge ? `The file is larger than ${mib} MiB, the limit of this organization.` : null;
    return { id: ++count, name: file.name || "pasted.png", progress: 0, problem, file, key: newKey() };
  });
  uploads.value = [...uploads.peek(), ...added];
  startNext();
}

const newKey = () => `upload-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;

function startNext(): void {
  for (const upload of uploads.peek()) {
    if (requests.size >= uploadsAtOnceMax) return;
    if (upload.problem === null && !requests.has(upload.id)) start(upload);
  }
}

function linkOf(name: string, url: string): string {
  return `[${name.replace(/[[\]]/g, "")}](${url})`;
}

function start({ id, file, name, key }: Upload): void {
  // Only this kind of request reports how much was sent.
  const request = new XMLHttpRequest();
  requests.set(id, request);
  request.open("POST", "/api/v1/user_uploads");
  request.setRequestHeader("Idempotency-Key", key);
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) change(id, { progress: event.loaded / event.total });
  });
  request.addEventListener("loadend", () => {
    if (!requests.delete(id)) return;
    const answer = parse(request.responseText);
    if (request.status === 200 && typeof answer["url"] === "string") {
      const link = linkOf(name, answer["url"]);
      addLine(
        link,
        [...links].flatMap(([other, one]) => (other > id ? [one] : [])),
      );
      links.set(id, link);
      dropUpload(id);
      return;
    }
    const isLost = request.status === 0;
    const why = isLost ? "The network failed." : String(answer["msg"] ?? `Status ${request.status}`);
    change(id, { problem: `The file was not uploaded: ${why}`, ...(isLost ? {} : { key: newKey() }) });
    startNext();
  });
  const form = new FormData();
  form.set("file", file, name);
  request.send(form);
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
