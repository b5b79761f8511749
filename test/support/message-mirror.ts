/**
 * A client's copy of messages: fetched once, then changed by events as clients do (OpenAPI, GET /events: message,
 * update_message, delete_message, reaction, submessage). Applying an event twice, or to a newer message, changes
 * nothing.
 */

// biome-ignore lint/suspicious/noExplicitAny: messages and events are JSON of any shape
type Json = any;

/** The fields of a message that events change. */
const followed = [
  "content",
  "subject",
  "stream_id",
  "topic_links",
  "is_me_message",
  "last_edit_timestamp",
  "last_moved_timestamp",
  "edit_history",
  "reactions",
  "submessages",
];

export class MessageMirror {
  readonly #messages: Map<number, Json>;

  constructor(messages: readonly Json[]) {
    this.#messages = new Map(messages.map((message) => [message.id, structuredClone(message)]));
  }

  get ids(): number[] {
    return [...this.#messages.keys()].sort((a, b) => a - b);
  }

  apply(events: readonly Json[]): void {
    for (const event of events) {
      if (event.type === "message")
        this.#messages.set(event.message.id, structuredClone({ ...event.message, flags: event.flags }));
      if (event.type === "delete_message") {
        for (const id of event.message_ids ?? [event.message_id]) this.#messages.delete(id);
      }
      if (event.type === "update_message") this.#update(event);
      if (event.type === "reaction") this.#react(event);
      if (event.type === "submessage") this.#attach(event);
    }
  }

  #update(event: Json): void {
    const isMove = event.orig_subject !== undefined;
    for (const id of isMove ? event.message_ids : [event.message_id]) {
      const message = this.#messages.get(id);
      if (message === undefined) continue;
      const entry: Json = { user_id: event.user_id, timestamp: event.edit_timestamp };
      if (event.content !== undefined && id === event.message_id) {
        message.content = event.rendered_content;
        message.is_me_message = event.is_me_message;
        message.last_edit_timestamp = event.edit_timestamp;
        message.flags = event.flags;
        entry.prev_content = event.orig_content;
        entry.prev_rendered_content = event.orig_rendered_content;
      }
      if (event.new_stream_id !== undefined) {
        message.stream_id = event.new_stream_id;
        entry.prev_stream = event.stream_id;
        entry.stream = event.new_stream_id;
      }
      if (event.subject !== undefined) {
        message.subject = event.subject;
        message.topic_links = event.topic_links;
        entry.prev_topic = event.orig_subject;
        entry.topic = event.subject;
      }
      if (isMove && !isToggle(event)) message.last_moved_timestamp = event.edit_timestamp;
      const history: Json[] = message.edit_history ?? [];
      if (!history.some((known) => sorted(known) === sorted(entry))) message.edit_history = [entry, ...history];
    }
  }

  #react(event: Json): void {
    const message = this.#messages.get(event.message_id);
    if (message === undefined) return;
    const { user_id, emoji_name, emoji_code, reaction_type } = event;
    const reaction = { emoji_name, emoji_code, reaction_type, user_id };
    message.reactions = message.reactions.filter((known: Json) => sorted(known) !== sorted(reaction));
    if (event.op === "add") message.reactions.push(reaction);
  }

  #attach({ submessage_id: id, message_id, msg_type, sender_id, content }: Json): void {
    const message = this.#messages.get(message_id);
    if (message === undefined || message.submessages.some((known: Json) => known.id === id)) return;
    message.submessages.push({ id, message_id, sender_id, msg_type, content });
  }

  snapshot(): Json[] {
    return snapshotOf([...this.#messages.values()]);
  }
}

function isToggle({ orig_subject: before, subject: after, new_stream_id: channel }: Json): boolean {
  return channel === undefined && (`✔ ${before}` === after || before === `✔ ${after}`);
}

function sorted(value: Json): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The messages in a form that can be compared with a fresh fetch. */
export function snapshotOf(messages: readonly Json[]): Json[] {
  return messages
    .map((message) => {
      const snapshot: Json = { id: message.id, isMentioned: message.flags.includes("mentioned") };
      for (const name of followed) snapshot[name] = message[name];
      snapshot.reactions = message.reactions.map(sorted).sort();
      snapshot.edit_history = message.edit_history?.map(sorted);
      return snapshot;
    })
    .sort((a, b) => a.id - b.id);
}
