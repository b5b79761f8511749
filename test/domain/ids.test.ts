/** The compiler rejects an id of one kind where another is wanted (schemas/ids.ts). This file has to compile. */
import t from "tap";
import { type Command, command } from "../../actors/protocol/commands.ts";
import { type Effect, effects } from "../../actors/protocol/effects.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, ConversationId, EventPosition, GroupId, MessageId, UserId } from "../../schemas/ids.ts";

interface Ids {
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly group: GroupId;
  readonly message: MessageId;
  readonly conversation: ConversationId;
  readonly position: EventPosition;
}

/** Never called: each pair is right in the first line and swapped in the second. */
const pairs: readonly ((view: View, ids: Ids) => unknown)[] = [
  (view, { user, channel }) => view.subscriptions.isSubscribed(user, channel),
  // @ts-expect-error
  (view, { user, channel }) => view.subscriptions.isSubscribed(channel, user),
  (view, { conversation, message }) => view.row("conversationMessages", [conversation, message]),
  // @ts-expect-error
  (view, { conversation, message }) => view.row("conversationMessages", [message, conversation]),
  (_view, { group, user }): Effect => effects.put("groupMembers", [group, user], {}),
  // @ts-expect-error
  (_view, { group, user }): Effect => effects.put("groupMembers", [user, group], {}),
  (view, { message, position }) => [view.row("messages", message), view.row("events", position)],
  // @ts-expect-error
  (view, { position }) => view.row("messages", position),
  (_view, { user, message }): Command => command({ actor: "message", id: message }, "message.delete", {}, user),
  // @ts-expect-error
  (_view, { user, message }): Command => command({ actor: "message", id: user }, "message.delete", {}, message),
  (_view, { user }) => ({ actor: "user", id: user }) satisfies Command["to"],
  // @ts-expect-error
  (_view, { channel }) => ({ actor: "user", id: channel }) satisfies Command["to"],
];

t.test("[house] a swapped pair of ids does not compile, and neither does an effect with another table's key", (t) => {
  // @ts-expect-error
  const wrong: Effect = { kind: "remove", table: "groupMembers", key: "a", row: null };
  t.equal(wrong.kind, "remove");
  t.ok(pairs.length > 0, "they compile");
  t.end();
});
