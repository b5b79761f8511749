/**
 * Tracks changes that affect what a reader sees of messages. A long answer is built in several passes, and a watch says
 * which finished parts have become stale meanwhile. It follows the same deltas as projections (M9).
 */

import type { MessageWatch } from "../../domain/view.ts";
import type { TableName } from "../../schemas/records.ts";
import type { Delta } from "../store/projections/projection.ts";

type Mark = (watch: Marked, key: readonly (number | string)[]) => void;

interface Marked {
  readonly readerId: number;
  readonly messages: Set<number>;
  readonly conversations: Set<number>;
  isAllStale: boolean;
}

const message =
  (part: number): Mark =>
  ({ messages }, key) =>
    messages.add(Number(key[part]));

/** The reader's own rows affect every message; other users' rows affect none. */
const reader =
  (part: number): Mark =>
  (watch, key) => {
    if (key[part] === watch.readerId) watch.isAllStale = true;
  };

const nothing: Mark = () => undefined;

const everything: Mark = (watch) => {
  watch.isAllStale = true;
};

/** A table that is not listed here may affect any message. */
const marks: { readonly [T in TableName]?: Mark } = {
  messages: message(0),
  messageAlerts: message(0),
  messageEdits: message(0),
  reactions: message(0),
  submessages: message(0),
  widgets: message(0),
  messageFlags: (watch, key) => {
    if (key[0] === watch.readerId) watch.messages.add(Number(key[2]));
  },
  conversations: ({ conversations }, key) => conversations.add(Number(key[0])),
  readStates: reader(0),
  readWatermarks: reader(2),
  readExceptions: reader(0),
  subscriptions: reader(1),
  userTopics: reader(0),
  mutedUsers: reader(0),
  // Indexes of the rows above, and rows that no message shows.
  conversationMessages: nothing,
  channelMessages: nothing,
  directConversations: nothing,
  topicNames: nothing,
  directNames: nothing,
  topicPolicies: nothing,
  flagHolders: nothing,
  attachments: nothing,
  attachmentFiles: nothing,
  attachmentMessages: nothing,
  messageAttachments: nothing,
  userAttachments: nothing,
  uploadUsage: nothing,
  searchState: nothing,
  searchPostings: nothing,
  searchTopics: nothing,
  searchPending: nothing,
  drafts: nothing,
  presence: nothing,
  userInputs: nothing,
  queues: nothing,
  events: nothing,
  mailbox: nothing,
  timers: nothing,
  idempotency: nothing,
  idempotencyAges: nothing,
  missedMessages: nothing,
  mails: nothing,
  webhookDeliveries: nothing,
};

export class MessageWatches {
  readonly #open = new Set<Marked>();

  open(readerId: number): MessageWatch {
    const watch: Marked = { readerId, messages: new Set(), conversations: new Set(), isAllStale: false };
    this.#open.add(watch);
    return {
      take: () => {
        const taken = {
          isAllStale: watch.isAllStale,
          messages: new Set(watch.messages),
          conversations: new Set(watch.conversations),
        };
        watch.isAllStale = false;
        watch.messages.clear();
        watch.conversations.clear();
        return taken;
      },
      close: () => this.#open.delete(watch),
    };
  }

  apply({ table, key }: Delta): void {
    if (this.#open.size === 0) return;
    const parts = (Array.isArray(key) ? key : [key]) as readonly (number | string)[];
    const mark = marks[table] ?? everything;
    for (const watch of this.#open) mark(watch, parts);
  }
}
