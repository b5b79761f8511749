/**
 * Interns strings that many sockets share (client, site, network address): every upgrade creates new strings from its
 * headers, and they live as long as the socket. Rarely seen strings are evicted; sockets that use them keep theirs.
 */
import { LRUCache } from "lru-cache";

export class SharedTexts {
  readonly #texts: LRUCache<string, string>;

  /** @param max number of strings that are remembered (S3) */
  constructor(max: number) {
    this.#texts = new LRUCache({ max });
  }

  get size(): number {
    return this.#texts.size;
  }

  /** Returns the first instance of an equal string. */
  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
