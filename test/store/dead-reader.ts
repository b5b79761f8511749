/**
 * A process that reads a store, like a backup in progress, until it is killed: the other half of
 * backup-running-server.test.ts.
 */
import { open } from "lmdb";

const database = open<Buffer, string>({ path: process.argv[2] ?? "", overlappingSync: false, encoding: "binary" });
database.useReadTransaction();
process.stdout.write("reading\n");
setInterval(() => undefined, 1000);
