/**
 * Conversations in a form that no server could afford: arrays scanned from end to end, and a row for each user and
 * message. It shares no code with the server, whose output is compared with it (test/model/views.ts).
 */

export interface TopicAddress {
  readonly channel: number;
  topic: string;
}

export interface Post {
  readonly id: number;
  /** Index of a user; -1: the notification bot. */
  readonly sender: number;
  place: TopicAddress | null;
  /** Participants of a direct conversation, ascending; empty in channels. */
  readonly people: readonly number[];
  content: string;
  mentions: readonly number[];
  isForAll: boolean;
  /** By channel: its subscribers when this was written. */
  readonly present: readonly ReadonlySet<number>[];
  /** The changes, oldest first: for a move from another channel, that channel; null: any other change. */
  readonly changes: Change[];
  /** "user emoji" */
  readonly reactions: Set<string>;
  /** When a notice about resolving was posted; null: it is not one. */
  readonly noticeAt: number | null;
}

interface Change {
  readonly isEdit: boolean;
  readonly fromChannel: number | null;
}

interface Row {
  isRead: boolean;
  isStarred: boolean;
}

export type Kind = "public" | "protected" | "shared";
export type Flag = "read" | "starred";
export type Mode = "change_one" | "change_later" | "change_all";

/** Topics are equal if they differ only in case. */
export const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export class ConversationModel {
  readonly kinds: readonly Kind[];
  posts: Post[] = [];
  /** By channel: its subscribers. */
  readonly members: Set<number>[];
  /** By user: message -> row. */
  readonly rows: Map<number, Row>[];
  /** By user: "channel:topic" in lower case -> policy. */
  readonly policies: Map<string, number>[];

  constructor(people: number, kinds: readonly Kind[], members: readonly (readonly number[])[]) {
    this.kinds = kinds;
    this.members = members.map((indexes) => new Set(indexes));
    this.rows = Array.from({ length: people }, () => new Map());
    this.policies = Array.from({ length: people }, () => new Map());
  }

  get people(): number[] {
    return this.rows.map((_, index) => index);
  }

  isIn(person: number, channel: number): boolean {
    return this.members[channel]?.has(person) === true;
  }

  /** Whether a user may read messages written in a channel from now on. */
  isOpenTo(person: number, channel: number): boolean {
    return this.kinds[channel] === "public" || this.isIn(person, channel);
  }

  hasReceived(person: number, post: Post): boolean {
    if (post.place === null) return post.people.includes(person);
    return post.present[post.place.channel]?.has(person) === true;
  }

  canRead(person: number, post: Post): boolean {
    if (post.place === null) return post.people.includes(person);
    if (!this.isOpenTo(person, post.place.channel)) return false;
    return this.kinds[post.place.channel] !== "protected" || this.hasReceived(person, post);
  }

  readable(person: number): Post[] {
    return this.posts.filter((post) => this.canRead(person, post));
  }

  find(id: number): Post | undefined {
    return this.posts.find((post) => post.id === id);
  }

  inTopic(channel: number, topic: string): Post[] {
    return this.posts.filter(({ place }) => place?.channel === channel && same(place.topic, topic));
  }

  #row(person: number, id: number): Row {
    const row = this.rows[person]?.get(id) ?? { isRead: true, isStarred: false };
    this.rows[person]?.set(id, row);
    return row;
  }

  #isInWhere(person: number, { place, people }: Post): boolean {
    return place === null ? people.includes(person) : this.isIn(person, place.channel);
  }

  isUnread(person: number, post: Post): boolean {
    return this.#isInWhere(person, post) && this.rows[person]?.get(post.id)?.isRead === false;
  }

  isStarred(person: number, id: number): boolean {
    return this.rows[person]?.get(id)?.isStarred === true;
  }

  /** A topic keeps its first spelling. */
  spelt({ channel, topic }: TopicAddress): string {
    return this.inTopic(channel, topic)[0]?.place?.topic ?? topic;
  }

  sent(
    post: Omit<Post, "present" | "changes" | "reactions" | "noticeAt">,
    more: { isRead: boolean; noticeAt?: number; unreadBy?: readonly number[] },
  ) {
    const place = post.place === null ? null : { ...post.place, topic: this.spelt(post.place) };
    const present = this.members.map((members) => new Set(members));
    const written = {
      ...post,
      place,
      present,
      changes: [],
      reactions: new Set<string>(),
      noticeAt: more.noticeAt ?? null,
    };
    this.posts.push(written);
    this.posts.sort((a, b) => a.id - b.id);
    for (const person of this.people) {
      if (!this.hasReceived(person, written)) continue;
      const isOwn = post.sender === person && more.isRead;
      this.#row(person, post.id).isRead = isOwn || more.unreadBy?.includes(person) === false;
    }
  }

  flag(person: number, op: "add" | "remove", flag: Flag, posts: readonly Post[]): void {
    for (const post of posts) {
      if (flag === "starred") this.#row(person, post.id).isStarred = op === "add";
      else if (op === "add" || this.#isInWhere(person, post)) this.#row(person, post.id).isRead = op === "add";
    }
  }

  /** Marks these messages as read for the user, if they are unread. */
  read(person: number, test: (post: Post) => boolean): void {
    for (const post of this.posts.filter(test)) {
      const row = this.rows[person]?.get(post.id);
      if (row !== undefined) row.isRead = true;
    }
  }

  leave(person: number, channel: number): void {
    this.members[channel]?.delete(person);
    this.read(person, ({ place }) => place?.channel === channel);
  }

  remove(posts: readonly Post[]): void {
    this.posts = this.posts.filter((post) => !posts.includes(post));
  }

  /** Deletes a topic. Users who could read its oldest or its newest message lose their policy for it (D72). */
  endTopic({ channel, topic }: TopicAddress): void {
    const posts = this.inTopic(channel, topic);
    const ends = posts.filter((post) => post === posts[0] || post === posts.at(-1));
    for (const person of this.people) {
      if (ends.some((post) => this.canRead(person, post))) this.policies[person]?.delete(placeKey({ channel, topic }));
    }
    this.remove(posts);
  }

  /** The messages that a requested move affects. */
  affected(mover: number, post: Post, to: TopicAddress, mode: Mode): Post[] {
    const { place: from } = post;
    if (from === null) return [];
    const all = this.inTopic(from.channel, from.topic);
    // A new spelling applies to the whole topic.
    if (from.channel === to.channel && same(from.topic, to.topic)) return all;
    const meant = all.filter(
      ({ id }) => mode === "change_all" || id === post.id || (mode === "change_later" && id > post.id),
    );
    return meant.filter((other) => this.canRead(mover, other));
  }

  /**
   * @returns whether the mover moved all messages of the topic that they can see, and whether the topic was renamed as
   *   a whole to an unused name
   */
  move(mover: number, post: Post, to: TopicAddress, mode: Mode): { isWhole: boolean; isRename: boolean } {
    const from = { ...(post.place ?? { channel: 0, topic: "" }) };
    const all = this.inTopic(from.channel, from.topic);
    const moved = this.affected(mover, post, to, mode);
    const isRespelt = from.channel === to.channel && same(from.topic, to.topic);
    const isMerge = !isRespelt && this.inTopic(to.channel, to.topic).length > 0;
    const isWhole = all.every((other) => moved.includes(other) || !this.canRead(mover, other));
    const isRename = isRespelt || (from.channel === to.channel && !isMerge && moved.length === all.length);
    const topic = isRespelt ? to.topic : this.spelt(to);
    for (const other of moved) {
      const readers = this.people.filter((person) => this.canRead(person, other));
      other.place = { channel: to.channel, topic };
      other.changes.push({ isEdit: false, fromChannel: from.channel === to.channel ? null : from.channel });
      // For a user who can no longer read it, the message and its star are removed.
      for (const person of readers) if (!this.canRead(person, other)) this.#row(person, other.id).isStarred = false;
      // For users who are not subscribed to the new channel, or cannot read the message there, it is not unread. For
      // those not in the old channel nothing was unread before.
      if (from.channel === to.channel) continue;
      for (const person of this.people) {
        if (this.isIn(person, from.channel) && this.isIn(person, to.channel) && this.canRead(person, other)) continue;
        const row = this.rows[person]?.get(other.id);
        if (row !== undefined) row.isRead = true;
      }
    }
    if (isWhole && !isRespelt) this.#movePolicies(from, to, isMerge);
    return { isWhole, isRename };
  }

  #movePolicies(from: TopicAddress, to: TopicAddress, isMerge: boolean): void {
    const [source, target] = [placeKey(from), placeKey(to)];
    for (const person of this.people) {
      const canReadTarget = this.isOpenTo(person, to.channel);
      if (!canReadTarget && !this.isOpenTo(person, from.channel)) continue;
      const policies = this.policies[person];
      const before = policies?.get(source) ?? 0;
      policies?.delete(source);
      if (!canReadTarget) continue;
      const there = policies?.get(target) ?? 0;
      const after = isMerge ? merged(before, there) : before;
      if (after === 0) policies?.delete(target);
      else policies?.set(target, after);
    }
  }

  /**
   * Number of changes of a post that a user may see. Earlier ones are hidden if the post comes from a channel that the
   * user may not see.
   */
  changesAnnounced(person: number, { changes, present }: Post): number {
    const mayKnow = (channel: number) =>
      this.isOpenTo(person, channel) && (this.kinds[channel] !== "protected" || present[channel]?.has(person) === true);
    const hidden = changes.findLastIndex(({ fromChannel }) => fromChannel !== null && !mayKnow(fromChannel));
    return changes.filter(({ isEdit }, index) => index > hidden || isEdit).length;
  }

  /**
   * Whether a user to whom a former channel becomes visible later would see more of the history. No event reports this.
   */
  hasSecretPast(id: number): boolean {
    const changes = this.find(id)?.changes ?? [];
    return changes.some(({ fromChannel }) => fromChannel !== null && this.kinds[fromChannel] !== "public");
  }

  /** The users who follow a topic by one of these names. */
  followers(places: readonly TopicAddress[]): number[] {
    return this.people.filter((person) => places.some((place) => this.policies[person]?.get(placeKey(place)) === 3));
  }

  isMuted(person: number, { place }: Post): boolean {
    return place !== null && this.policies[person]?.get(placeKey(place)) === 1;
  }

  callsAll(person: number, post: Post): boolean {
    return post.isForAll && this.hasReceived(person, post);
  }

  flagsOf(person: number, post: Post): string[] {
    const flags = [
      this.isUnread(person, post) ? "" : "read",
      this.isStarred(person, post.id) ? "starred" : "",
      post.mentions.includes(person) ? "mentioned" : "",
      this.callsAll(person, post) ? "stream_wildcard_mentioned" : "",
      this.hasReceived(person, post) ? "" : "historical",
      this.callsAll(person, post) ? "wildcard_mentioned" : "",
    ];
    return flags.filter((flag) => flag !== "");
  }
}

export function placeKey({ channel, topic }: TopicAddress): string {
  return `${channel}:${topic.toLowerCase()}`;
}

/** Followed, unmuted, none, muted: the more visible policy. */
function merged(one: number, other: number): number {
  return [3, 2, 0, 1].find((policy) => policy === one || policy === other) ?? 0;
}
