/** Durable shapes of what surrounds channels: folders, and what a person thinks of a topic. The rules of `schemas/records.ts` hold. */

/** A folder of channels (spec 2.10, 4.5). Archived ones keep their names. */
export interface ChannelFolderRecord {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly creatorId: number | null;
  readonly createdAt: number;
  readonly isArchived: boolean;
  /** Position in the list. */
  readonly order: number;
}

/** A pattern that turns what it matches into a link (public API: /realm/linkifiers). */
export interface LinkifierRecord {
  readonly id: number;
  /** With named groups as `(?P<name>...)`. */
  readonly pattern: string;
  /** RFC 6570. */
  readonly urlTemplate: string;
  /** Lower ones are tried first. */
  readonly order: number;
}

/** One person's policy for one topic (public API: update-user-topic). No row: none. */
export interface UserTopicRecord {
  /** As it was spelt. */
  readonly topic: string;
  /** 1 muted, 2 unmuted, 3 followed. */
  readonly visibilityPolicy: number;
  readonly changedAt: number;
}

/** The same policy, found by its topic: who follows it, and whom its move concerns. */
export interface TopicPolicyRecord {
  readonly visibilityPolicy: number;
}

/** Since when a private channel is known to somebody by a group or a role: what was told of it before is not repeated (S1). */
export interface ChannelSightRecord {
  /** Of the first event that may be told. */
  readonly sincePosition: number;
}
