/**
 * Large moves, and what other users do between their slices (architecture, Moves; M7): a move does what was decided
 * when it was requested.
 */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { auditRealm } from "../support/audit.ts";
import { editCommand } from "../support/message-changes.ts";
import { plainChannel } from "../support/plain-channel.ts";
import { fill } from "../support/rows.ts";
import {
  answerOf,
  codeOf,
  commands,
  createUsers,
  generalId,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import { crashesToAnswer } from "../support/turns.ts";

const realm = { actor: "realm" } as const;

function idsOf({ realm: { view } }: OpenRealm, channelId: number, topic: string): number[] {
  const id = view.row("topicNames", [channelId, topic])?.id ?? 0;
  return view.keys("conversationMessages", { start: [id], end: [id + 1], limit: 10_000 }).map(([, each]) => each);
}

t.test("[M7, D18] a user who moves a topic out of protected history and leaves has moved all of it", async (t) => {
  const created = await openNewRealm(t);
  const [other = 0] = await createUsers(created, 1);
  const params = { ...plainChannel("secret", [ownerId, other]), isPrivate: true, isHistoryPublic: false };
  const secret = answerOf(await created.ask(command(realm, "channel.create", params, ownerId)))["id"] as number;
  const count = 2 * limits.move_batch_messages + 1;
  const posts = Array.from({ length: count }, (_, index) =>
    created.ask(commands.post("old", `m${index}`, ownerId, secret)),
  );
  const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
  await created.idle();
  const bench = created.crash(t, { clock: new SlowClock(startedAt) });
  const wish = { channelId: generalId, topic: "new", propagateMode: "change_all" } as const;
  const moved = bench.ask(editCommand(ids[0] ?? 0, wish));
  const left = bench.ask(commands.unsubscribe(["secret"], null));
  t.equal(codeOf(await moved), "ok");
  t.equal(codeOf(await left), "ok");
  await bench.idle();
  t.strictSame(idsOf(bench, generalId, "new").length, ids.length);
  t.strictSame(idsOf(bench, secret, "old"), []);
  t.strictSame(auditRealm(bench.lmdb), []);
});

t.test("policies follow a topic that is renamed twice in quick succession to its last name", async (t) => {
  const created = await openNewRealm(t);
  const people = await createUsers(created, limits.user_topics_per_command_max + 10);
  const [id = 0] = [answerOf(await created.ask(commands.post("a", "m")))["id"] as number];
  for (const userId of people) {
    const params = { channel: generalId, topic: "a", policy: 3 as const, unknown: { kind: "refused" } as never };
    answerOf(await created.ask(command({ actor: "user", id: userId }, "user-topics.set", params, userId)));
  }
  await created.idle();
  for (const last of ["c", "a"]) {
    const bench = created.crash(t, { clock: new SlowClock(startedAt) });
    const rename = (topic: string) => bench.ask(editCommand(id, { topic, propagateMode: "change_all" }));
    const [first, second] = [rename("b"), rename(last)];
    const { images, result } = await crashesToAnswer(t, bench, second);
    t.strictSame([await first, result].map(codeOf), ["ok", "ok"]);
    t.ok(images.length > 3, "it takes several turns");
    for (const folder of [...images, bench.folder]) {
      const opened = folder === bench.folder ? bench : new OpenRealm(t, { folder });
      await opened.idle();
      const name = rowsOf(opened.lmdb, "conversations").find(({ channelId }) => channelId === generalId)?.topic;
      const names = rowsOf(opened.lmdb, "userTopics").map(({ topic }) => topic);
      t.strictSame([...new Set(names)], [name], "also after a crash at any turn");
      // The author follows the topic, too.
      t.equal(names.length, people.length + 1);
    }
    t.equal(rowsOf(bench.lmdb, "topicNames").length, 1);
  }
});

t.test(
  "[M7] while policies follow a renamed topic, posts elsewhere are answered; what concerns the topic waits, and all behind it",
  async (t) => {
    const created = await openNewRealm(t);
    const people = await createUsers(created, 8 * limits.user_topics_per_command_max);
    const [author = 0, other = 0] = people;
    const { id } = answerOf(await created.ask(commands.post("old", "m")));
    const policy = { topic: "old", visibilityPolicy: 3, changedAt: 0 } as const;
    fill(
      created.realm,
      "userTopics",
      people.map((userId) => [[userId, generalId, "old"], policy] as const),
    );
    fill(
      created.realm,
      "topicPolicies",
      people.map((userId) => [[generalId, "old", userId], { visibilityPolicy: 3 }] as const),
    );
    await created.idle();
    const bench = created.crash(t, { clock: new SlowClock(startedAt) });
    const { view } = bench.realm;
    const left = () =>
      view.keys("topicPolicies", { start: [generalId, "old"], end: [generalId, "p"], limit: 9999 }).length;
    /** The order of the answers, and how many policies were still to be moved by then. */
    const answers: [name: string, left: number][] = [];
    const ask = (name: string, request: Command) => {
      void bench.ask(request).then((reply) => answers.push([`${name}: ${codeOf(reply)}`, left()]));
    };
    ask("rename", editCommand(id as number, { topic: "new", propagateMode: "change_all" }));
    ask("post elsewhere", commands.post("elsewhere", "m", author));
    ask("direct message", commands.direct([author, other], "m", author));
    ask("mark", command({ actor: "user", id: author }, "read-state.mark-all", {}, author));
    ask("typing", commands.typing("start", "new", author));
    ask("post to the topic", commands.post("NEW", "m", other));
    ask("post behind it", commands.post("elsewhere", "m", other));
    await bench.idle();
    const passed = ["rename", "post elsewhere", "direct message", "mark", "typing"];
    const found = answers.map(([name]) => name);
    t.strictSame(
      found,
      [...passed, "post to the topic", "post behind it"].map((name) => `${name}: ok`),
    );
    const waited = answers.map(([, count]) => count > 0);
    t.ok(waited[0] && waited[1], "policies were still to be moved");
    t.strictSame(waited.slice(-2), [false, false]);
    t.strictSame([auditRealm(bench.lmdb), bench.bugs], [[], []]);
  },
);
