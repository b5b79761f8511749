/** A process that reads a store, like a backup in its middle, until it is killed: the other half of backup-beside.test.ts. */
import { open } from "lmdb";

const database = open<Buffer, string>({ path: process.argv[2] ?? "", overlappingSync: false, encoding: "binary" });
database.useReadTransaction();
process.stdout.write("reading\n");
setInterval(() => undefined, 1000);
