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

export function decodeIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let last = 0;
  let distance = 0;
  let scale = 1;
  for (const byte of bytes) {
    if (byte >= 128) {
      distance += (byte - 128) * scale;
      scale *= 128;
      continue;
    }
    last += distance + byte * scale;
    ids.push(last);
    distance = 0;
    scale = 1;
  }
  return ids;
}
