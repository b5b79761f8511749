/**
 * Bounds of reading, moving and writing conversations (S3), with rows that are written directly: at each bound and one
 * above it.
 */
import t from "tap";
import { movedAtOnce, transferReadState } from "../../actors/rules/moved-read-state.ts";
import { checkMoveLimit } from "../../actors/topic/move-plan.ts";
import { alertsOf } from "../../actors/topic/post-effects.ts";
import { readNarrow, termsOf } from "../../domain/narrow/narrow.ts";
import { limits } from "../../schemas/limits.ts";
import type { BecomesRead } from "../../schemas/message-changes.ts";
import { watermarkKinds } from "../../schemas/read-state.ts";
import type { RowOf } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { channelTopics } from "../../src/queries/channel-topics.ts";
import { MessageWalk } from "../../src/queries/message-fetch.ts";
import { planOf } from "../../src/queries/message-plan.ts";
import { newestReceived } from "../../src/queries/messages.ts";
import { finished } from "../../src/queries/passes.ts";
import {
  conversationRow,
  counted,
  fillIndexes,
  fillMessages,
  fillTopics,
  messageRow,
  setNewestMessage,
} from "../support/filled.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { answerOf, commands, generalId, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";

function placeOf({ realm: { view } }: OpenRealm) {
  const [owner, channel] = [view.users.get(ownerId), view.channels.get(generalId)];
  if (owner === undefined || channel === undefined) throw new Error("not founded");
  return { view, owner, channel };
}

/** Direct conversations of the owner with one other user each. */
function fillDirects({ realm }: OpenRealm, count: number, first: number): void {
  const row = (id: number) => conversationRow(id, { channelId: null, topic: "", userIds: [ownerId, 10_000 + id] });
  fill(
    realm,
    "conversations",
    rowsFor<"conversations">(count, (id) => [id, row(id)], first),
  );
  fill(
    realm,
    "directConversations",
    rowsFor<"directConversations">(count, (id) => [[ownerId, id], {}], first),
  );
}

t.test(
  "[S3] feed_places_max: that many conversations are merged; with one more the newest messages are scanned, with the same result",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const { view, owner } = placeOf(opened);
    fillTopics(realm, 1);
    fillMessages(realm, 1, 3);
    // The channel counts as a conversation, too.
    fillDirects(opened, limits.feed_places_max - 1, 10);
    fill(realm, "messages", [[4, messageRow(4, 10)]]);
    fill(realm, "conversationMessages", [[[10, 4], { senderId: 999_999, traits: 0 }]]);
    setNewestMessage(realm, 4);
    /** Whether a plan other than a scan of the newest messages is used, and the result. */
    const walked = async (terms: Parameters<typeof termsOf>[0]) => {
      const narrowed = readNarrow(view, owner, termsOf(terms));
      if ("kind" in narrowed) throw new Error(narrowed.msg);
      const walker = {
        reader: owner,
        narrowed,
        words: [],
        isIndexOnly: false,
        step: -1 as const,
        spend: () => undefined,
      };
      const { messages } = await finished(new MessageWalk(view, owner, narrowed, () => false).collect(4, -1, 100));
      return [planOf(view, walker, "dense").patience !== null, messages.map(({ id }) => id)];
    };
    const feed: Parameters<typeof termsOf>[0] = [];
    const directs: Parameters<typeof termsOf>[0] = [["is", "dm"]];
    t.strictSame(await walked(feed), [true, [4, 3, 2, 1]], "at the bound");
    fillDirects(opened, 1, 9 + limits.feed_places_max);
    t.strictSame(await walked(feed), [false, [4, 3, 2, 1]], "one over");
    t.strictSame(await walked(directs), [true, [4]], "without the channel it is one less");
    fillDirects(opened, 1, 10 + limits.feed_places_max);
    t.strictSame(await walked(directs), [false, [4]]);
    t.strictSame(
      await walked([["is", "unread"]]),
      [true, [4, 3, 2, 1]],
      "unread messages among too many conversations",
    );
  },
);

t.test("[S3] topics_per_list_max: only that many topics are listed, the first by name", async (t) => {
  const opened = await openNewRealm(t);
  const { view, owner, channel } = placeOf(opened);
  const list = async (most?: number) => {
    const topics = await channelTopics(view, owner, channel, true, most);
    return JSON.parse(`[${topics.join(",")}]`).map(({ name }: { readonly name: string }) => name);
  };
  fillTopics(opened.realm, 4);
  for (const id of [1, 2, 3, 4]) fillIndexes(opened.realm, id, 1, id);
  t.strictSame(await list(4), ["topic 4", "topic 3", "topic 2", "topic 1"], "at the bound");
  t.strictSame(await list(3), ["topic 3", "topic 2", "topic 1"], "one over");
  t.strictSame(await list(), await list(4));
});

t.test("[S3] move_messages_counted_max: so many messages are counted; an older one prevents the move", async (t) => {
  const opened = await openNewRealm(t);
  const { realm } = opened;
  const { view, owner, channel } = placeOf(opened);
  const max = limits.move_messages_counted_max;
  const member = { ...owner, role: roles.member };
  const limitMs = 604_800_000;
  fillTopics(realm, 1);
  fillIndexes(realm, 1, max + 1);
  const sent = (first: number, count: number, age: number) => {
    const row = (id: number) => messageRow(id, 1, { sentAt: view.now - age });
    fill(
      realm,
      "messages",
      rowsFor<"messages">(count, (id) => [id, row(id)], first),
    );
  };
  sent(1, 5, 2 * limitMs);
  sent(6, max - 4, 0);
  const move = { from: channel, to: channel, isTopicChanged: true, toggle: "none" } as const;
  const refused = () => checkMoveLimit(view, member, move, 1);
  const expectedEvent = (allowed: number, total: number, first: number) => ({
    code: "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
    fields: {
      first_message_id_allowed_to_move: first,
      total_messages_allowed_to_move: allowed,
      total_messages_in_topic: total,
    },
  });
  t.match(refused(), expectedEvent(max - 4, max, 6), "of that many, the newest");
  sent(2, 4, 0);
  t.match(refused(), expectedEvent(max, max, 2), "the message that is too old is not among them");
  sent(1, 1, 0);
  t.equal(refused(), null);
});

t.test("[S3] topic_participants_scanned_max: the authors of that many newest messages participate", async (t) => {
  const opened = await openNewRealm(t);
  const { realm } = opened;
  const { view } = placeOf(opened);
  const max = limits.topic_participants_scanned_max;
  fillTopics(realm, 1);
  fill(realm, "conversationMessages", [[[1, 1], { senderId: 77, traits: 0 }]]);
  fillIndexes(realm, 1, max - 1, 2);
  const written = {
    content: "@**topic**",
    senderId: ownerId,
    mentionsTopic: true,
    conversationId: 1,
    channelId: generalId,
    userIds: null,
    mentionedBotIds: [],
  };
  const participants = () => alertsOf(view, written)?.participantIds ?? [];
  t.ok(participants().includes(77), "at the bound");
  fillIndexes(realm, 1, 1, max + 1);
  t.strictSame(participants(), [ownerId, 999_999], "one over");
});

/** Between two topics of one channel. */
const someWay = { from: { id: 1, channelId: generalId }, to: { id: 2, channelId: generalId } };

/** Users who have read something in the first topic. */
function readersOf({ realm }: OpenRealm, count: number, first: number): void {
  const row = { upTo: 5, at: 1 };
  const rows = rowsFor<"readWatermarks">(count, (id) => [[watermarkKinds.conversation, 1, id], row], first);
  fill(realm, "readWatermarks", rows);
}

t.test(
  "[S3] moved_read_states_per_command_max: one command carries that many read states, and the next command continues",
  async (t) => {
    const opened = await openNewRealm(t);
    const { view } = placeOf(opened);
    const perCommand = limits.moved_read_states_per_command_max / limits.move_batch_messages;
    const seen = Array.from({ length: limits.move_batch_messages }, (_, at) => ({
      id: at + 1,
      senderId: 1,
      traits: 0,
    }));
    const carry = (messages: typeof seen, afterUserId: number) => {
      const { rows, onward } = transferReadState(view, { ...someWay, messages, isNew: true, upToId: 999, afterUserId });
      return [rows.filter((each) => each.kind === "put" && each.table === "readWatermarks").length, onward];
    };
    readersOf(opened, perCommand, 1);
    t.strictSame(carry(seen, 0), [perCommand, null], "at the bound");
    readersOf(opened, 1, perCommand + 1);
    t.strictSame(carry(seen, 0), [perCommand, perCommand], "one over");
    t.strictSame(carry(seen, perCommand), [1, null]);
    t.strictSame(carry(seen.slice(0, 1), 0), [perCommand + 1, null], "of fewer messages, more users");
  },
);

t.test("[S3] people for whom a batch becomes read share one event with the batch, and get no rows", async (t) => {
  const opened = await openNewRealm(t);
  const { view } = placeOf(opened);
  const away = answerOf(await opened.ask(commands.createChannel("away", [ownerId])))["id"] as number;
  const perCommand = limits.moved_read_states_per_command_max / 2;
  const since = { joinedAfterId: 0, joinedAtPosition: 0, leftAtId: null, leftAtPosition: null };
  const subscription = { ...view.subscriptions.get(ownerId, generalId), periods: [since] };
  const people = rowsFor<"subscriptions">(
    perCommand + 1,
    (userId) => [[generalId, userId], { ...subscription, userId } as RowOf<"subscriptions">],
    100,
  );
  fill(opened.realm, "subscriptions", people);
  const carry = (afterUserId: number, becomesRead: readonly BecomesRead[]) =>
    transferReadState(view, {
      from: { id: 1, channelId: generalId },
      to: { id: 2, channelId: away },
      messages: [1, 2].map((id) => ({ id, senderId: 1, traits: 0 })),
      isNew: true,
      upToId: 2,
      afterUserId,
      becomesRead,
    });
  const first = carry(99, []);
  t.strictSame(first.rows, [], "nothing is written or announced ahead of the messages");
  const found = first.becomesRead.map(({ messageIds, userIds }) => [messageIds, userIds.length]);
  t.match(found, [[[1, 2], perCommand]]);
  const last = carry(first.onward ?? 0, first.becomesRead);
  t.match(last, { onward: null, becomesRead: [], rows: [{ kind: "emit", type: "update_message_flags" }] });
  t.strictSame(
    last.rows.map((each) => each.kind === "emit" && each.audience.to === "users" && each.audience.ids.length),
    [perCommand + 1],
  );
});

t.test("[S3] moved_read_states_per_batch, move_batch_messages_min: more readers mean smaller batches", async (t) => {
  const opened = await openNewRealm(t);
  const { view } = placeOf(opened);
  const few = limits.moved_read_states_per_batch / limits.move_batch_messages;
  const many = limits.moved_read_states_per_batch / limits.move_batch_messages_min;
  const atOnce = () => movedAtOnce(view, someWay);
  t.equal(atOnce(), limits.move_batch_messages, "nobody");
  readersOf(opened, few, 1);
  t.equal(atOnce(), limits.move_batch_messages, "at the bound");
  readersOf(opened, 1, few + 1);
  t.equal(atOnce(), limits.move_batch_messages - 2, "one over");
  readersOf(opened, many, 1);
  t.equal(atOnce(), limits.move_batch_messages_min);
  readersOf(opened, many, many + 1);
  t.equal(atOnce(), limits.move_batch_messages_min, "not fewer");
});

t.test("[S3] recent_direct_conversations_max: the newest message is looked up in that many", async (t) => {
  const opened = await openNewRealm(t);
  const { view, owner } = placeOf(opened);
  const max = limits.recent_direct_conversations_max;
  const within = counted(view);
  fillDirects(opened, max + 1, 1);
  const last = (id: number, lastMessageId: number) => {
    const row = view.row("conversations", id);
    if (row !== undefined) fill(opened.realm, "conversations", [[id, { ...row, lastMessageId }]]);
  };
  last(1, 500);
  t.equal(newestReceived(within.view, owner), 0, "with one more, the oldest is not searched");
  last(2, 400);
  t.equal(newestReceived(within.view, owner), 400);
  t.equal(within.looks.get("keys directConversations"), 2 * max);
});
