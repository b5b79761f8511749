/**
 * A client's copy of unread and starred messages: those of a state, changed by events as clients do (behaviour 4.4).
 */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

export class FlagsMirror {
  readonly #userId: number;
  /** The place of each unread message: "channel:topic", or the other participants' ids. */
  readonly #unread: Map<number, string>;
  readonly #starred: Set<number>;

  constructor(state: Json) {
    this.#userId = state.user_id;
    this.#unread = new Map(unreadPlaces(state));
    this.#starred = new Set(state.starred_messages);
  }

  apply(event: Json): void {
    this.#appliers[event.type]?.(event);
  }

  readonly #appliers: Readonly<Record<string, (event: Json) => void>> = {
    message: ({ message, flags }) => {
      if (!flags.includes("read")) this.#unread.set(message.id, this.#placeOf(message));
      if (flags.includes("starred")) this.#starred.add(message.id);
    },
    update_message_flags: (event) => (event.flag === "read" ? this.#read(event) : this.#star(event)),
    update_message: (event) => this.#move(event),
    delete_message: (event) => {
      for (const id of event.message_ids ?? [event.message_id]) {
        this.#unread.delete(id);
        this.#starred.delete(id);
      }
    },
  };

  #placeOf(message: Json): string {
    if (message.type === "stream") return `${message.stream_id}:${message.subject}`;
    const ids: number[] = message.display_recipient.map((person: Json) => person.id);
    return directPlace(ids.filter((id) => id !== this.#userId));
  }

  #read({ op, messages: ids, all: isAll, message_details: details }: Json): void {
    if (isAll) this.#unread.clear();
    if (op === "add") for (const id of ids) this.#unread.delete(id);
    else {
      for (const [id, detail] of Object.entries<Json>(details)) {
        const place = detail.type === "stream" ? `${detail.stream_id}:${detail.topic}` : directPlace(detail.user_ids);
        this.#unread.set(Number(id), place);
      }
    }
  }

  #star({ op, flag, messages: ids }: Json): void {
    if (flag !== "starred") return;
    for (const id of ids) {
      if (op === "add") this.#starred.add(id);
      else this.#starred.delete(id);
    }
  }

  /** Moved messages are unread in their new topic or channel. */
  #move({ message_ids: ids, stream_id: channelId, new_stream_id: newChannelId, orig_subject, subject }: Json): void {
    if (orig_subject === undefined) return;
    const place = `${newChannelId ?? channelId}:${subject ?? orig_subject}`;
    for (const id of ids) if (this.#unread.has(id)) this.#unread.set(id, place);
  }

  picture() {
    return { unread: [...this.#unread].sort(([a], [b]) => a - b), starred: [...this.#starred].sort((a, b) => a - b) };
  }
}

function directPlace(others: readonly number[]): string {
  return [...others].sort((a, b) => a - b).join();
}

/** The places of a state's unread messages. */
function unreadPlaces({ unread_msgs: unread, user_id: userId }: Json): [number, string][] {
  const groups: [string, number[]][] = [
    ...unread.streams.map((group: Json) => [`${group.stream_id}:${group.topic}`, group.unread_message_ids]),
    ...unread.pms.map((group: Json) => [
      directPlace([group.other_user_id].filter((id) => id !== userId)),
      group.unread_message_ids,
    ]),
    ...unread.huddles.map((group: Json) => {
      const others = group.user_ids_string.split(",").map(Number);
      return [directPlace(others.filter((id: number) => id !== userId)), group.unread_message_ids];
    }),
  ];
  return groups.flatMap(([place, ids]) => ids.map((id): [number, string] => [id, place]));
}
