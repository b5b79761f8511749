/** Requests that wait for a topic's deletion while something else happens to the topic (spec 4.13; D29). */
import t from "tap";
import { editCommand } from "../support/message-changes.ts";
import { answerOf, commands, openNewRealm, startedAt } from "../support/runtime.ts";

t.test("[spec 4.13] every waiting request is answered if the topic is renamed before the next request", async (t) => {
  const bench = await openNewRealm(t);
  const { id } = answerOf(await bench.ask(commands.post("old", "m")));
  const deadline = startedAt + 50_000;
  const answered: string[] = [];
  const note = (name: string) => (answer: unknown) => answered.push(`${name}: ${JSON.stringify(answer)}`);
  // One turn decides all three, in this order; the first request's own next step follows them.
  void bench.ask(commands.deleteTopic("old", deadline)).then(note("first"));
  void bench.ask(editCommand(id as number, { topic: "new", propagateMode: "change_all" })).then(answerOf);
  void bench.ask(commands.deleteTopic("old", deadline)).then(note("second"));
  await bench.idle();
  const complete = JSON.stringify({ kind: "ok", answer: { complete: true } });
  t.strictSame(answered.toSorted(), [`first: ${complete}`, `second: ${complete}`]);
  t.strictSame(bench.bugs, []);
  const named = bench.realm.view.row("topicNames", [1, "new"]);
  t.ok(named !== undefined && bench.realm.view.row("messages", id as number), "what was renamed stays");
});
