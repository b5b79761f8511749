/** A process that owns a data folder until it is stopped: the other half of data-lock.test.ts. */
import { DataFolderInUse, RootStore } from "../../src/store/root.ts";

const folder = process.argv[2] ?? "";
try {
  const root = RootStore.open(folder);
  root.lock();
  // A process name, set later, that looks like the fields after it: /proc/<pid>/stat has the name in parentheses,
  // unescaped.
  if (process.argv[3] !== undefined) process.title = process.argv[3];
  process.stdout.write("locked\n");
} catch (error) {
  if (!(error instanceof DataFolderInUse)) throw error;
  process.stdout.write("refused\n");
}
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
