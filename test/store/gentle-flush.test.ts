/** Large copies are flushed in pieces, so that other flushes on the disk do not wait (src/store/gentle-flush.ts). */
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { flushTreeGently } from "../../src/store/gentle-flush.ts";
import { temporaryFolder } from "../support/server.ts";

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

t.test("[operations, Backup and restore] flushing in pieces changes no byte and no mode", async (t) => {
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
