/**
 * The files of organizations for all nodes, in the object store. A file is there before the turn that claims it
 * (store/files.ts), so a node that follows the turn can get it. A node gets what it lacks when it is read.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { limits } from "../../../schemas/limits.ts";
import type { SharedFiles } from "../../store/shared-files.ts";
import { ClusterSilent } from "./cluster-unusable.ts";
import type { ObjectBucket } from "./object-bucket.ts";

export const filesBucket = "files";

export class ClusterFiles implements SharedFiles {
  readonly #realmId: number;
  readonly #bucket: () => Promise<ObjectBucket>;

  constructor(realmId: number, bucket: () => Promise<ObjectBucket>) {
    this.#realmId = realmId;
    this.#bucket = bucket;
  }

  async put(name: string, path: string): Promise<boolean> {
    try {
      const bucket = await this.#bucket();
      const chunks = { highWaterMark: limits.cluster_object_chunk_bytes };
      await bucket.put(objectName(this.#realmId, name), () => createReadStream(path, chunks));
      return true;
    } catch (error) {
      if (error instanceof ClusterSilent) return false;
      throw error;
    }
  }

  async get(name: string, path: string): Promise<boolean> {
    const bucket = await this.#bucket();
    const object = objectName(this.#realmId, name);
    if ((await bucket.find(object)) === null) return false;
    try {
      await pipeline(bucket.read(object), createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
      return true;
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await (await this.#bucket()).remove(objectName(this.#realmId, name));
  }
}

export function objectName(realmId: number, name: string): string {
  return `${realmId}/${name}`;
}

/** @returns null for an object that is no file of an organization */
export function fileOf(object: string): { readonly realmId: number; readonly name: string } | null {
  const match = /^([1-9]\d*)\/(.+)$/.exec(object);
  return match === null ? null : { realmId: Number(match[1]), name: match[2] ?? "" };
}
