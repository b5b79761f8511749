/** The parts of a multipart/form-data body that is in memory (RFC 7578). Large files are parsed as they arrive instead (file-receiver.ts). */
import { shortened } from "../../../domain/attachments.ts";
import { codePoints } from "../../../domain/text.ts";
import { limits } from "../../../schemas/limits.ts";

export interface Part {
  /** null if the part has no name. */
  readonly name: string | null;
  /** null if the part is a value and not a file. */
  readonly filename: string | null;
  readonly contentType: string;
  /** A view of the body, not a copy. */
  readonly data: Buffer;
}

/**
 * Data after the last delimiter is ignored, even if it was meant as a part.
 * @param partsMax reading stops after one part more than this
 * @returns null if the headers of a part have no end, or exceed their bounds
 */
export function readParts(body: Buffer, boundary: string, partsMax: number): readonly Part[] | null {
  const parts: Part[] = [];
  const delimiter = `\r\n--${boundary}`;
  const first = `--${boundary}`;
  let start = body.toString("latin1", 0, first.length) === first ? first.length : behind(body, delimiter, 0);
  while (start !== null && parts.length <= partsMax) {
    const next = behind(body, delimiter, start);
    if (next === null) break;
    const part = readPart(body.subarray(start, next - delimiter.length));
    if (part === null) return null;
    parts.push(part);
    start = next;
  }
  return parts;
}

/** The end of the next delimiter from `start` on; null if there is none. */
function behind(body: Buffer, delimiter: string, start: number): number | null {
  const found = body.indexOf(delimiter, start, "latin1");
  return found < 0 ? null : found + delimiter.length;
}

/** @param bytes from the end of a delimiter's boundary to the line break before the next one */
function readPart(bytes: Buffer): Part | null {
  const end = bytes.indexOf("\r\n\r\n", 0, "latin1");
  // The line break behind the delimiter is not one of their bytes.
  if (end < 0 || end > limits.upload_part_headers_bytes_max + 2) return null;
  const [, ...headers] = bytes.toString("utf8", 0, end).split("\r\n", limits.upload_part_headers_max + 2);
  const parameters = parametersOf(header(headers, "content-disposition"));
  if (headers.length > limits.upload_part_headers_max || parameters === null) return null;
  return {
    name: parameters.get("name") ?? null,
    filename: extendedName(parameters) ?? parameters.get("filename") ?? null,
    contentType: header(headers, "content-type"),
    data: bytes.subarray(end + 4),
  };
}

/** "" when it is absent. */
function header(headers: readonly string[], name: string): string {
  const line = headers.find((text) => text.slice(0, name.length + 1).toLowerCase() === `${name}:`);
  return line === undefined ? "" : line.slice(name.length + 1).trim();
}

/**
 * The file's name in `filename*` (RFC 6266, RFC 8187). It counts wherever it is: `filename` beside it may be an encoded
 * word (RFC 2047), for programs that do not know the other form.
 * @returns null if there is none, or it cannot be read
 */
export function extendedName(parameters: ReadonlyMap<string, string> | null): string | null {
  const [, charset = "", encoded = ""] = /^([\w-]+)'[\w-]*'(\S*)$/.exec(parameters?.get("filename*") ?? "") ?? [];
  if (/^utf-8$/i.test(charset)) return decodePercent(encoded);
  if (!/^iso-8859-1$/i.test(charset)) return null;
  return encoded.replace(/%([\da-f]{2})/gi, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Percent-decodes a path segment or a form value; null if it is malformed. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * By name, the first of each. Browsers write quotes as %22, so a value ends at the first one.
 * @returns null if there are too many
 */
export function parametersOf(value: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let count = 0;
  for (const [, name = "", quoted, plain = ""] of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"([^"]*)"|([^\s;]*))/g)) {
    if (++count > limits.upload_part_header_parameters_max) return null;
    const known = name.toLowerCase();
    if (!parameters.has(known)) parameters.set(known, quoted ?? plain);
  }
  return parameters;
}

/**
 * The last part of the client's file name, without characters that could reverse the reading direction. It is a label
 * for users, never a path, a header or a stored file name. A long name keeps its extension.
 */
export function fileLabel(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, "");
  return shortened(plain, limits.file_name_code_points_max, codePoints);
}
