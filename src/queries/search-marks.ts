/**
 * Where a search found what it found: `match_content` and `match_subject` of each message (behaviour 2.9). Marking a long message
 * takes milliseconds, so it is done message by message in passes (S3; MessageWalk.shown).
 */
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import { escapeAttribute } from "../domain/markdown/escape.ts";
import { highlight } from "../domain/search/highlight.ts";
import type { SearchQuery } from "../domain/search/query.ts";
import { shownTopic } from "../domain/topics.ts";
import { ShownTexts } from "../domain/unknown-people.ts";
import type { View } from "../domain/view.ts";

export interface MatchFields {
  readonly match_content: string;
  /** The topic as HTML. */
  readonly match_subject: string;
}

/** Marking a character costs so many times as much as writing it as JSON. */
const encodedPerMark = 32;

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
  readonly #bySubject = new Map<string, string>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#texts = new ShownTexts(options.view, options.reader);
  }

  /** Of a message as it is now. */
  of(message: MessageRecord): MatchFields {
    const { search } = this.#options;
    const html = this.#html(message);
    return {
      match_content: search === null ? html : highlight(search, html),
      match_subject: this.#subject(message),
    };
  }

  /** What it costs to mark a message, in characters of JSON that is written. */
  costOf({ rendered }: MessageRecord): number {
    return this.#options.search === null ? 0 : encodedPerMark * rendered.length;
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
