/** A large change of a user group's members that a crash interrupts goes on where it was, and is told of once (M3, E1). */
import t from "tap";
import { abandonmentOf } from "../../actors/abandonment.ts";
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import {
  answerOf,
  makePeople,
  OpenRealm,
  openFounded,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import { crashesToAnswer } from "../support/turns.ts";

const to = { actor: "realm" } as const;

t.test("[M3] after a crash at any turn, all of a large change is done, once", async (t) => {
  const founded = await openFounded(t);
  const people = await makePeople(founded, 2 * limits.group_members_per_command_max + 1);
  const creation = { name: "crew", description: "", memberIds: [], subgroupIds: [], settings: {} };
  const groupId = answerOf(await founded.ask(command(to, "group.create", creation, ownerId)))["group_id"] as number;
  const slow = founded.crash(t, { clock: new SlowClock(startedAt) });
  const change = { groupId, addIds: people, removeIds: [], addSubgroupIds: [], removeSubgroupIds: [] };
  const asked = slow.ask(command(to, "group.change-members", change, ownerId));
  const { images, result } = await crashesToAnswer(t, slow, asked);
  t.match(result, { kind: "ok", answer: {} });
  let interrupted = 0;
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    const before = opened.realm.view.groups.membersOf(groupId).size;
    if (before > 0 && before < people.length) interrupted++;
    await opened.idle();
    const events = rowsOf(opened.environment, "events").filter((event) => event.body["op"] === "add_members");
    const told = events
      .filter((event) => event.body["group_id"] === groupId)
      .flatMap((event) => event.body["user_ids"]);
    t.strictSame(told, before === 0 && told.length === 0 ? [] : people, "told of once, in order");
    t.strictSame(
      [...opened.realm.view.groups.membersOf(groupId)].sort((a, b) => a - b),
      told,
    );
    t.strictSame(opened.bugs, []);
  }
  t.ok(interrupted > 0, "some crashes fell between two parts");
});

t.test("[M6] whoever waits for a change of which a part dies is answered then, not when time is over", async (t) => {
  const waiting = { ticket: 5, boot: 2, answer: {} };
  const dead = command(to, "group-members.continue", { groupId: 1, steps: [], waiting }, null);
  t.match(abandonmentOf(dead), { tickets: [5], boot: 2, tell: null });
});
