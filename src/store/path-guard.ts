/**
 * Checks that an open file or folder is still the one at its path: a data folder may be removed or replaced under a
 * running server.
 */
import { statSync } from "node:fs";

/** This process must stop writing: anything that it acknowledged from now on would be lost. */
export class OwnershipLost extends Error {
  override readonly name = "OwnershipLost";
}

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
}

export class PathGuard {
  readonly #path: string;
  readonly #identity: Identity;
  #modifiedAt = 0n;
  /** The last look found the file as the one before had. */
  #isStored = false;

  /** @throws Error when nothing is at the path */
  constructor(path: string) {
    this.#path = path;
    this.#identity = statSync(path, { bigint: true });
  }

  /** @throws OwnershipLost when something else, or nothing, is at the path now */
  verify(): void {
    this.#verified();
  }

  /**
   * Looks at the file once, and verifies it.
   * @returns false if it was not written between the last two looks. Two writes within a tick of the kernel's clock
   *   have the same time, so one look without a change is not enough.
   * @throws OwnershipLost as `verify` does
   */
  mayHaveChanged(): boolean {
    const { mtimeNs } = this.#verified();
    const isSame = mtimeNs === this.#modifiedAt;
    const mayHave = !isSame || !this.#isStored;
    this.#modifiedAt = mtimeNs;
    this.#isStored = isSame;
    return mayHave;
  }

  #verified(): Identity {
    const found = identityAt(this.#path);
    if (found === null) throw removed(this.#path);
    if (found.ino !== this.#identity.ino || found.dev !== this.#identity.dev) throw lost(this.#path, "was replaced");
    return found;
  }
}

export function removed(path: string): OwnershipLost {
  return lost(path, "was removed");
}

function lost(path: string, how: string): OwnershipLost {
  return new OwnershipLost(
    `${path} ${how} while the server ran on it. The server stops: further writes would be lost.`,
  );
}

/** A path that can no longer be checked counts as removed. */
function identityAt(path: string): Identity | null {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null;
  }
}
