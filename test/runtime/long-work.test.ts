/**
 * Long work beside requests (issue, Topic deletion: a deletion in progress delays nobody): while people ask, a turn takes one small
 * piece of it; when nobody has asked for a while, as many large ones as fit.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { answerOf, commands, type OpenRealm, openFounded, startedAt, turn } from "../support/runtime.ts";

const small = limits.topic_deletion_batch_messages_busy;
const large = limits.topic_deletion_batch_messages;
const deadline = startedAt + 50_000;

/** A look at the time takes a millisecond: a turn's budget is a few commands. */
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

/** For each turn until the requests are answered: how many messages each of its deletions took. */
async function piecesPerTurn(bench: OpenRealm, answers: readonly Promise<unknown>[]): Promise<number[][]> {
  const turns: number[][] = [];
  let isDone = false;
  const all = Promise.all(answers).then(() => {
    isDone = true;
  });
  while (!isDone) {
    const from = bench.recorder.published.length;
    await turn();
    const deleted = bench.recorder.published.slice(from).filter(({ record }) => record.type === "delete_message");
    turns.push(deleted.map(({ record }) => (record.body["message_ids"] as number[]).length));
  }
  await all;
  return turns.filter((pieces) => pieces.length > 0);
}

t.test(
  "[issue, Topic deletion] while others ask, a turn takes one small piece of all deletions, in their turn",
  async (t) => {
    const bench = await openFounded(t);
    const topics = ["one", "two", "three"];
    for (const topic of topics) await fill(bench, topic, 3 * small);
    const order: string[] = [];
    const answers = topics.map((topic) =>
      bench
        .ask(commands.deleteTopic(topic, deadline))
        .then((result) => order.push(String(answerOf(result)["complete"]))),
    );
    const posted = bench.ask(commands.post("four", "x")).then(() => order.push("post"));
    const turns = await piecesPerTurn(bench, [...answers, posted]);
    t.strictSame(
      turns,
      Array.from({ length: 3 * topics.length }, () => [small]),
    );
    t.strictSame(order, ["post", "true", "true", "true"], "a post does not wait for one piece of each");
    t.equal(bench.environment.count("messages"), 1);
  },
);

t.test(
  "[issue, Topic deletion] when nobody has asked for a while, pieces are large, until somebody asks",
  async (t) => {
    const founded = await openFounded(t);
    // Small pieces first, then some turns of large ones.
    await fill(founded, "long", limits.quiet_after_turns * small + 20 * large);
    const bench = founded.crash(t, { clock: new SteadyClock(startedAt) });
    const deletion = bench.ask(commands.deleteTopic("long", deadline));
    const posts: Promise<unknown>[] = [];
    const untilQuiet = async () => {
      for (let turns = 0; turns <= limits.quiet_after_turns; turns++) await turn();
    };
    await untilQuiet();
    const from = bench.recorder.published.length;
    await turn();
    await turn();
    posts.push(bench.ask(commands.post("other", "x")));
    const sizes = () =>
      bench.recorder.published
        .slice(from)
        .filter(({ record }) => record.type === "delete_message")
        .map(({ record }) => (record.body["message_ids"] as number[]).length);
    t.ok(sizes().length >= 2, "at least one a turn");
    t.ok(
      sizes().every((size) => size === large),
      sizes().join(),
    );
    // A request in every turn: some turns without, then one small piece.
    const taken: number[][] = [];
    for (let turns = 0; turns <= limits.turns_without_pieces_max; turns++) {
      const before = sizes().length;
      await turn();
      taken.push(sizes().slice(before));
      posts.push(bench.ask(commands.post("other", "x")));
    }
    t.strictSame(taken, [...Array.from({ length: limits.turns_without_pieces_max }, () => []), [small]]);
    await Promise.all(posts);
    t.strictSame(await deletion, { kind: "ok", answer: { complete: true } });
    t.equal(bench.environment.count("messages"), posts.length);
  },
);
