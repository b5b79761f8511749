// What parsing leaves behind: ready HTML, interleaved with references to what only the realm's state can tell (who is
// meant by a name, which channel, which realm emoji). Plain data, so that it travels inside a command (M4, M9).

/** `typed` is ready HTML: what is shown when the reference leads nowhere. */
export type Reference =
  | {
      readonly kind: "user";
      readonly name: string | null;
      readonly id: number | null;
      readonly silent: boolean;
      readonly typed: string;
    }
  | { readonly kind: "group"; readonly name: string; readonly silent: boolean; readonly typed: string }
  | { readonly kind: "channel"; readonly channel: string; readonly typed: string }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string; readonly typed: string }
  | {
      readonly kind: "message";
      readonly channel: string;
      readonly topic: string;
      readonly messageId: number;
      readonly typed: string;
    }
  | { readonly kind: "emoji"; readonly name: string; readonly typed: string }
  /** Code that can be highlighted (code-highlighter.ts); where nobody does that, it is shown as `typed`. */
  | { readonly kind: "code"; readonly code: string; readonly language: string; readonly typed: string }
  | PreviewReference;

/** An uploaded file that is shown below the paragraph that links to it. */
export interface PreviewReference {
  readonly kind: "image" | "video";
  readonly path: string;
  readonly href: string;
  readonly title: string;
  readonly typed: string;
}

export type Piece = string | Reference;

export interface ParsedContent {
  readonly pieces: readonly Piece[];
  /** The source begins with "/me "; whether it is a me-message depends on its being one paragraph, too. */
  readonly startsWithMe: boolean;
  readonly hasChannelWildcard: boolean;
  readonly hasTopicWildcard: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  /** What follows `/user_uploads/` in the message's links, each once, in order. */
  readonly attachmentPaths: readonly string[];
}

/** Collects pieces; neighbouring HTML becomes one string. */
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

  /** The pieces; HTML at the very end loses its trailing line break. */
  finish(): Piece[] {
    const last = this.#html.endsWith("\n") ? this.#html.slice(0, -1) : this.#html;
    this.#html = "";
    if (last !== "") this.#pieces.push(last);
    return this.#pieces;
  }
}
