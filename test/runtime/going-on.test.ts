/**
 * A command that goes on in the next turn (a move in a large channel, whose people's read state goes ahead): nothing else is
 * decided in between, whatever waits, and after a crash neither (M3, M7).
 */
import t from "tap";
import type { Command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { collectUnread } from "../../src/domain/unread.ts";
import { auditRealm } from "../support/audit.ts";
import { editCommand } from "../support/message-changes.ts";
import {
  answerOf,
  commands,
  crashImage,
  makePeople,
  OpenRealm,
  openFounded,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";

/** Messages of the batch; of people, so many make several commands. */
const count = 100;
const peopleCount = (4 * limits.carried_read_states_per_command_max) / count;

t.test("[M3, M7] the rest of a command comes before all that waits, after a crash at any turn, too", async (t) => {
  const founded = await openFounded(t);
  const people = await makePeople(founded, peopleCount);
  const [first = 0, last = 0] = [people[0], people.at(-1)];
  const channel = async (name: string) =>
    answerOf(await founded.ask(commands.createChannel(name, [ownerId, ...people])))["id"] as number;
  const [from, to] = [await channel("from"), await channel("to")];
  const posts = Array.from({ length: count }, (_, n) => founded.ask(commands.post("old", `m${n}`, ownerId, from)));
  const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
  await founded.idle();
  const bench = founded.crash(t, { clock: new SlowClock(startedAt) });
  const moving = bench.ask(editCommand(ids[0] ?? 0, { propagateMode: "change_all", channelId: to }));
  const images: string[] = [];
  while (bench.realm.view.row("channelMessages", [from, ids[0] ?? 0]) !== undefined) {
    await turn();
    images.push(crashImage(t, bench.folder));
    // The server's own commands stand in the mailbox from the next turn on.
    const leaving = [first, last].map((id) => commands.unsubscribe(["from"], null, id));
    if (images.length === 2) for (const one of leaving) bench.realm.dispatcher.tell(one);
    t.ok(bench.realm.view.subscriptions.isSubscribed(last, from), "who leaves waits until the messages have gone");
  }
  t.ok(images.length > 4, "it took some turns");
  t.strictSame(await moving, { kind: "ok", answer: { detached_uploads: [] } });
  await bench.idle();
  let halfway = 0;
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    const waiting = rowsOf(opened.environment, "mailbox").map(({ command }) => (command as Command).type);
    if (waiting.includes("subscriptions.remove") && waiting[0] === "messages.take-in") halfway++;
    await opened.idle();
    for (const id of [first, last]) t.strictSame(unreadOf(opened, id), ids);
    t.strictSame([auditRealm(opened.environment), opened.bugs], [[], []]);
    t.equal(opened.environment.count("mailbox"), 0);
  }
  t.ok(halfway > 1, "some crashes found both in the mailbox");
});

function unreadOf({ realm }: OpenRealm, userId: number): number[] {
  return collectUnread(realm.view, userId).messages.map(({ id }) => id);
}
