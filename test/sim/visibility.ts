/**
 * Which messages a user may read, and which they received, computed from rows by the rules (spec 4.10, behaviour 2.10
 * and 5.3), without the server's code. If a permission that is not modelled decides, both results are accepted.
 */

import type { ChannelRecord } from "../../schemas/channels.ts";
import { personalFlags } from "../../schemas/message-flags.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Audience } from "./audience.ts";
import type { Replica } from "./replica.ts";

/** Numbered as in the API (spec 2.3). */
const guest = 600;

/** null: depends on something not modelled. */
type Verdict = boolean | null;

export interface Seen {
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
}

export class Visibility {
  readonly #replica: Replica;
  readonly #audience: Audience;

  constructor(replica: Replica, audience: Audience) {
    this.#replica = replica;
    this.#audience = audience;
  }

  /** Every existing message, ascending. */
  all(): Seen[] {
    const all = this.#replica.rows("messages").flatMap((message) => {
      const conversation = this.#replica.get("conversations", message.conversationId);
      return conversation === undefined ? [] : [{ message, conversation }];
    });
    return all.sort((one, other) => one.message.id - other.message.id);
  }

  /** Whether a user may read messages written in a channel from now on. */
  opens(reader: UserRecord, channel: ChannelRecord): Verdict {
    if (channel.isWebPublic || this.#isIn(reader.id, channel.id)) return true;
    if (reader.role === guest) return false;
    if (!channel.isPrivate) return true;
    const { can_subscribe_group: joining, can_add_subscribers_group: adding } = channel.groups;
    return joining === undefined && adding === undefined ? false : null;
  }

  #isIn(userId: number, channelId: number): boolean {
    return this.#replica.get("subscriptions", [channelId, userId])?.isActive === true;
  }

  mayRead(reader: UserRecord, seen: Seen): Verdict {
    const { channelId, userIds } = seen.conversation;
    if (userIds !== null) return userIds.includes(reader.id);
    const channel = this.#replica.get("channels", channelId);
    if (channel === undefined) return false;
    const opens = this.opens(reader, channel);
    if (opens !== true || !channel.isPrivate || channel.isHistoryPublic) return opens;
    return this.received(reader.id, seen);
  }

  /**
   * Whether the user was subscribed when it was written, as far as known; for imported messages, according to the rows.
   */
  received(userId: number, { message, conversation: { channelId, userIds } }: Seen): boolean {
    if (userIds !== null) return userIds.includes(userId);
    const posted = this.#audience.postedAs(message.id);
    if (posted !== undefined && posted.channelId === channelId) return posted.userIds.has(userId);
    const periods = this.#replica.get("subscriptions", [channelId, userId])?.periods ?? [];
    return periods.some(
      ({ joinedAfterId: after, leftAtId: last }) => after < message.id && message.id <= (last ?? message.id),
    );
  }

  isStarred(userId: number, messageId: number): boolean {
    return this.#replica.has("messageFlags", [userId, personalFlags.starred, messageId]);
  }
}
