/**
 * Where a search found what it found: `match_content` and `match_subject` of each message (behaviour 2.9). Marking a long message
 * takes milliseconds, so it is done message by message in passes (S3), and kept until the answer is given.
 */
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import { escapeAttribute } from "../domain/markdown/escape.ts";
import { highlight } from "../domain/search/highlight.ts";
import type { SearchQuery } from "../domain/search/query.ts";
import { shownTopic } from "../domain/topics.ts";
import { ShownTexts } from "../domain/unknown-people.ts";
import type { View } from "../domain/view.ts";
import type { MessageWalk } from "./message-fetch.ts";

export interface MatchFields {
  readonly match_content: string;
  /** The topic as HTML. */
  readonly match_subject: string;
}

/** Marking a character costs so many times as much as folding it. */
const foldsPerMark = 4;

interface Marked {
  readonly html: string;
  readonly fields: MatchFields;
}

export interface MarksOptions {
  readonly view: View;
  /** null: nothing is marked. */
  readonly search: SearchQuery | null;
  readonly allowsEmptyTopic: boolean;
  readonly reader: UserRecord;
}

export class SearchMarks {
  readonly #options: MarksOptions;
  readonly #texts: ShownTexts;
  readonly #byMessage = new Map<number, Marked>();
  readonly #bySubject = new Map<string, string>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#texts = new ShownTexts(options.view, options.reader);
  }

  /** What of these messages the reader may see when all of them are marked, at this moment. Do not await before it is given. */
  async shown(walk: MessageWalk, found: readonly MessageRecord[]): Promise<readonly MessageRecord[]> {
    let messages = found;
    while (!messages.every((message) => this.#isMarked(message)) && !walk.isAbandoned()) {
      await walk.each(messages, (message) => this.#mark(message));
      messages = walk.still(messages);
    }
    return messages;
  }

  /** Of a message that was `shown`. */
  of(message: MessageRecord): MatchFields {
    this.#mark(message);
    const marked = this.#byMessage.get(message.id);
    if (marked === undefined) throw new Error(`message ${message.id} is not marked`);
    return marked.fields;
  }

  #isMarked(message: MessageRecord): boolean {
    const known = this.#byMessage.get(message.id);
    return (
      known !== undefined && known.html === this.#html(message) && known.fields.match_subject === this.#subject(message)
    );
  }

  /** @returns what it costs, in characters that are folded */
  #mark(message: MessageRecord): number {
    if (this.#isMarked(message)) return 0;
    const { search } = this.#options;
    const html = this.#html(message);
    const content = search === null ? html : highlight(search, html);
    this.#byMessage.set(message.id, {
      html,
      fields: { match_content: content, match_subject: this.#subject(message) },
    });
    return search === null ? 0 : foldsPerMark * html.length;
  }

  #html(message: MessageRecord): string {
    // Without a search a text is shown as it is (behaviour 2.9); the answer is looked through on its way out.
    return this.#options.search === null ? message.rendered : this.#texts.html(message);
  }

  #subject(message: MessageRecord): string {
    const { view, search, allowsEmptyTopic } = this.#options;
    const conversation = view.row("conversations", message.conversationId);
    const isDirect = conversation === undefined || conversation.userIds !== null;
    const subject = escapeAttribute(isDirect ? "" : shownTopic(view, conversation.topic, allowsEmptyTopic));
    if (search === null) return subject;
    const known = this.#bySubject.get(subject);
    if (known !== undefined) return known;
    const marked = highlight(search, subject);
    this.#bySubject.set(subject, marked);
    return marked;
  }
}
