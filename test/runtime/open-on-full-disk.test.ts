/** A realm that is opened while the disk is full serves reads and writes nothing (M5), and loses no timer (M8). */
import t from "tap";
import { ManualClock } from "../support/manual-clock.ts";
import { manualDurability } from "../support/manual-durability.ts";
import { hostOfTwo } from "../support/realm-host.ts";
import { until } from "../support/realtime.ts";
import { codeOf, commands, crashImage, openNewRealm, startedAt } from "../support/runtime.ts";

t.test("[M5] a realm that is opened on a full disk writes nothing until there is space, its hint first", async (t) => {
  const clock = new ManualClock(startedAt);
  const { journal, durability } = await manualDurability(clock);
  const folder = async () => {
    const created = await openNewRealm(t);
    return crashImage(t, created.folder);
  };
  let isFull = false;
  const folders = [await folder(), await folder()] as const;
  const dueHint = startedAt + 90_000;
  const acceptsWrites = () => !isFull;
  const takesHints = () => !isFull;
  const { host, root, close } = hostOfTwo(t, { clock, folders, dueHint, acceptsWrites, takesHints, durability });
  const hint = () => root.realms().find(({ id }) => id === 2)?.dueHint;
  const turns = () => journal.records.filter(({ realmId }) => realmId === 2).length;

  isFull = true;
  const second = host.realmOf("two.example.com");
  t.ok([...second.view.users.all()].length > 0, "it can be read");
  const refused = second.dispatcher.ask(commands.post("a", "refused"));
  t.equal(codeOf(await refused), "STORE_REFUSES_WRITES");
  t.strictSame([turns(), hint()], [0, dueHint]);

  isFull = false;
  const accepted = second.dispatcher.ask(commands.post("a", "accepted"));
  t.equal(hint(), 0, "a start after a crash opens it");
  await until(() => turns() > 0);
  journal.flush();
  t.equal(codeOf(await accepted), "ok");
  const closed = close();
  await until(() => {
    journal.flush();
    clock.advance(1000);
    return durability.memoryBytes === 0;
  });
  await closed;
  await durability.close();
});
