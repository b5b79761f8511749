/** How traces of system calls are read: an error here would look like a lost write. */
import t from "tap";
import { readDiskTrace } from "./disk-trace.ts";

const dataDir = "/data";
const text = (content: string) =>
  `"${[...Buffer.from(content)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;

t.test("a descriptor belongs to the file that was opened last, however the calls of two threads cross", async (t) => {
  const trace = [
    `10 openat(AT_FDCWD, ${text("/data/upload")}, O_WRONLY|O_CREAT, 0600) = 7`,
    "10 close(7 <unfinished ...>",
    `11 openat(AT_FDCWD, ${text("/data/segment")}, O_WRONLY|O_CREAT, 0600) = 7`,
    "10 <... close resumed>)             = 0",
    `11 pwrite64(7, ${text("head")}, 4, 0) = 4`,
    "11 fdatasync(7 <unfinished ...>",
    "11 <... fdatasync resumed>)         = 0",
  ].join("\n");
  const { ops } = readDiskTrace([trace], dataDir);
  const named = ops.find((op) => op.kind === "entries" && op.changes[0]?.[0] === "segment");
  const segment = named?.kind === "entries" ? named.changes[0]?.[1] : null;
  const found = ops.filter((op) => op.of === segment).map(({ kind, start, end }) => [kind, start, end]);
  t.match(found, [
    ["data", 4, 4],
    ["flush", 5, 6],
  ]);
});

t.test("a write to a file that was never opened is an error of the trace, not a lost write", async (t) => {
  t.throws(() => readDiskTrace([`11 pwrite64(7, ${text("head")}, 4, 0) = 4`], dataDir), /pwrite64 on descriptor 7/);
});
