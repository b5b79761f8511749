// Requests as bytes, made once before a run. The only part that changes per post is a marker of fixed width, patched
// in place, so that sending costs the generator one write and no string work.

/** The marker's text before it is patched. Letters around the digits keep it out of the way of Markdown and emoji. */
export const MARKER = "bm00000000x";
export const MARKER_DIGITS_OFFSET = 2;
export const MARKER_DIGITS = 8;

export interface RequestParts {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Value of the Authorization header; left out when null. */
  readonly authorization: string | null;
  /** Form fields of the body; for GET put them into `path`. */
  readonly form?: Readonly<Record<string, string>>;
  readonly host: string;
}

/** `Basic` credentials as the header wants them. */
export function basicAuthorization(email: string, key: string): string {
  return `Basic ${Buffer.from(`${email}:${key}`, "utf8").toString("base64")}`;
}

/** One keep-alive HTTP/1.1 request as text (ASCII after form encoding). */
export function buildRequest(parts: RequestParts): string {
  const body = parts.form === undefined ? null : new URLSearchParams(parts.form).toString();
  const lines = [`${parts.method} ${parts.path} HTTP/1.1`, `Host: ${parts.host}`, "User-Agent: ColloquyBench/1"];
  if (parts.authorization !== null) lines.push(`Authorization: ${parts.authorization}`);
  if (body !== null) {
    lines.push("Content-Type: application/x-www-form-urlencoded", `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** Every place in `bytes` where a marker's digits begin. */
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
