/** Bounds on the parameters of a queue (S3, schemas/limits.ts): accepted at the bound, rejected one above it. */
import t from "tap";
import { eventTypes } from "../../schemas/events.ts";
import { limits } from "../../schemas/limits.ts";
import { clientCapabilities } from "../../schemas/queues.ts";
import { SharedTexts } from "../../src/edge/realtime/socket-server.ts";
import { outcome, refusal } from "../support/client.ts";
import { messageIds, queueOf, sayMany } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

const queueCount = () => server.running.host.realmOf("").view.queuesOf(owner.userId).size;

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

t.test("[S3] queue_narrow_code_points_max: a queue's narrow is no longer in all", async (t) => {
  const most = limits.queue_narrow_code_points_max;
  const narrowOf = (size: number) => {
    const operand = "\u{1f600}".repeat(size / 2 - "topic".length);
    return {
      event_types: ["message"],
      narrow: [
        ["topic", operand],
        ["topic", operand],
      ],
    };
  };
  t.equal((await owner.post("/register", narrowOf(most))).status, 200);
  const queues = queueCount();
  const over = await owner.post("/register", narrowOf(most + 2));
  t.strictSame(outcome(over), refusal(`narrow is too long (limit: ${most} characters)`));
  t.equal(queueCount(), queues, "no queue was made");
});

t.test("[S3] a queue keeps only the capabilities and event types that the server knows", async (t) => {
  const known = Object.fromEntries(clientCapabilities.map((name) => [name, true]));
  const unknown = Object.fromEntries(times(1000, (index) => [`capability ${index}`.padEnd(200, "x"), true]));
  const types = [...times(40, (index) => `type ${index}`.padEnd(60, "x")), "message", "message", "typing"];
  const queue = await owner.openQueue(types, {
    client_capabilities: { ...unknown, ...known, archived_channels: false },
  });
  const options = queueOf(server, queue)?.options;
  t.strictSame(
    options?.capabilities,
    clientCapabilities.filter((name) => name !== "archived_channels"),
  );
  t.strictSame([...(options?.eventTypes ?? [])].sort(), ["message", "typing"]);
  const nothing = await owner.openQueue(["moon"]);
  await sayMany(owner, "general", "unheard", ["1"]);
  t.strictSame(await owner.readNow(nothing), [], "no type that the server has means no events");
  const every = await owner.register({ event_types: [...eventTypes] });
  t.ok(every["queue_id"], "all types of the server at once fit into the bound");
});

t.test("[S3] replay_events_per_answer_max: a poll returns that many events, the next the rest", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const ids = await sayMany(
    owner,
    "general",
    "many",
    times(limits.replay_events_per_answer_max + 1, (index) => String(index)),
  );
  const first = await owner.readNow(queue);
  t.equal(first.length, limits.replay_events_per_answer_max);
  const rest = await owner.readNow(queue, first.at(-1).id);
  t.strictSame(messageIds([...first, ...rest]), ids);
});

t.test("[S3] socket_texts_shared_max: at most that many texts are cached, the least recently used goes", async (t) => {
  const texts = new SharedTexts(limits.socket_texts_shared_max);
  for (const index of times(limits.socket_texts_shared_max, (at) => at)) texts.share(`program ${index}`);
  t.equal(texts.size, limits.socket_texts_shared_max);
  t.equal(texts.share("one more"), "one more");
  t.equal(texts.size, limits.socket_texts_shared_max);
});
