/** Encodes ascending message ids: the first id, then the differences, seven bits per byte. */

export function encodeIds(ids: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    let rest = id - last;
    last = id;
    // Ids are doubles; bit shifts would truncate those above 31 bits.
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

export function decodeIds(bytes: Uint8Array): Float64Array {
  // A byte ends at most one id.
  const ids = new Float64Array(bytes.length);
  let count = 0;
  let last = 0;
  for (let at = 0; at < bytes.length; at++) {
    let distance = bytes[at] as number;
    for (let scale = 128; distance >= scale; scale *= 128) {
      at++;
      distance += ((bytes[at] as number) - 1) * scale;
    }
    last += distance;
    ids[count++] = last;
  }
  return ids.subarray(0, count);
}
