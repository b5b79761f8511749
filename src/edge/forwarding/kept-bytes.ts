/** Bytes that a node keeps in memory at a time for all that it forwards of one kind (S3). */

export interface Kept {
  /** How much of it is kept now. @returns false, and nothing changes, when there is no room for more */
  set(bytes: number): boolean;
  release(): void;
}

export class KeptBytes {
  readonly #bytesMax: number;
  #sum = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get sum(): number {
    return this.#sum;
  }

  open(): Kept {
    let kept = 0;
    return {
      set: (bytes) => {
        if (bytes > kept && this.#sum + bytes - kept > this.#bytesMax) return false;
        this.#sum += bytes - kept;
        kept = bytes;
        return true;
      },
      release: () => {
        this.#sum -= kept;
        kept = 0;
      },
    };
  }
}
