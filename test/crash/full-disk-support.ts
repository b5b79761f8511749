/** Disks of a few mebibytes (M5), and what a full one answers. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import type { Client } from "../support/client.ts";
import { SmallDisk } from "../support/small-disk.ts";

export const mebibyte = 1024 * 1024;
export const watched = { STORE_FREE_BYTES_MIN: String(8 * mebibyte) };
export const refused = { status: 503, body: { result: "error", code: "STORE_REFUSES_WRITES" } };

export function diskFor(t: Test, mebibytes: number): SmallDisk | null {
  const disk = SmallDisk.mount(t, mebibytes);
  if (disk instanceof SmallDisk) return disk;
  t.pass(`no small disk: ${disk}`, { skip: disk });
  return null;
}

export function kept(disk: SmallDisk, name: string): boolean {
  return existsSync(join(disk.dataDir, name));
}

export function post(client: Client, content: string) {
  return client.post("/messages", { type: "channel", to: "general", topic: "t", content });
}
