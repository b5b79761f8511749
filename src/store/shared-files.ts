/** Where the other nodes of a cluster find the files of a realm (src/durability/cluster/cluster-files.ts). */
export interface SharedFiles {
  /**
   * Resolves when every node can get the file.
   * @param path where it is on this disk
   * @returns false when it cannot be stored now; no node can get it then
   */
  put(name: string, path: string): Promise<boolean>;
  /**
   * Writes the file to a path where there is none, flushed.
   * @returns false if no node has stored it
   * @throws Error when it is damaged or cannot be read now; nothing is left at the path
   */
  get(name: string, path: string): Promise<boolean>;
  remove(name: string): Promise<void>;
}
