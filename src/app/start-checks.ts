/** What a start checks before it touches anything: the address to listen on, and the data folder. */
import { lookup } from "node:dns/promises";
import { accessSync, constants, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { BadConfig } from "./config.ts";

/** @throws BadConfig when the name resolves to no address, or to one of another machine */
export async function checkHost(host: string): Promise<void> {
  const cannot = (why: string) => new BadConfig(`HOST=${JSON.stringify(host)} cannot be used: ${why}`);
  const found = await lookup(host).catch(() => null);
  if (found === null) throw cannot("it does not resolve to an address");
  if (!(await isOwnAddress(found.address))) throw cannot(`${found.address} is not an address of this machine`);
}

/** Checked by binding a socket to the address, on any port. */
function isOwnAddress(address: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(0, address, () => probe.close(() => resolve(true)));
  });
}

/** @throws BadConfig when the folder cannot be created or written */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new BadConfig(`DATA_DIR=${JSON.stringify(dataDir)} cannot be used: ${reason}`);
  }
}
