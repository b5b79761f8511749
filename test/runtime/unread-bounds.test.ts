/** Bounds of the unread and starred messages in a client's state (behaviour 8; S3), on rows written directly. */
import t from "tap";
import { collectUnread } from "../../domain/unread.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { personalFlags } from "../../schemas/message-flags.ts";
import { watermarkKinds } from "../../schemas/read-state.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { starredMessagesState, unreadMessages } from "../../src/queries/unread.ts";
import { counted, fillIndexes, fillMessages, fillTopics } from "../support/filled.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";

function ownerOf({ realm }: OpenRealm): UserRecord {
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  return owner;
}

const unreadIds = (view: View) => collectUnread(view, ownerId).messages.map(({ id }) => id);

t.test(
  "[S3] unread_messages_shown_max: that many are returned; with one more the oldest is left out, and a flag says so",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const max = limits.unread_messages_shown_max;
    fillTopics(realm, 1);
    fillIndexes(realm, 1, max);
    const whole = unreadMessages(realm.view, ownerOf(opened), true);
    t.strictSame([whole.count, whole.old_unreads_missing], [max, false]);
    fillIndexes(realm, 1, 1, max + 1);
    const cut = unreadMessages(realm.view, ownerOf(opened), true);
    t.strictSame([cut.count, cut.old_unreads_missing], [max, true]);
    const ids = unreadIds(realm.view);
    t.strictSame([ids[0], ids.at(-1)], [2, max + 1]);
  },
);

t.test(
  "[S3] read_exceptions_at_once_max: that many marks are read at once; with one more only the newest, and a flag says so",
  async (t) => {
    const { realm } = await openNewRealm(t);
    const max = limits.read_exceptions_at_once_max;
    fillTopics(realm, 1);
    fillMessages(realm, 1, 3);
    // One mark covers all messages. Then the ids 1 to `max` were marked as unread; only messages 1 to 3 still exist.
    fill(realm, "readStates", [[ownerId, { upTo: max + 10, at: 1, newest: max + 10, hasSenderWatermarks: false }]]);
    const unread = { isRead: false, at: 2 };
    fill(
      realm,
      "readExceptions",
      rowsFor<"readExceptions">(max, (id) => [[ownerId, id], unread]),
    );
    const within = counted(realm.view);
    t.match(collectUnread(within.view, ownerId), { messages: [{ id: 1 }, { id: 2 }, { id: 3 }], isTruncated: false });
    t.equal(within.looks.get("row readExceptions"), undefined, "none is read a second time");
    fill(realm, "readExceptions", [[[ownerId, max + 1], unread]]);
    const beyond = counted(realm.view);
    const found = collectUnread(beyond.view, ownerId);
    const ids = found.messages.map(({ id }) => id);
    t.strictSame(ids, [2, 3]);
    t.equal(found.isTruncated, true, "the flag says that there are older ones");
    t.equal(beyond.looks.get("rows readExceptions"), max + 1);
  },
);

t.test("[S3] unread_rows_scanned_max: that many read messages are scanned, then topic by topic", async (t) => {
  const { realm } = await openNewRealm(t);
  const max = limits.unread_rows_scanned_max;
  fillTopics(realm, 2);
  const ofOld = [1, 2, 3];
  fillMessages(realm, 2, ofOld.length);
  // One entry fewer than the number at which the scan continues topic by topic. All of these are read by their
  // topic's watermark.
  fillIndexes(realm, 1, max - ofOld.length - 1, 4);
  const watermark = (upTo: number) =>
    fill(realm, "readWatermarks", [[[watermarkKinds.conversation, 1, ownerId], { upTo, at: 1 }]]);
  fill(realm, "readStates", [[ownerId, { upTo: 0, at: 0, newest: 10 * max, hasSenderWatermarks: false }]]);
  watermark(10 * max);
  const within = counted(realm.view);
  t.strictSame(unreadIds(within.view), ofOld);
  t.equal(within.looks.get("rows topicNames"), undefined, "only the channel's index");
  fillIndexes(realm, 1, max, max);
  const beyond = counted(realm.view);
  t.strictSame(unreadIds(beyond.view), ofOld, "the same answer");
  t.equal(beyond.looks.get("channelIndex"), max);
  t.equal(
    beyond.looks.get("rows conversationMessages"),
    ofOld.length,
    "messages below the topic's watermark are not read",
  );
});

t.test("[S3] starred_messages_shown_max: the newest so many are listed", async (t) => {
  const opened = await openNewRealm(t);
  const { realm } = opened;
  const max = limits.starred_messages_shown_max;
  fillTopics(realm, 1);
  fillMessages(realm, 1, max + 1);
  const star = (count: number, first = 1) =>
    fill(
      realm,
      "messageFlags",
      rowsFor<"messageFlags">(count, (id) => [[ownerId, personalFlags.starred, id], {}], first),
    );
  const starred = () => {
    const section = starredMessagesState(realm.view, ownerOf(opened), undefined as never);
    return (section as { starred_messages: number[] }).starred_messages;
  };
  star(max);
  t.strictSame([starred().length, starred()[0], starred().at(-1)], [max, 1, max]);
  star(1, max + 1);
  t.strictSame([starred().length, starred()[0], starred().at(-1)], [max, 2, max + 1]);
});
