/**
 * A large change of a user group's members that a crash interrupts continues where it stopped and is announced once
 * (M3, E1).
 */
import t from "tap";
import { abandonmentOf } from "../../actors/abandonment.ts";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { bodiesOf } from "../support/logged-events.ts";
import {
  answerOf,
  createUsers,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import { crashesToAnswer } from "../support/turns.ts";

const to = { actor: "realm" } as const;

t.test("[M3] after a crash at any turn, a large membership change is completed exactly once", async (t) => {
  const created = await openNewRealm(t);
  const people = await createUsers(created, 2 * limits.group_members_per_command_max + 1);
  const creation = { name: "crew", description: "", memberIds: [], subgroupIds: [], settings: {} };
  const groupId = answerOf(await created.ask(command(to, "group.create", creation, ownerId)))["group_id"] as number;
  const slow = created.crash(t, { clock: new SlowClock(startedAt) });
  const change = { groupId, addIds: people, removeIds: [], addSubgroupIds: [], removeSubgroupIds: [] };
  const pending = slow.ask(command(to, "group.change-members", change, ownerId));
  const { images, result } = await crashesToAnswer(t, slow, pending);
  t.match(result, { kind: "ok", answer: {} });
  let interrupted = 0;
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    const before = opened.realm.view.groups.membersOf(groupId).size;
    if (before > 0 && before < people.length) interrupted++;
    await opened.idle();
    const received = bodiesOf(rowsOf(opened.lmdb, "events"), "user_group").flatMap((body) =>
      body.op === "add_members" && body.group_id === groupId ? body.user_ids : [],
    );
    t.strictSame(received, before === 0 && received.length === 0 ? [] : people, "announced once, in order");
    const found = [...opened.realm.view.groups.membersOf(groupId)].sort((a, b) => a - b);
    t.strictSame(found, received);
    t.strictSame(opened.bugs, []);
  }
  t.ok(interrupted > 0, "some crashes fell between two parts");
});

t.test("[M6] a request whose membership change fails in one part is answered then, not at its timeout", async (t) => {
  const waiting = { ticket: 5, boot: 2, answer: {} };
  const dead = command(to, "group-members.continue", { groupId: 1, steps: [], waiting }, null);
  t.match(abandonmentOf(dead), { tickets: [5], boot: 2, notification: null });
});
