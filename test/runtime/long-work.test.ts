/**
 * Background work and requests (spec 4.13: a deletion in progress delays nobody): while requests arrive, a turn does
 * one small piece of it; when none has arrived for a while, as many large pieces as fit.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { answerOf, commands, type OpenRealm, openNewRealm, startedAt, turn } from "../support/runtime.ts";

const small = limits.topic_deletion_batch_messages_busy;
const large = limits.topic_deletion_batch_messages;
const deadline = startedAt + 50_000;

/** Each reading of the time advances it by a millisecond, so a turn's budget is a few commands. */
class SteadyClock extends ManualClock {
  #looks = 0;

  override monotonic(): number {
    this.#looks++;
    return super.monotonic() + this.#looks;
  }
}

async function fill(bench: OpenRealm, topic: string, count: number): Promise<void> {
  const atOnce = limits.queued_commands_max / 4;
  for (let from = 0; from < count; from += atOnce) {
    const posts = Array.from({ length: Math.min(atOnce, count - from) }, () => bench.ask(commands.post(topic, "m")));
    for (const posted of await Promise.all(posts)) answerOf(posted);
  }
  await bench.idle();
}

/** For each deletion that was published since: how many messages it removed. */
function deletionSizes(bench: OpenRealm, from: number): number[] {
  const records = bench.recorder.published.slice(from).map(({ record }) => record);
  return bodiesOf(records, "delete_message").map(({ message_ids: ids }) => ids.length);
}

/** For each turn until the requests are answered: how many messages each of its deletions removed. */
async function backgroundPerTurn(bench: OpenRealm, answers: readonly Promise<unknown>[]): Promise<number[][]> {
  const turns: number[][] = [];
  let isDone = false;
  const all = Promise.all(answers).then(() => {
    isDone = true;
  });
  while (!isDone) {
    const from = bench.recorder.published.length;
    await turn();
    turns.push(deletionSizes(bench, from));
  }
  await all;
  return turns.filter((pieces) => pieces.length > 0);
}

t.test("[spec 4.13, D73] while requests arrive, a turn does one small piece of all deletions in turn", async (t) => {
  const bench = await openNewRealm(t);
  const topics = ["one", "two", "three"];
  for (const topic of topics) await fill(bench, topic, 3 * small);
  const order: string[] = [];
  const answers = topics.map((topic) =>
    bench.ask(commands.deleteTopic(topic, deadline)).then((result) => order.push(String(answerOf(result)["complete"]))),
  );
  const posted = bench.ask(commands.post("four", "x")).then(() => order.push("post"));
  const turns = await backgroundPerTurn(bench, [...answers, posted]);
  t.strictSame(
    turns,
    Array.from({ length: 3 * topics.length }, () => [small]),
  );
  t.strictSame(order, ["post", "true", "true", "true"], "a post does not wait for one piece of each");
  t.equal(bench.lmdb.count("messages"), 1);
});

t.test("[spec 4.13, D73] when no request has arrived for a while, pieces are large until one does", async (t) => {
  const created = await openNewRealm(t);
  // Small pieces first, then some turns of large ones.
  await fill(created, "long", limits.idle_after_turns * small + 20 * large);
  const bench = created.crash(t, { clock: new SteadyClock(startedAt) });
  const deletion = bench.ask(commands.deleteTopic("long", deadline));
  const posts: Promise<unknown>[] = [];
  const untilIdle = async () => {
    for (let turns = 0; turns <= limits.idle_after_turns; turns++) await turn();
  };
  await untilIdle();
  const from = bench.recorder.published.length;
  await turn();
  await turn();
  posts.push(bench.ask(commands.post("other", "x")));
  const sizes = () => deletionSizes(bench, from);
  t.ok(sizes().length >= 2, "at least one per turn");
  t.ok(
    sizes().every((size) => size === large),
    sizes().join(),
  );
  // A request in every turn: a few turns run no piece, then one runs a small piece.
  const taken: number[][] = [];
  for (let turns = 0; turns <= limits.turns_without_background_max; turns++) {
    const before = sizes().length;
    await turn();
    taken.push(sizes().slice(before));
    posts.push(bench.ask(commands.post("other", "x")));
  }
  t.strictSame(taken, [...Array.from({ length: limits.turns_without_background_max }, () => []), [small]]);
  await Promise.all(posts);
  t.strictSame(await deletion, { kind: "ok", answer: { complete: true } });
  t.equal(bench.lmdb.count("messages"), posts.length);
});
