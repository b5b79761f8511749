/**
 * A command that continues in the next turn (a move in a large channel that writes users' read state first): no other
 * command is decided in between, whatever waits, not even after a crash (M3, M7).
 */
import t from "tap";
import type { Command } from "../../actors/protocol/decision.ts";
import { collectUnread } from "../../domain/unread.ts";
import { limits } from "../../schemas/limits.ts";
import { auditRealm } from "../support/audit.ts";
import { editCommand } from "../support/message-changes.ts";
import {
  answerOf,
  commands,
  crashImage,
  createUsers,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";

/** Messages of the batch; that many users need several commands. */
const count = 100;
const peopleCount = (4 * limits.moved_read_states_per_command_max) / count;

t.test(
  "[M3, M7] a command that continues in the next turn runs before all waiting commands, also after a crash at any turn",
  async (t) => {
    const created = await openNewRealm(t);
    const people = await createUsers(created, peopleCount);
    const [first = 0, last = 0] = [people[0], people.at(-1)];
    const channel = async (name: string) =>
      answerOf(await created.ask(commands.createChannel(name, [ownerId, ...people])))["id"] as number;
    const [from, to] = [await channel("from"), await channel("to")];
    const posts = Array.from({ length: count }, (_, n) => created.ask(commands.post("old", `m${n}`, ownerId, from)));
    const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
    await created.idle();
    const bench = created.crash(t, { clock: new SlowClock(startedAt) });
    const moving = bench.ask(editCommand(ids[0] ?? 0, { propagateMode: "change_all", channelId: to }));
    const images: string[] = [];
    while (bench.realm.view.row("channelMessages", [from, ids[0] ?? 0]) !== undefined) {
      await turn();
      images.push(crashImage(t, bench.folder));
      // From the next turn on, the server's own commands are in the mailbox.
      const leaving = [first, last].map((id) => commands.unsubscribe(["from"], null, id));
      if (images.length === 2) for (const one of leaving) bench.realm.dispatcher.send(one);
      t.ok(
        bench.realm.view.subscriptions.isSubscribed(last, from),
        "an unsubscription waits until the messages have moved",
      );
    }
    t.ok(images.length > 4, "it took several turns");
    t.strictSame(await moving, { kind: "ok", answer: { detached_uploads: [] } });
    await bench.idle();
    let halfway = 0;
    for (const folder of images) {
      const opened = new OpenRealm(t, { folder });
      const waiting = rowsOf(opened.lmdb, "mailbox").map(({ command }) => (command as Command).type);
      if (waiting.includes("subscriptions.remove") && waiting[0] === "messages.import") halfway++;
      await opened.idle();
      for (const id of [first, last]) t.strictSame(unreadOf(opened, id), ids);
      t.strictSame([auditRealm(opened.lmdb), opened.bugs], [[], []]);
      t.equal(opened.lmdb.count("mailbox"), 0);
    }
    t.ok(halfway > 1, "some crashes found both in the mailbox");
  },
);

function unreadOf({ realm }: OpenRealm, userId: number): number[] {
  return collectUnread(realm.view, userId).messages.map(({ id }) => id);
}
