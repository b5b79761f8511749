/**
 * Texts that many sockets have alike (program, site, network address), each kept once: a header's text is a new string with every
 * upgrade, and stays as long as its socket. What is rarely seen leaves the list; sockets that have it keep theirs.
 */
import { LRUCache } from "lru-cache";

export class SharedTexts {
  readonly #texts: LRUCache<string, string>;

  /** @param max how many are remembered (S3) */
  constructor(max: number) {
    this.#texts = new LRUCache({ max });
  }

  get size(): number {
    return this.#texts.size;
  }

  /** The same text, as the string that was seen first. */
  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
