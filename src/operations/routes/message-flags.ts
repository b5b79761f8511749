/** Flags, read state and read receipts of messages (spec 4.16; behaviour 2.16, 5.2, 8). */
import { type CommandParams, command, type NoFields, type ReplyOf } from "../../../actors/protocol/decision.ts";
import { readNarrow, termsOf } from "../../../domain/narrow/narrow.ts";
import { ownProperty } from "../../../domain/own-property.ts";
import { canAccessUser } from "../../../domain/people.ts";
import { canAccessAllUsers, canReadMessage } from "../../../domain/permissions.ts";
import { realmSetting } from "../../../domain/realm-settings.ts";
import { topicFor } from "../../../domain/topics.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  getReadReceipts,
  markAllAsRead,
  markStreamAsRead,
  markTopicAsRead,
  type PersonalFlag,
  personalFlags,
  updateMessageFlags,
  updateMessageFlagsForNarrow,
} from "../../../schemas/message-flags.ts";
import { firstUnread } from "../../queries/first-unread.ts";
import { fetchMessages, MessageWalk } from "../../queries/message-fetch.ts";
import { finished } from "../../queries/passes.ts";
import { readReceipts } from "../../queries/read-receipts.ts";
import { ok, type Reply } from "../../runtime/results.ts";
import { bind, type Call, callerNow, requireCaller } from "../calls.ts";

type NarrowParams = ParamsOf<typeof updateMessageFlagsForNarrow>;
type FlagUpdate = CommandParams["message-flags.update"];

export const messageFlagRoutes = [
  bind(updateMessageFlags, (call) => {
    const { messages } = call.params;
    const change = readChange(call.params);
    if (isRefusal(change)) return change;
    return update(call, {
      ...change,
      messageIds: messages,
      mustReachAll: true,
      answer: { messages },
      countsUpdated: false,
    });
  }),

  bind(updateMessageFlagsForNarrow, updateInNarrow),

  bind(markAllAsRead, (call) => {
    const { id } = requireCaller(call);
    return call.realm.dispatcher.ask(
      command({ actor: "user", id }, "read-state.mark-all", {}, id),
      call.idempotencyKey,
    );
  }),

  bind(markStreamAsRead, (call) => {
    const { id } = requireCaller(call);
    const params = { channelId: call.params.stream_id };
    return call.realm.dispatcher.ask(
      command({ actor: "user", id }, "read-state.mark-channel", params, id),
      call.idempotencyKey,
    );
  }),

  bind(markTopicAsRead, (call) => {
    const { id } = requireCaller(call);
    const { stream_id: channelId, topic_name: name } = call.params;
    // An empty name means the empty topic, whether it exists or not (behaviour 2.16).
    const params = { channelId, topic: topicFor(call.realm.view, name), mustHaveReceived: name !== "" };
    return call.realm.dispatcher.ask(
      command({ actor: "user", id }, "read-state.mark-topic", params, id),
      call.idempotencyKey,
    );
  }),

  bind(getReadReceipts, async (call) => {
    const { view } = call.realm;
    const caller = requireCaller(call);
    const message = view.row("messages", call.params.message_id);
    const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
    if (message === undefined || conversation === undefined || !canReadMessage(view, caller, message)) {
      return refuse.invalidMessage();
    }
    if (!realmSetting(view, "enable_read_receipts")) {
      return refuse.badRequest("Read receipts are disabled in this organization.");
    }
    const readers = await readReceipts(view, caller, message, conversation);
    const now = callerNow(call);
    const still = view.row("messages", message.id);
    if (still === undefined || !canReadMessage(view, now, still)) return refuse.invalidMessage();
    const isKnown = (id: number) => canAccessUser(view, now, view.users.get(id) ?? now);
    return ok({ user_ids: canAccessAllUsers(view, now) ? readers : readers.filter(isKnown) });
  }),
];

/** The fields of `answer`, and those that the turn adds. */
type FlagReply<A, C> = A & ReplyOf<"message-flags.update"> & (C extends true ? { updated_count: number } : NoFields);

function update<A extends object, const C extends boolean>(
  call: Call,
  change: FlagUpdate & { readonly answer: A; readonly countsUpdated: C },
) {
  const { id } = requireCaller(call);
  return call.realm.dispatcher.ask(
    command({ actor: "user", id }, "message-flags.update", change, id),
    call.idempotencyKey,
  ) as Promise<Reply<FlagReply<A, C>>>; // which fields it has depends on the parameters
}

/** Flags derived from a message's content or its recipients. */
const derivedFlags: ReadonlySet<string> = new Set([
  "mentioned",
  "stream_wildcard_mentioned",
  "topic_wildcard_mentioned",
  "wildcard_mentioned",
  "has_alert_word",
  "historical",
]);

function isEditable(flag: string): flag is "read" | PersonalFlag {
  return flag === "read" || Object.hasOwn(personalFlags, flag);
}

function readChange({ flag, op }: { flag: string; op: string }): Pick<FlagUpdate, "flag" | "op"> | Refusal {
  if (derivedFlags.has(flag)) return refuse.badRequest(`Flag not editable: '${flag}'`);
  if (!isEditable(flag)) return refuse.badRequest(`Invalid flag: '${flag}'`);
  if (op !== "add" && op !== "remove") return refuse.badRequest(`Invalid message flag operation: '${op}'`);
  return { flag, op };
}

/** The range is resolved before the turn; messages deleted meanwhile are left out. */
async function updateInNarrow(call: Call<NarrowParams>) {
  const { view } = call.realm;
  const { params } = call;
  const change = readChange(params);
  if (isRefusal(change)) return change;
  const reader = requireCaller(call);
  const narrowed = readNarrow(view, reader, termsOf(params.narrow ?? []));
  if (isRefusal(narrowed)) return narrowed;
  let isAbandoned = false;
  call.onAbort(() => {
    isAbandoned = true;
  });
  const { before, after } = clamped(params);
  if (!params.include_anchor && before > 0 && after > 0) {
    return refuse.badRequest("The anchor can only be excluded at an end of the range");
  }
  const anchor = await anchorOf(params.anchor, () => finished(firstUnread(view, reader, narrowed, () => isAbandoned)));
  if (typeof anchor !== "number") return anchor;
  const range = { anchor, before, after, includesAnchor: params.include_anchor };
  // A client repeats the request from the last processed message until all are processed, so none may be left out.
  const walk = new MessageWalk(view, reader, narrowed, () => isAbandoned, { stopsUnindexed: true });
  const fetched = await finished(fetchMessages(walk, range));
  const messageIds = await finished(
    walk.shown(fetched.messages, () => ({ id }) => ({ value: id, characters: 0 })),
  );
  // The lookup was aborted: do not flag only a part of the range.
  if (isAbandoned || messageIds === null) return refuse.badRequest("The client closed the connection");
  return update(call, {
    ...change,
    messageIds,
    mustReachAll: false,
    answer: {
      processed_count: messageIds.length,
      first_processed_id: fetched.stoppedOlder ?? messageIds[0] ?? null,
      last_processed_id: fetched.stoppedNewer ?? messageIds.at(-1) ?? null,
      found_oldest: anchor === 0 || fetched.foundOldest,
      found_newest: anchor === newestAnchor || fetched.foundNewest,
    },
    countsUpdated: true,
  });
}

/** Behaviour 1.8: a range with too many messages is shortened at the side that has more than half of the limit. */
function clamped({ num_before: before, num_after: after }: NarrowParams) {
  const most = limits.flagged_messages_per_narrow_max;
  const fewer = Math.min(before, Math.max(most - after, Math.floor(most / 2)));
  return { before: fewer, after: Math.min(after, most - fewer) };
}

/** Larger than any id; the value of the anchor `newest` (behaviour 5.4). */
const newestAnchor = 10_000_000_000_000_000 - 1;

async function anchorOf(
  anchor: string,
  findUnread: () => number | null | Promise<number | null>,
): Promise<number | Refusal> {
  const given = anchor.replaceAll('"', "");
  if (given === "first_unread") return (await findUnread()) ?? newestAnchor;
  const named = ownProperty({ newest: newestAnchor, oldest: 0 }, given);
  if (named !== undefined) return named;
  if (!/^-?\d{1,20}$/.test(given)) return refuse.badRequest("Invalid anchor");
  return Math.min(Math.max(0, Number(given)), newestAnchor);
}
