/**
 * The compiler rejects an id of one kind where another is wanted (schemas/ids.ts), and an effect with the key of another
 * table. Each value below has the type of the answer, so this file compiles only if the compiler gives it.
 */
import t from "tap";
import type { Address, Params, PutEffect, RemoveEffect } from "../../actors/protocol/decision.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, ConversationId, EventPosition, GroupId, MessageId, UserId } from "../../schemas/ids.ts";
import type { KeyOf } from "../../schemas/records.ts";

type Fits<Given, Wanted> = Given extends Wanted ? true : false;

type Pair = Parameters<View["subscriptions"]["isSubscribed"]>;

const right: readonly true[] = [
  true satisfies Fits<[UserId, ChannelId], Pair>,
  true satisfies Fits<readonly [ConversationId, MessageId], KeyOf<"conversationMessages">>,
  true satisfies Fits<readonly [GroupId, UserId], RemoveEffect<"groupMembers">["key"]>,
  true satisfies Fits<EventPosition, KeyOf<"events">>,
  true satisfies Fits<{ actor: "message"; id: MessageId }, Address>,
  true satisfies Fits<ChannelId, Params<"channel.archive">["channelId"]>,
  true satisfies Fits<number, UserId>,
];

const swapped: readonly false[] = [
  false satisfies Fits<[ChannelId, UserId], Pair>,
  false satisfies Fits<readonly [MessageId, ConversationId], KeyOf<"conversationMessages">>,
  false satisfies Fits<readonly [UserId, GroupId], RemoveEffect<"groupMembers">["key"]>,
  false satisfies Fits<EventPosition, KeyOf<"messages">>,
  false satisfies Fits<{ actor: "message"; id: UserId }, Address>,
  false satisfies Fits<UserId, Params<"channel.archive">["channelId"]>,
  false satisfies Fits<PutEffect<"groups">, PutEffect<"users">>,
];

t.test("a swapped pair of ids does not compile, and neither does an effect with another table's key", (t) => {
  t.equal(right.length, swapped.length, "each pair both ways");
  t.end();
});
