/**
 * Highlights search matches: `match_content` and `match_subject` of each message (behaviour 2.9). Highlighting a long
 * message takes milliseconds, so messages are processed one by one in passes (S3; MessageWalk.shown).
 */

import { escapeAttribute } from "../../domain/markdown/escape.ts";
import { VisibleTexts } from "../../domain/redaction.ts";
import { planFor } from "../../domain/redaction-plan.ts";
import { highlight } from "../../domain/search/highlight.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { MatchFields, type MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";

/** The parts of them that are redacted for a restricted guest. */
export const marksPlan = planFor(MatchFields);

/** Cost of highlighting a character, relative to writing it as JSON. */
const encodedPerMark = 32;

export interface MarksOptions {
  readonly view: View;
  /** null: nothing is highlighted. */
  readonly search: SearchQuery | null;
  readonly allowsEmptyTopic: boolean;
  readonly reader: UserRecord;
}

export class SearchMarks {
  readonly #options: MarksOptions;
  readonly #texts: VisibleTexts;
  readonly #bySubject = new Map<string, string>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#texts = new VisibleTexts(options.view, options.reader);
  }

  /** For the message in its current state. */
  of(message: MessageRecord): MatchFields {
    const { search } = this.#options;
    const html = this.#html(message);
    return {
      match_content: search === null ? html : highlight(search, html),
      match_subject: this.#subject(message),
    };
  }

  /** Cost of highlighting a message, in characters of JSON written. */
  costOf({ rendered }: MessageRecord): number {
    return this.#options.search === null ? 0 : encodedPerMark * rendered.length;
  }

  #html(message: MessageRecord): string {
    // Without a search, the text is returned unchanged (behaviour 2.9) and redacted when the answer is sent.
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
