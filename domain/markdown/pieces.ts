/** Writes the result of parsing (schemas/parsed-content.ts). */
import type { Piece, Reference } from "../../schemas/parsed-content.ts";

export class PieceWriter {
  readonly #pieces: Piece[] = [];
  #html = "";

  html(html: string): void {
    this.#html += html;
  }

  reference(reference: Reference): void {
    if (this.#html !== "") this.#pieces.push(this.#html);
    this.#html = "";
    this.#pieces.push(reference);
  }

  /** The pieces, without a trailing line break. */
  finish(): Piece[] {
    const last = this.#html.endsWith("\n") ? this.#html.slice(0, -1) : this.#html;
    this.#html = "";
    if (last !== "") this.#pieces.push(last);
    return this.#pieces;
  }
}
