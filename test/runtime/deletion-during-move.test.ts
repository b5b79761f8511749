/** A topic deletion that waits for a move of the topic's messages: states of the two actors, deadlines and restarts. */
import t from "tap";
import { actorKinds } from "../../actors/kinds.ts";
import type { Command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { auditRealm } from "../support/audit.ts";
import { editCommand } from "../support/message-changes.ts";
import {
  answerOf,
  commands,
  generalId,
  type OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";
import type { Teardown } from "../support/server.ts";

const complete: Reply = { kind: "ok", answer: { complete: true } };
const incomplete: Reply = { kind: "ok", answer: { complete: false } };
const deletion = { actor: "topic-deletion", channelId: generalId, topic: "old" } as const;

/** A realm in which a move out of the topic "old" is running, whose turns take one command each. */
async function moving(t: Teardown, batches = 3) {
  const created = await openNewRealm(t);
  const posts = Array.from({ length: batches * limits.move_batch_messages }, (_, index) =>
    created.ask(commands.post("old", `m${index}`)),
  );
  const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
  const to = answerOf(await created.ask(commands.createChannel("to", [ownerId])))["id"] as number;
  await created.idle();
  const bench = created.crash(t, { clock: new SlowClock(startedAt) });
  // The first message stays.
  const moved = bench.ask(editCommand(ids[1] ?? 0, { propagateMode: "change_later", channelId: to }));
  await turn();
  return { bench, ids, moved };
}

function conversationOf(bench: OpenRealm, topic: string) {
  const { view } = bench.realm;
  return view.row("conversations", view.row("topicNames", [generalId, topic])?.id ?? 0);
}

function stateOf(bench: OpenRealm): string {
  return actorKinds["topic-deletion"].load(deletion, bench.realm.view)?.state ?? "idle";
}

/** Ids of the messages in the topic "old". */
function left(bench: OpenRealm): number[] {
  const id = conversationOf(bench, "old")?.id ?? 0;
  return bench.realm.view
    .keys("conversationMessages", { start: [id], end: [id + 1], limit: 10_000 })
    .map(([, messageId]) => messageId);
}

t.test("[spec 4.13] a deletion waits in its own state until the move has ended, and takes no turns", async (t) => {
  const { bench, ids, moved } = await moving(t);
  t.equal(conversationOf(bench, "old")?.state, "moving");
  const deleted = bench.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER));
  while (stateOf(bench) !== "waiting-for-move") await turn();
  t.notOk(
    rowsOf(bench.lmdb, "mailbox").some((row) => (row.command as Command).to.actor === "topic-deletion"),
    "nothing wakes it but the end of the move",
  );
  t.strictSame(await moved, { kind: "ok", answer: { detached_uploads: [] } });
  t.strictSame(await deleted, complete);
  await bench.idle();
  t.strictSame(left(bench), []);
  t.equal(stateOf(bench), "idle");
  for (const id of ids.slice(1)) t.ok(bench.realm.view.row("messages", id), "a message that moved survives");
  t.equal(bench.realm.view.row("messages", ids[0] ?? 0), undefined, "the message that stayed is deleted");
  t.strictSame(auditRealm(bench.lmdb), []);
  t.strictSame(bench.bugs, []);
});

t.test("[spec 4.13] a request whose deadline passes during the move answers complete: false", async (t) => {
  const { bench, ids, moved } = await moving(t, 8);
  const impatient = bench.ask(commands.deleteTopic("old", startedAt + 1000));
  const patient = bench.ask(commands.deleteTopic("old", startedAt + 3000));
  while (stateOf(bench) !== "waiting-for-move") await turn();
  await turn();
  bench.clock.advance(1000);
  t.strictSame(await impatient, incomplete);
  t.equal(stateOf(bench), "waiting-for-move", "the other request still waits");
  bench.clock.advance(2000);
  t.strictSame(await patient, incomplete);
  t.equal(stateOf(bench), "parked");
  t.equal(conversationOf(bench, "old")?.state, "moving", "all of this happened during the move");
  await moved;
  await bench.idle();
  t.strictSame(left(bench), ids.slice(0, 1), "a parked deletion is not resumed by the end of the move");
  t.strictSame(await bench.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER)), complete, "a repeat resumes it");
  t.strictSame(bench.bugs, []);
});

t.test("[M8] after a crash a deletion that waited is parked by the end of the move", async (t) => {
  const { bench, ids } = await moving(t);
  void bench.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER));
  while (stateOf(bench) !== "waiting-for-move") await turn();
  const opened = bench.crash(t);
  t.equal(stateOf(opened), "waiting-for-move");
  await opened.idle();
  t.equal(stateOf(opened), "parked", "no request is waiting any more");
  t.strictSame(left(opened), ids.slice(0, 1));
  t.strictSame(await opened.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER)), complete);
  t.strictSame(opened.bugs, []);
});
