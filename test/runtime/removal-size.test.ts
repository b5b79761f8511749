/**
 * How much one command removes (S3, M7): removing a message removes all its rows, in the worst case thousands, so
 * batches of a topic's deletion and slices of retention are bounded in rows.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { type MessageTrait, messageTraits } from "../../schemas/message-traits.ts";
import { auditRealm } from "../support/audit.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { dayMs } from "../support/retention.ts";
import { fill, rowsFor } from "../support/rows.ts";
import {
  answerOf,
  commands,
  createUsers,
  type OpenRealm,
  openNewRealm,
  ownerId,
  startedAt,
} from "../support/runtime.ts";

const most = limits.removal_batch_rows;
/** Rows of a message in a channel: the message and its entries in its conversation and its channel. */
const plain = 3;

async function posted(bench: OpenRealm, count: number): Promise<number[]> {
  const posts = Array.from({ length: count }, (_, index) => bench.ask(commands.post("old", `m${index}`)));
  return (await Promise.all(posts)).map((result) => Number(answerOf(result)["id"]));
}

async function whispered(bench: OpenRealm, count: number): Promise<number[]> {
  const sent = Array.from({ length: count }, (_, index) => bench.ask(commands.direct([ownerId, 3], `m${index}`)));
  return (await Promise.all(sent)).map((result) => Number(answerOf(result)["id"]));
}

function mark(bench: OpenRealm, messageId: number, trait: MessageTrait): void {
  const message = bench.realm.view.row("messages", messageId);
  if (message === undefined) throw new Error(`there is no message ${messageId}`);
  const traits = message.traits | messageTraits[trait];
  const key = [message.conversationId, messageId] as const;
  fill(bench.realm, "messages", [[messageId, { ...message, traits }]]);
  fill(bench.realm, "conversationMessages", [[key, { senderId: message.senderId, traits }]]);
}

/** Ways to give a message that many more rows without a request for each. */
const growths = {
  submessages(bench: OpenRealm, id: number, rows: number): void {
    mark(bench, id, "hasSubmessages");
    // One of the rows is the widget's.
    fill(bench.realm, "widgets", [[id, { widgetType: "poll", count: rows - 1, characters: 0 }]]);
    const row = { senderId: ownerId, msgType: "widget", content: "{}" };
    fill(
      bench.realm,
      "submessages",
      rowsFor<"submessages">(rows - 1, (n) => [[id, n], row]),
    );
  },
  reactions(bench: OpenRealm, id: number, rows: number): void {
    mark(bench, id, "hasReactions");
    const row = { emojiName: "tada", emojiCode: "1f389", reactionType: "unicode_emoji", position: 1 } as const;
    fill(
      bench.realm,
      "reactions",
      rowsFor<"reactions">(rows, (n) => [[id, ownerId, `e${n}`], row]),
    );
  },
  messageEdits(bench: OpenRealm, id: number, rows: number): void {
    const row = { userId: ownerId, at: 0, prevContent: "", prevRendered: "", moveId: null, afterMoveId: null };
    fill(
      bench.realm,
      "messageEdits",
      rowsFor<"messageEdits">(rows, (n) => [[id, n], row]),
    );
  },
};
type Growth = keyof typeof growths;

/** For each command that removed messages: their ids. */
function pieces(bench: OpenRealm): (readonly number[])[] {
  const records = bench.recorder.published.map(({ record }) => record);
  return bodiesOf(records, "delete_message").map(({ message_ids: ids }) => ids);
}

function checkClean(t: Test, bench: OpenRealm): void {
  for (const table of ["messages", "submessages", "widgets", "reactions", "messageEdits"] as const) {
    t.equal(bench.lmdb.count(table), 0, table);
  }
  t.strictSame(auditRealm(bench.lmdb), []);
  t.strictSame(bench.bugs, []);
}

for (const growth of ["submessages", "reactions"] as const satisfies Growth[]) {
  t.test(`[S3] a topic's deletion removes at most removal_batch_rows rows at once: ${growth}`, async (t) => {
    for (const over of [0, 1]) {
      const bench = await openNewRealm(t);
      const [a = 0, b = 0, c = 0] = await posted(bench, 3);
      growths[growth](bench, c, most / 2 - plain);
      growths[growth](bench, b, most / 2 - plain + over);
      growths[growth](bench, a, growth === "submessages" ? limits.submessages_per_message_max : 1000);
      const done = answerOf(await bench.ask(commands.deleteTopic("old", startedAt + 50_000)));
      t.equal(done["complete"], true);
      await bench.idle();
      t.strictSame(
        pieces(bench),
        over === 0 ? [[b, c], [a]] : [[c], [b], [a]],
        "a message with more rows is removed alone",
      );
      checkClean(t, bench);
    }
  });
}

t.test("[S3] old versions of a message count as rows", async (t) => {
  const bench = await openNewRealm(t);
  const count = 20;
  const ids = await posted(bench, count);
  for (const id of ids) growths.messageEdits(bench, id, limits.message_history_entries_max - plain);
  answerOf(await bench.ask(commands.deleteTopic("old", startedAt + 50_000)));
  await bench.idle();
  const perBatch = Math.floor(most / limits.message_history_entries_max);
  const lengths = pieces(bench).map((piece) => piece.length);
  t.strictSame(
    lengths,
    Array.from({ length: count / perBatch }, () => perBatch),
  );
  checkClean(t, bench);
});

for (const [where, send] of [
  ["a channel", posted],
  ["direct messages", whispered],
] as const) {
  t.test(`[S3] a slice of retention removes at most removal_batch_rows rows at once: ${where}`, async (t) => {
    for (const over of [0, 1]) {
      const bench = await openNewRealm(t);
      await createUsers(bench, 2);
      const [a = 0, b = 0, c = 0, d = 0] = await send(bench, 4);
      growths.submessages(bench, a, limits.submessages_per_message_max);
      growths.reactions(bench, b, most / 2 - plain);
      growths.submessages(bench, c, most / 2 - plain + over);
      const { realm } = bench.realm.view;
      fill(bench.realm, "realm", [["realm", { ...realm, settings: { message_retention_days: 1 } }]]);
      const later = bench.crash(t, { clock: new ManualClock(startedAt + dayMs + 1) });
      await later.idle();
      t.strictSame(pieces(later), over === 0 ? [[a], [b, c], [d]] : [[a], [b], [c, d]]);
      checkClean(t, later);
    }
  });
}
