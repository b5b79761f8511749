// Requests as bytes, built once before a run. Only a marker of fixed width changes per post, patched in place, so that
// sending costs the generator one write and no string work.

/** The marker before it is patched. Letters around the digits keep Markdown and emoji from changing it. */
export const MARKER = "bm00000000x";
export const MARKER_DIGITS_OFFSET = 2;
export const MARKER_DIGITS = 8;
const MARKER_PREFIX = Buffer.from(MARKER.slice(0, MARKER_DIGITS_OFFSET), "latin1");
const MARKER_SUFFIX = MARKER.charCodeAt(MARKER.length - 1);

export interface RequestParts {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Value of the Authorization header; null: no header. */
  readonly authorization: string | null;
  /** Form fields of the body. A GET has its fields in `path`. */
  readonly form?: Readonly<Record<string, string>>;
  /** A body of JSON instead. */
  readonly json?: unknown;
  readonly host: string;
}

/** The value of a Basic Authorization header. */
export function basicAuthorization(email: string, key: string): string {
  return `Basic ${Buffer.from(`${email}:${key}`, "utf8").toString("base64")}`;
}

/** One keep-alive HTTP/1.1 request as text (ASCII after form encoding). */
export function buildRequest(parts: RequestParts): string {
  const { form, json } = parts;
  const body = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json);
  const lines = [`${parts.method} ${parts.path} HTTP/1.1`, `Host: ${parts.host}`, "User-Agent: ColloquyBench/1"];
  if (parts.authorization !== null) lines.push(`Authorization: ${parts.authorization}`);
  if (body !== undefined) {
    const type = json === undefined ? "application/x-www-form-urlencoded" : "application/json";
    lines.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** A keep-alive request that uploads one text file (ASCII). */
export function buildUpload(
  parts: Pick<RequestParts, "path" | "authorization" | "host"> & { readonly name: string; readonly content: string },
): string {
  const boundary = "------------------------bench";
  const lines = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="filename"; filename="${parts.name}"`,
    "Content-Type: text/plain",
    "",
    parts.content,
    `--${boundary}--`,
    "",
  ];
  const body = lines.join("\r\n");
  const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
  const head = buildRequest({ method: "POST", path: parts.path, authorization: parts.authorization, host: parts.host });
  return `${head.slice(0, -2)}${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Every offset in `bytes` at which a marker's digits start. */
export function markerOffsets(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(MARKER, 0, "latin1"); at !== -1; at = bytes.indexOf(MARKER, at + 1, "latin1")) {
    offsets.push(at + MARKER_DIGITS_OFFSET);
  }
  return offsets;
}

/** Writes `value` as fixed-width digits at each offset. */
export function patchMarkers(bytes: Buffer, offsets: readonly number[], value: number): void {
  for (const offset of offsets) {
    let rest = value;
    for (let at = offset + MARKER_DIGITS - 1; at >= offset; at -= 1) {
      bytes[at] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
}

/** The number in the marker at `at`, or null if there is none. */
function readMarker(bytes: Buffer, at: number): number | null {
  if (at < 0 || bytes[at + MARKER_DIGITS_OFFSET + MARKER_DIGITS] !== MARKER_SUFFIX) return null;
  let value = 0;
  const from = at + MARKER_DIGITS_OFFSET;
  for (let index = from; index < from + MARKER_DIGITS; index += 1) {
    const digit = (bytes[index] ?? 0) - 48;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}

/** The numbers of all markers in the bytes. An event contains its content once, so there is one number per event. */
export function* markersIn(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf(MARKER_PREFIX); at !== -1; at = bytes.indexOf(MARKER_PREFIX, at + MARKER_PREFIX.length)) {
    const marker = readMarker(bytes, at);
    if (marker !== null) yield marker;
  }
}

/** The number of the first marker in `text`, or null if there is none. */
export function markerIn(text: string): number | null {
  return readMarker(Buffer.from(text, "latin1"), text.indexOf(MARKER.slice(0, MARKER_DIGITS_OFFSET)));
}
