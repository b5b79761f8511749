/**
 * Form bodies and query strings (spec 4): strict percent-decoding, one value per name, a bounded number of names.
 * Multipart is accepted, because some clients send it; a JSON body counts as no parameters (behaviour 1.3).
 *
 * The parts of a multipart/form-data body that is in memory (RFC 7578). Large files are parsed as they arrive instead
 * (file-receiver.ts).
 */

import { shortened } from "../../../domain/attachments.ts";
import { codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { addParameter, type StagedFile, tooManyParameters, type UploadedFile } from "../../operations/calls.ts";

interface Part {
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
function readParts(body: Buffer, boundary: string, partsMax: number): readonly Part[] | null {
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

/** Filled while a body is read. If `files` is null, parts with a file name are ordinary values. */
interface FormParts {
  readonly values: Map<string, string>;
  readonly files: UploadedFile[] | null;
}

/**
 * Adds the pairs of `a=b&c=d` to a form.
 * @returns a rejection, or null
 */
export function readEncoded(encoded: string, form: Map<string, string>): Refusal | null {
  if (encoded === "") return null;
  let start = 0;
  // Empty pairs count, too: a megabyte of them takes long to skip.
  for (let pairs = 0; start <= encoded.length; pairs++) {
    if (pairs >= limits.form_parameters_max) return tooManyParameters();
    let end = encoded.indexOf("&", start);
    if (end < 0) end = encoded.length;
    if (end > start) {
      const refused = readPair(encoded.slice(start, end), form);
      if (refused !== null) return refused;
    }
    start = end + 1;
  }
  return null;
}

function readPair(pair: string, form: Map<string, string>): Refusal | null {
  const equals = pair.indexOf("=");
  const name = decode(equals < 0 ? pair : pair.slice(0, equals));
  const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
  if (name === null || value === null) return refuse.badRequest("Malformed form encoding");
  return addParameter(form, name, value);
}

/** Returns null if the percent-encoding is malformed or not UTF-8. */
function decode(text: string): string | null {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodePercent(spaced) : spaced;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

export interface RawForm {
  readonly query: string;
  readonly contentType: string;
  readonly body: Buffer | null;
}

/** The contents of a submitted form: texts by name, and files. */
export interface SubmittedForm {
  readonly values: ReadonlyMap<string, string>;
  readonly files: readonly UploadedFile[];
  readonly stagedFiles?: readonly StagedFile[];
}

/** Most reads have no parameters. */
const nothing: SubmittedForm = { values: new Map(), files: [] };

/** Reads a body by its content type, then the query. A name in the query counts only if the body does not have it. */
export function readForm({ query, contentType, body }: RawForm, takesFiles: boolean): SubmittedForm | Refusal {
  if (body === null && query === "") return nothing;
  const parts: FormParts = { values: new Map(), files: takesFiles ? [] : null };
  if (body !== null && body.length > 0) {
    const refused = readBody(contentType, body, parts);
    if (refused !== null) return refused;
  }
  const refused = readQuery(query, parts.values);
  return refused ?? { values: parts.values, files: parts.files ?? [] };
}

/** Adds the query's parameters that the body does not have. */
export function readQuery(query: string, values: Map<string, string>): Refusal | null {
  if (query === "") return null;
  const fromQuery = new Map<string, string>();
  const refused = readEncoded(query, fromQuery);
  if (refused !== null) return refused;
  for (const [name, value] of fromQuery) {
    const refusedName = values.has(name) ? null : addParameter(values, name, value);
    if (refusedName !== null) return refusedName;
  }
  return null;
}

function readBody(contentType: string, body: Buffer, parts: FormParts): Refusal | null {
  const type = contentType.toLowerCase();
  if (type.startsWith("application/x-www-form-urlencoded")) {
    // Most bodies are ASCII, which needs no decoder.
    const text = setBlanks(body) ? body.toString("latin1") : decodeUtf8(body);
    return text === null ? refuse.badRequest("The request body is not valid UTF-8") : readEncoded(text, parts.values);
  }
  if (type.startsWith("multipart/form-data")) return readMultipart(contentType, body, parts);
  return null;
}

const plus = 0x2b;
const blank = 0x20;

/**
 * In an encoded form every plus is a space. Replacing it in the bytes, which we own, saves 1 us per post compared with
 * the string.
 * @returns whether all bytes are ASCII
 */
function setBlanks(body: Buffer): boolean {
  let all = 0;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] as number;
    all |= byte;
    if (byte === plus) body[index] = blank;
  }
  return all < 0x80;
}

function readMultipart(contentType: string, body: Buffer, { values, files }: FormParts): Refusal | null {
  const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]+))/i.exec(contentType);
  const name = boundary?.[1] ?? boundary?.[2] ?? "";
  const parts = name === "" ? null : readParts(body, name, limits.form_parameters_max);
  if (parts === null || parts.length === 0) return malformedMultipart();
  if (parts.length > limits.form_parameters_max) return tooManyParameters();
  for (const part of parts) {
    if (files !== null && part.filename !== null) {
      // A file field of an HTML form in which no file was chosen.
      if (part.filename === "") continue;
      files.push({ filename: fileLabel(part.filename), contentType: part.contentType, bytes: part.data });
      continue;
    }
    const value = decodeUtf8(part.data);
    if (value === null && part.filename !== null) return refuse.badRequest("This operation accepts no files");
    if (value === null) return refuse.badRequest("The request body is not valid UTF-8");
    if (part.name === null) return malformedMultipart();
    const refused = addParameter(values, part.name, value);
    if (refused !== null) return refused;
  }
  return null;
}

export function malformedMultipart(): Refusal {
  return refuse.badRequest("Malformed multipart body");
}
