/** Large copies are flushed in pieces, so that other flushes on the disk do not wait (src/store/gentle-flush.ts). */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { flushTreeGently } from "../../src/store/gentle-flush.ts";
import { temporaryFolder } from "../support/server.ts";

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

t.test("flushing in pieces changes no byte and no mode", async (t) => {
  const folder = temporaryFolder(t);
  const piece = limits.flush_piece_bytes;
  const inner = join(folder, "inner");
  mkdirSync(inner);
  const files = [0, 1, piece, piece + 1, 3 * piece + 17].map((bytes) => {
    const path = join(inner, String(bytes));
    writeFileSync(path, randomBytes(bytes), { mode: 0o600 });
    return { path, bytes, hash: hashOf(path) };
  });
  const readOnly = join(folder, "read-only");
  writeFileSync(readOnly, "as it is");
  chmodSync(readOnly, 0o400);
  await flushTreeGently(folder);
  for (const { path, bytes, hash } of files) {
    t.equal(statSync(path).size, bytes);
    t.equal(statSync(path).mode & 0o777, 0o600);
    t.equal(hashOf(path), hash, `${bytes} bytes`);
  }
  t.equal(readFileSync(readOnly, "utf8"), "as it is");
});

/** Whether the system lets programs write past its memory there. */
function takesDirectWrites(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_DIRECT));
    return true;
  } catch {
    return false;
  }
}

t.test("a store that LMDB wrote past the memory is not written once more", async (t) => {
  const folder = temporaryFolder(t);
  const longAgo = 1_000_000_000;
  const files = ["data.mdb", "upload"].map((name) => {
    const path = join(folder, name);
    writeFileSync(path, randomBytes(2 * limits.flush_piece_bytes));
    utimesSync(path, longAgo, longAgo);
    return { name, path, hash: hashOf(path) };
  });
  const isPast = takesDirectWrites(join(folder, "data.mdb"));
  t.comment(`${folder} ${isPast ? "takes" : "does not take"} such writes`);
  await flushTreeGently(folder);
  for (const { name, path, hash } of files) {
    const isWritten = statSync(path).mtimeMs !== longAgo * 1000;
    t.equal(isWritten, name === "upload" || !isPast, name);
    t.equal(hashOf(path), hash, "its bytes are the same");
  }
});
