/**
 * What every user has read, in a form that no server could afford: one row per user and message. The test of read state
 * compares with this model (test/api/read-state-model.test.ts).
 */

interface Row {
  isReceived: boolean;
  isRead: boolean;
  isStarred: boolean;
}

export interface Message {
  readonly id: number;
  readonly sender: number;
  readonly channel: number | null;
  topic: string;
  readonly people: readonly number[];
  readonly mentions: readonly number[];
  readonly isForAll: boolean;
}

export type Flag = "read" | "starred";

/** One row per user and message; users and channels by index. */
export class Model {
  readonly channelIds: readonly number[];
  /** Ids of users, by index. */
  readonly people: readonly number[];
  readonly messages: Message[] = [];
  readonly rows: readonly Map<number, Row>[];
  /** Every user is subscribed to every channel at first. */
  readonly subscribed: readonly Set<number>[];
  readonly muted: readonly Set<number>[];
  readonly policies: readonly Map<string, number>[];
  readonly inactive = new Set<number>();

  constructor(channelIds: readonly number[], people: readonly number[]) {
    this.channelIds = channelIds;
    this.people = people;
    this.rows = people.map(() => new Map());
    this.subscribed = people.map(() => new Set([0, 1, 2]));
    this.muted = people.map(() => new Set());
    this.policies = people.map(() => new Map());
  }

  /** The last channel is private, with protected history. */
  isPrivate(channel: number): boolean {
    return channel === this.channelIds.length - 1;
  }

  canRead(person: number, message: Message): boolean {
    if (message.channel === null) return message.people.includes(person);
    if (!this.isPrivate(message.channel)) return true;
    return this.subscribed[person]?.has(message.channel) === true && this.#row(person, message.id)?.isReceived === true;
  }

  #row(person: number, id: number): Row | undefined {
    return this.rows[person]?.get(id);
  }

  sent(message: Message, isReadBySender: boolean): void {
    this.messages.push(message);
    this.people.forEach((_, person) => {
      const receives =
        message.channel === null
          ? message.people.includes(person)
          : this.subscribed[person]?.has(message.channel) === true;
      if (!receives || this.inactive.has(person)) return;
      const isRead = (message.sender === person && isReadBySender) || this.muted[person]?.has(message.sender) === true;
      this.rows[person]?.set(message.id, { isReceived: true, isRead, isStarred: false });
    });
  }

  flagged(person: number, op: "add" | "remove", flag: Flag, ids: readonly number[]): void {
    for (const message of this.messages.filter(({ id }) => ids.includes(id))) {
      const isIn = message.channel === null || this.subscribed[person]?.has(message.channel) === true;
      if (flag === "read" && op === "remove" && !isIn) continue;
      const row = this.#row(person, message.id) ?? { isReceived: false, isRead: true, isStarred: false };
      if (flag === "read") row.isRead = op === "add";
      else row.isStarred = op === "add";
      this.rows[person]?.set(message.id, row);
    }
  }

  read(person: number, test: (message: Message) => boolean): void {
    for (const message of this.messages.filter(test)) {
      const row = this.#row(person, message.id);
      if (row !== undefined) row.isRead = true;
    }
  }

  /** Within a channel; read and marked messages stay as they are. */
  moved(message: Message, topic: string, mode: "change_one" | "change_later" | "change_all"): void {
    const { topic: former, id: first } = message;
    for (const other of this.messages) {
      const isNamed = other.channel === message.channel && other.topic === former;
      if (other === message || (isNamed && (mode === "change_all" || (mode === "change_later" && other.id > first)))) {
        other.topic = topic;
      }
    }
  }

  hasReceivedIn(person: number, channel: number, topic: string): boolean {
    return this.messages.some(
      (message) =>
        message.channel === channel && message.topic === topic && this.#row(person, message.id)?.isReceived === true,
    );
  }

  flagsOf(person: number, message: Message): string[] {
    const row = this.#row(person, message.id);
    const flags: string[] = [];
    if (row?.isRead !== false) flags.push("read");
    if (row?.isStarred === true) flags.push("starred");
    if (message.mentions.includes(person)) flags.push("mentioned");
    const isCalled = message.isForAll && row?.isReceived === true;
    if (isCalled) flags.push("stream_wildcard_mentioned");
    if (row?.isReceived !== true) flags.push("historical");
    if (isCalled) flags.push("wildcard_mentioned");
    return flags;
  }

  #isMuted(person: number, { channel, topic }: Message): boolean {
    return channel !== null && this.policies[person]?.get(`${channel}:${topic}`) === 1;
  }

  unreadOf(person: number) {
    const unread = this.messages.filter((message) => this.#row(person, message.id)?.isRead === false);
    const ids = (messages: readonly Message[]) => messages.map(({ id }) => id);
    const directs = new Map<string, Message[]>();
    const places = new Map<string, Message[]>();
    for (const message of unread) {
      const groups = message.channel === null ? directs : places;
      const key = message.channel === null ? message.people.join() : `${message.channel}:${message.topic}`;
      groups.set(key, [...(groups.get(key) ?? []), message]);
    }
    const userIds = (message: Message | undefined) => (message?.people ?? []).map((index) => this.people[index] ?? 0);
    const own = this.people[person] ?? 0;
    return {
      count: unread.filter((message) => !this.#isMuted(person, message)).length,
      pms: [...directs.values()]
        .filter(([first]) => userIds(first).length <= 2)
        .map((messages) => {
          const other = userIds(messages[0]).find((id) => id !== own) ?? own;
          return { other_user_id: other, sender_id: other, unread_message_ids: ids(messages) };
        })
        .sort((a, b) => a.other_user_id - b.other_user_id),
      huddles: [...directs.values()]
        .filter(([first]) => userIds(first).length > 2)
        .map((messages) => ({ user_ids_string: userIds(messages[0]).join(), unread_message_ids: ids(messages) })),
      streams: [...places.values()]
        .map((messages) => ({
          stream_id: this.channelIds[messages[0]?.channel ?? 0] ?? 0,
          topic: messages[0]?.topic ?? "",
          unread_message_ids: ids(messages),
        }))
        .sort((a, b) => a.stream_id - b.stream_id || (a.topic.toLowerCase() < b.topic.toLowerCase() ? -1 : 1)),
      mentions: ids(
        unread.filter(
          (message) =>
            message.mentions.includes(person) ||
            (message.isForAll && this.#row(person, message.id)?.isReceived === true && !this.#isMuted(person, message)),
        ),
      ),
      old_unreads_missing: false,
    };
  }
}
