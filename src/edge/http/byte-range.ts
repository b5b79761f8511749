/**
 * The Range header (RFC 9110, section 14): one part of a file, or all of it. A request for several parts gets the whole
 * file.
 */

export type ByteRange =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly start: number; readonly length: number }
  | { readonly kind: "unsatisfiable" };

const shape = /^bytes=(\d{0,15})-(\d{0,15})$/;
const whole: ByteRange = { kind: "whole" };

/** @param size of the file. A header that cannot be parsed is ignored. */
export function readRange(header: string, size: number): ByteRange {
  const [, first, last] = shape.exec(header.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === "") return whole;
  if (first === "")
    return Number(last) === 0 ? { kind: "unsatisfiable" } : part(Math.max(0, size - Number(last)), size - 1);
  if (last !== "" && Number(last) < Number(first)) return whole;
  return part(Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1));
}

function part(start: number, end: number): ByteRange {
  return start > end ? { kind: "unsatisfiable" } : { kind: "part", start, length: end - start + 1 };
}
