/** Bounds of what a client is told of unread and starred messages (behaviour 8; S3), on rows without requests. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { floorKinds, personalFlags } from "../../schemas/records/read-state.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { collectUnread } from "../../src/domain/unread.ts";
import type { View } from "../../src/domain/view.ts";
import { starredMessagesState, unreadMessages } from "../../src/queries/unread.ts";
import { counted, fillIndexes, fillMessages, fillTopics } from "../support/filled.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";

function ownerOf({ realm }: OpenRealm): UserRecord {
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  return owner;
}

const unreadIds = (view: View) => collectUnread(view, ownerId).messages.map(({ id }) => id);

t.test(
  "[S3] unread_messages_shown_max: so many are told of; of one more, the oldest is missing, and it is said",
  async (t) => {
    const opened = await openFounded(t);
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
  "[S3] read_exceptions_at_once_max: with so many marks they are read at once; with one more the newest, and it is said",
  async (t) => {
    const { realm } = await openFounded(t);
    const max = limits.read_exceptions_at_once_max;
    fillTopics(realm, 1);
    fillMessages(realm, 1, 3);
    // All that was posted is read; the first message was marked as unread again, and so were the last two of many that are gone.
    fill(realm, "readStates", [[ownerId, { upTo: max + 10, at: 1, newest: max + 10, hasSenderFloors: false }]]);
    const unread = { isRead: false, at: 2 };
    fill(
      realm,
      "readExceptions",
      rowsFor<"readExceptions">(max, (id) => [[ownerId, id], unread]),
    );
    const within = counted(realm.view);
    t.match(collectUnread(within.view, ownerId), { messages: [{ id: 1 }, { id: 2 }, { id: 3 }], isTruncated: false });
    t.equal(within.looks.get("row readExceptions"), undefined, "none is looked up again");
    fill(realm, "readExceptions", [[[ownerId, max + 1], unread]]);
    const beyond = counted(realm.view);
    const found = collectUnread(beyond.view, ownerId);
    t.strictSame(
      found.messages.map(({ id }) => id),
      [2, 3],
    );
    t.equal(found.isTruncated, true, "that there are older ones is said");
    t.equal(beyond.looks.get("rows readExceptions"), max + 1);
  },
);

t.test(
  "[S3] unread_rows_scanned_max: so many that are read already are looked at in a channel, then topic by topic",
  async (t) => {
    const { realm } = await openFounded(t);
    const max = limits.unread_rows_scanned_max;
    fillTopics(realm, 2);
    const ofOld = [1, 2, 3];
    fillMessages(realm, 2, ofOld.length);
    // One message less than would make the walk change over, and all of them read by a floor of their topic.
    fillIndexes(realm, 1, max - ofOld.length - 1, 4);
    const floor = (upTo: number) =>
      fill(realm, "readFloors", [[[floorKinds.conversation, 1, ownerId], { upTo, at: 1 }]]);
    fill(realm, "readStates", [[ownerId, { upTo: 0, at: 0, newest: 10 * max, hasSenderFloors: false }]]);
    floor(10 * max);
    const within = counted(realm.view);
    t.strictSame(unreadIds(within.view), ofOld);
    t.equal(within.looks.get("rows topicNames"), undefined, "the channel's index alone");
    fillIndexes(realm, 1, max, max);
    const beyond = counted(realm.view);
    t.strictSame(unreadIds(beyond.view), ofOld, "the same answer");
    t.equal(beyond.looks.get("channelIndex"), max);
    t.equal(
      beyond.looks.get("rows conversationMessages"),
      ofOld.length,
      "what the topic's floor covers is not looked at",
    );
  },
);

t.test("[S3] starred_messages_shown_max: the newest so many are listed", async (t) => {
  const opened = await openFounded(t);
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
