/** Bounds on the parameters of a queue (S3, schemas/limits.ts): accepted at the bound, rejected one above it. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { SharedTexts } from "../../src/realtime/shared-texts.ts";
import { messageIds, openQueue, readNow, sayMany } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

const times = <V>(count: number, value: (index: number) => V) =>
  Array.from({ length: count }, (_, index) => value(index));

t.test("[S3] event_types_max: a queue names at most that many types", async (t) => {
  for (const name of ["event_types", "fetch_event_types"]) {
    const ask = (count: number) => owner.post("/register", { [name]: times(count, (index) => `type${index}`) });
    t.equal((await ask(limits.event_types_max)).status, 200, name);
    const { status, body } = await ask(limits.event_types_max + 1);
    t.match({ status, body }, { status: 400, body: { result: "error", code: "BAD_REQUEST" } }, name);
  }
});

t.test("[S3] queue_narrow_terms_max: a queue's narrow has at most that many terms", async (t) => {
  const ask = (count: number) =>
    owner.post("/register", { event_types: ["message"], narrow: times(count, () => ["channel", "general"]) });
  t.equal((await ask(limits.queue_narrow_terms_max)).status, 200);
  const { status, body } = await ask(limits.queue_narrow_terms_max + 1);
  t.match({ status, body }, { status: 400, body: { result: "error", code: "BAD_REQUEST" } });
});

t.test(
  "[S3] replay_events_per_answer_max: a poll returns at most that many events, the next poll the rest",
  async (t) => {
    const queue = await openQueue(owner, ["message"]);
    const ids = await sayMany(
      owner,
      "general",
      "many",
      times(limits.replay_events_per_answer_max + 1, (index) => String(index)),
    );
    const first = await readNow(owner, queue);
    t.equal(first.length, limits.replay_events_per_answer_max);
    const rest = await readNow(owner, queue, first.at(-1).id);
    t.strictSame(messageIds([...first, ...rest]), ids);
  },
);

t.test(
  "[S3] socket_texts_shared_max: at most that many texts are cached, and the least recently used is evicted",
  (t) => {
    const texts = new SharedTexts(limits.socket_texts_shared_max);
    for (const index of times(limits.socket_texts_shared_max, (at) => at)) texts.share(`program ${index}`);
    t.equal(texts.size, limits.socket_texts_shared_max);
    t.equal(texts.share("one more"), "one more");
    t.equal(texts.size, limits.socket_texts_shared_max);
    t.end();
  },
);
